package clientconf

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Who takes tabhub out again finds the file as it was, byte for byte, also where there
// was no section for servers, and what was changed since stays changed.
func TestBefore(t *testing.T) {
	c := named(t, "claude-desktop")
	for name, text := range map[string]string{
		"nothing":           "",
		"blank":             "\n\n",
		"an empty object":   "{\n}\n",
		"settings":          "{\n  // dark\n  \"theme\": \"dark\"\n}\r\n",
		"an empty section":  `{"mcpServers": {}}`,
		"sections' spaces":  `{"mcpServers": {  }, "theme": "dark"}`,
		"with a mark":       "\ufeff{}\n",
		"with other server": `{"mcpServers": {"a": {"command": "x"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config[1].json")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			added, err := c.Add([]byte(text), "tabhub", entry)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Write(path, []byte(text), added, now); err != nil {
				t.Fatal(err)
			}
			updated, err := c.Add(added, "tabhub", Entry{Command: "/new/tabhub"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Write(path, added, updated, now.Add(time.Second)); err != nil {
				t.Fatal(err)
			}
			removed, err := c.Remove(updated, "tabhub")
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Before(path, "tabhub", removed); string(got) != text {
				t.Errorf("it was %q and is %q", text, got)
			}
			changed := []byte(`{"mcpServers": {}, "since": 1}`)
			if got := c.Before(path, "tabhub", changed); string(got) != string(changed) {
				t.Errorf("what was changed since, %q, became %q", changed, got)
			}
		})
	}
}
