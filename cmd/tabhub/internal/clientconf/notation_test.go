package clientconf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// Codex's program understands the words of its command.
func TestCommandOfCodex(t *testing.T) {
	c := named(t, "codex")
	for want, e := range map[string]*Entry{
		"codex mcp add tabhub --env A=1 --env B=2 -- /opt/tabhub stdio": {Command: "/opt/tabhub", Args: []string{"stdio"}, Env: map[string]string{"B": "2", "A": "1"}},
		"codex mcp add tabhub --url " + hubURL:                          {URL: hubURL},
		"codex mcp remove tabhub":                                       nil,
	} {
		if got := strings.Join(c.Command(User, "tabhub", e), " "); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// What files say that are not JSON is understood.
func TestReadOfOthers(t *testing.T) {
	for client, text := range map[string]string{
		"codex": "model = \"x\"\n[mcp_servers.tabhub]\ncommand = \"/opt/tabhub\"\nargs = [\"stdio\", \"--data-dir\", \"/d\"]\nenv = { A = \"1\" }\n[mcp_servers.web]\nurl = \"http://x/mcp\"\n",
		"goose": "extensions:\n  tabhub:\n    type: stdio\n    cmd: /opt/tabhub\n    args: [stdio, --data-dir, /d]\n    envs: {A: \"1\"}\n  web: {type: streamable_http, uri: http://x/mcp}\n",
	} {
		c, path := named(t, client), filepath.Join(t.TempDir(), "config")
		if none, err := c.Read(path); len(none) > 0 || err != nil {
			t.Errorf("%s without a file: %s, %v", client, none, err)
		}
		os.WriteFile(path, []byte(text), 0o600)
		said, err := c.Read(path)
		if e := c.Started(said, "tabhub"); err != nil || e.Command != "/opt/tabhub" || len(e.Args) != 3 || e.Env["A"] != "1" {
			t.Errorf("%s starts %+v, %v", client, e, err)
		}
		if urls, err := c.URLs(said); err != nil || len(urls) != 1 || urls["web"] != "http://x/mcp" {
			t.Errorf("%s reaches %v, %v", client, urls, err)
		}
		os.WriteFile(path, []byte("a = 1\nb = \"x\n"), 0o600)
		if got, err := c.Read(path); client == "codex" && err == nil {
			t.Errorf("it became %s", got)
		}
	}
}

// What is printed for a file that is not JSON must mean to the client what was meant, however
// odd a path or a name is.
func TestText(t *testing.T) {
	odd := Entry{Command: `C:\Program "x"\täb: #hub`, Args: []string{"stdio", "--data-dir", "{a}, [b]"}, Env: map[string]string{"A": `"1"`, "B": "2"}}
	for client, decode := range map[string]func([]byte, any) error{"codex": toml.Unmarshal, "goose": yaml.Unmarshal} {
		c := named(t, client)
		command, env, url := "command", "env", "url"
		if client == "goose" {
			command, env, url = "cmd", "envs", "uri"
		}
		for _, name := range []string{"tabhub", "123", "no"} {
			for _, e := range []Entry{odd, {Command: "/x"}, {URL: hubURL}} {
				var file map[string]map[string]map[string]any
				text := c.Text(name, e)
				if err := decode([]byte(text), &file); err != nil {
					t.Fatalf("%s is not understood: %v", text, err)
				}
				said := file[c.section][name]
				if e.URL != "" {
					if said[url] != e.URL || said[command] != nil {
						t.Errorf("%s reaches %v", text, said)
					}
					continue
				}
				args, _ := said["args"].([]any)
				set, _ := said[env].(map[string]any)
				if said[command] != e.Command || len(args) != len(e.Args) || len(set) != len(e.Env) || len(args) > 0 && (args[2] != e.Args[2] || set["A"] != e.Env["A"]) {
					t.Errorf("%s says %v", text, said)
				}
				if client == "goose" && (said["type"] != "stdio" || said["enabled"] != true || said["name"] != name) {
					t.Errorf("goose does not take %s", text)
				}
			}
		}
	}
	if got := named(t, "zed").Text("tabhub", entry); !strings.Contains(got, `"command": "/opt/tabhub"`) {
		t.Error(got)
	}
}
