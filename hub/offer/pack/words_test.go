package pack

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the words of the packs in testdata")

// What the owner reads is all that they know of a pack: read the files as its owner would.
func TestWords(t *testing.T) {
	for _, name := range []string{"shop", "flows", "script"} {
		p := parse(t, read(t, name+".json"))
		var b strings.Builder
		for _, line := range p.Words() {
			b.WriteString(line + "\n")
		}
		for _, tool := range p.AllTools() {
			b.WriteString("\n" + tool.Name + "\n")
			for _, args := range []json.RawMessage{nil, example(tool)} {
				b.WriteString("  " + strings.Join(tool.Words(args), "\n  ") + "\n")
			}
		}
		golden := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, _ := os.ReadFile(golden); string(want) != b.String() {
			t.Errorf("%s: the words are\n%s", name, b.String())
		}
	}
}

// example returns arguments of a tool.
func example(t *Tool) json.RawMessage {
	if len(t.Examples) > 0 && t.Examples[0].Input != nil {
		return t.Examples[0].Input
	}
	return json.RawMessage(`{}`)
}
