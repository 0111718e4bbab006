package clientconf

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tailscale/hujson"
)

var entry = Entry{Command: "/opt/tabhub", Args: []string{"stdio", "--data-dir", "/d"}}

func named(t *testing.T, name string) Client {
	t.Helper()
	c, err := Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAdd(t *testing.T) {
	for _, c := range []struct{ name, client, before, after string }{
		{"no file", "cursor", "", `{
  "mcpServers": {
    "tabhub": {
      "command": "/opt/tabhub",
      "args": ["stdio", "--data-dir", "/d"]
    }
  }
}
`},
		{"other servers and settings", "claude-desktop", `{
    "theme": "dark",
    "mcpServers": {
        "files": {"command": "npx", "env": {"KEY": "secret"}}
    }
}`, `{
    "theme": "dark",
    "mcpServers": {
        "tabhub": {
            "command": "/opt/tabhub",
            "args": ["stdio", "--data-dir", "/d"]
        },
        "files": {"command": "npx", "env": {"KEY": "secret"}}
    }
}`},
		{"comments and a trailing comma", "vscode", "{\n\t// mine\n\t\"inputs\": [1, 2,], // keep\n\t\"servers\": { /* none */ },\n}\n",
			"{\n\t// mine\n\t\"inputs\": [1, 2,], // keep\n\t\"servers\": { /* none */\n\t\t\"tabhub\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"/opt/tabhub\",\n\t\t\t\"args\": [\"stdio\", \"--data-dir\", \"/d\"]\n\t\t}\n\t},\n}\n"},
		{"an older entry with more in it", "cursor", `{"mcpServers": {"tabhub": {"command": "/old", "env": {"A": "1"}, "url": "http://x", "args": [ "stdio" ]}}}`,
			`{"mcpServers": {"tabhub": {"command": "/opt/tabhub", "env": {"A": "1"}, "args": ["stdio", "--data-dir", "/d"]}}}`},
		{"a byte order mark", "cursor", "\xef\xbb\xbf{\"mcpServers\": {\"a\": 1}}", "\xef\xbb\xbf{\"mcpServers\": {\n    \"tabhub\": {\n      \"command\": \"/opt/tabhub\",\n      \"args\": [\"stdio\", \"--data-dir\", \"/d\"]\n    },\"a\": 1}}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := named(t, c.client)
			got, err := client.Add([]byte(c.before), "tabhub", entry)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.after {
				t.Errorf("got\n%s\nwant\n%s", got, c.after)
			}
			again, err := client.Add(got, "tabhub", entry)
			if err != nil || string(again) != string(got) {
				t.Errorf("a second time it is\n%s, %v", again, err)
			}
			if cmd, err := client.Find(got, "tabhub"); err != nil || cmd != "/opt/tabhub" {
				t.Errorf("found %q, %v", cmd, err)
			}
		})
	}
}

func TestRemoveUndoesAdd(t *testing.T) {
	client := named(t, "claude-desktop")
	for _, before := range []string{
		"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"} // why\n  }\n}\n",
		`{"mcpServers": {"a": 1}, "b": 2}`,
		"{\n  // c\n  \"mcpServers\": {\n    \"a\": 1,\n  },\n}",
	} {
		added, err := client.Add([]byte(before), "tabhub", entry)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := client.Remove(added, "tabhub"); err != nil || string(got) != before {
			t.Errorf("%q became %q, %v", before, got, err)
		}
		if got, err := client.Remove([]byte(before), "tabhub"); err != nil || string(got) != before {
			t.Errorf("%q without an entry became %q, %v", before, got, err)
		}
	}
	for before, want := range map[string]string{
		`{"mcpServers": {"a": 1, "tabhub": {}}}`: `{"mcpServers": {"a": 1}}`,
		`{"mcpServers": {"tabhub": {} }}`:        `{"mcpServers": { }}`,
		`{"mcpServers": {"tabhub": {},}}`:        `{"mcpServers": {}}`,
		`{"other": 1}`:                           `{"other": 1}`,
		``:                                       "{}\n",
	} {
		got, err := client.Remove([]byte(before), "tabhub")
		if err != nil || strings.ReplaceAll(string(got), ",}", "}") != want {
			t.Errorf("%q became %q, %v; want %q", before, got, err, want)
		}
		if _, err := hujson.Parse(got); err != nil {
			t.Errorf("%q is no JSON: %v", got, err)
		}
	}
}

func TestUnusableFilesAreRefused(t *testing.T) {
	client := named(t, "cursor")
	for _, text := range []string{`{"mcpServers": {`, `[]`, `{"mcpServers": []}`, `{"mcpServers": {"tabhub": "x"}}`, `{'a': 1}`, `x`} {
		if got, err := client.Add([]byte(text), "tabhub", entry); err == nil || !strings.Contains(err.Error(), "left as it is") {
			t.Errorf("%s became %s, %v", text, got, err)
		}
	}
	if _, err := Named("emacs"); err == nil || !strings.Contains(err.Error(), "claude-desktop") {
		t.Errorf("%v", err)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "real.json")
	link := filepath.Join(dir, "mcp.json")
	now := time.Date(2026, 11, 20, 17, 0, 0, 0, time.UTC)
	if backup, err := Write(path, nil, []byte("1"), now); err != nil || backup != "" {
		t.Fatalf("%q, %v", backup, err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.json", link); err != nil {
		t.Skip("no symbolic links here")
	}
	backup, err := Write(link, []byte("1"), []byte("2"), now)
	if err != nil || backup != path+".20261120-170000.bak" {
		t.Fatalf("%q, %v", backup, err)
	}
	for file, want := range map[string]string{backup: "1", path: "2"} {
		b, err := os.ReadFile(file)
		fi, _ := os.Stat(file)
		if err != nil || string(b) != want || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o640 {
			t.Errorf("%s holds %q, %v, %v", file, b, fi.Mode(), err)
		}
	}
	if fi, _ := os.Lstat(link); fi.Mode()&os.ModeSymlink == 0 {
		t.Error("the link became a file")
	}
}

func TestDiffHidesTheNeighbours(t *testing.T) {
	before := "{\n  \"mcpServers\": {\n    \"a\": {\"env\": {\"KEY\": \"secret\"}}\n  }\n}\n"
	after, err := named(t, "cursor").Add([]byte(before), "tabhub", entry)
	if err != nil {
		t.Fatal(err)
	}
	diff, err := Diff("mcp.json", []byte(before), after)
	if err != nil || strings.Contains(diff, "secret") || !strings.Contains(diff, `+      "command": "/opt/tabhub",`) {
		t.Errorf("%s, %v", diff, err)
	}
}

func TestPath(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the paths of Linux")
	}
	home := t.TempDir()
	env := func(k string) string { return map[string]string{"HOME": home}[k] }
	c := named(t, "claude-desktop")
	if _, err := c.Path(env); !errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), "--config") {
		t.Errorf("%v", err)
	}
	lower := filepath.Join(home, ".config", "claude")
	if err := os.MkdirAll(lower, 0o700); err != nil {
		t.Fatal(err)
	}
	if path, err := c.Path(env); err != nil || path != filepath.Join(lower, "claude_desktop_config.json") {
		t.Errorf("%q, %v", path, err)
	}
	if _, err := c.Path(func(string) string { return "" }); err == nil {
		t.Error("no home directory and no error")
	}
}

func FuzzAddRemove(f *testing.F) {
	f.Add("{\n // x\n\"mcpServers\":{\"a\":1,},}")
	f.Add(`{"mcpServers":{"tabhub":{"command":"x"},"b":{}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		client := named(t, "vscode")
		added, err := client.Add([]byte(text), "tabhub", entry)
		if err != nil {
			return
		}
		std, err := hujson.Standardize([]byte(strings.TrimPrefix(string(added), "\xef\xbb\xbf")))
		if err != nil || !json.Valid(std) {
			t.Fatalf("%q became %q: %v", text, added, err)
		}
		if cmd, err := client.Find(added, "tabhub"); err != nil || cmd != entry.Command {
			t.Fatalf("%q became %q: %q, %v", text, added, cmd, err)
		}
		removed, err := client.Remove(added, "tabhub")
		if err != nil {
			t.Fatalf("%q: %v", added, err)
		}
		if cmd, err := client.Find(removed, "tabhub"); err != nil || cmd != "" && !strings.Contains(text, "tabhub") {
			t.Fatalf("%q became %q: %q, %v", added, removed, cmd, err)
		}
	})
}
