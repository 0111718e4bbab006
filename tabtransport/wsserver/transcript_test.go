package wsserver_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"tabhub/tabtransport/wsserver/wstest"
)

func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("../../spec/testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+f.Name, func(t *testing.T) {
				wstest.Replay(t, string(f.Data))
			})
		}
	}
}

// TestProtocolDocument replays the examples of the protocol document.
func TestProtocolDocument(t *testing.T) {
	doc, err := os.ReadFile("../../spec/PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```transcript\n(.*?)^```").FindAllSubmatch(doc, -1)
	if len(blocks) == 0 {
		t.Fatal("no examples")
	}
	for _, block := range blocks {
		name, _, _ := strings.Cut(strings.TrimPrefix(string(block[1]), "# "), "\n")
		t.Run(name, func(t *testing.T) { wstest.Replay(t, string(block[1])) })
	}
}
