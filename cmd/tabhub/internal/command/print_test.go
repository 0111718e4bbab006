package command

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestVisible(t *testing.T) {
	var b bytes.Buffer
	n, err := fmt.Fprintf(Visible{W: &b}, "a\x1b[2J\u202eb\n\té")
	if want := `a\x1b[2J\u202eb` + "\n\té"; b.String() != want || n != len("a\x1b[2J\u202eb\n\té") || err != nil {
		t.Errorf("%d, %v: %q, want %q", n, err, b.String(), want)
	}
}

// A command that writes past a.out and a.err lets pages write to the terminal. Those
// that do write for programs.
func TestWhoWritesBytes(t *testing.T) {
	may := []string{"main.go", "run.go", "print.go", "serve.go", "stdio.go", "token.go", "mint.go", "config.go"}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	raw := regexp.MustCompile(`\ba\.(stdout|stderr)\b|\bos\.(Stdout|Stderr)\b|\bfmt\.Print`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := raw.Find(text); found != nil && !slices.Contains(may, name) && !strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s uses %s; write to a.out or a.err", name, found)
		}
	}
}
