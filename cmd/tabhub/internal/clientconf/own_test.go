package clientconf

import (
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// Codex's own program is given words that it understands.
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

// What Codex says that it has is understood, of the versions that put the transport into an
// object of its own and of those before.
func TestListOfCodex(t *testing.T) {
	c := named(t, "codex")
	text, err := c.Listed([]byte(`[
		{"name": "tabhub", "enabled": true, "transport": {"type": "stdio", "command": "/opt/tabhub", "args": ["stdio", "--data-dir", "/d"], "env": {"A": "1"}, "cwd": null}},
		{"name": "old", "command": "/go/bin/tabhub", "args": [], "env": null, "startup_timeout_ms": null},
		{"name": "web", "transport": {"type": "streamable_http", "url": "http://x/mcp", "http_headers": null}}]`))
	if err != nil {
		t.Fatal(err)
	}
	if e := c.Started(text, "tabhub"); e.Command != "/opt/tabhub" || len(e.Args) != 3 || e.Env["A"] != "1" {
		t.Errorf("it starts %+v", e)
	}
	if found, err := c.Find(text, "tabhub"); err != nil || len(found) != 2 || found["old"] != "/go/bin/tabhub" {
		t.Errorf("found %v, %v", found, err)
	}
	if urls, err := c.URLs(text); err != nil || len(urls) != 1 || urls["web"] != "http://x/mcp" {
		t.Errorf("reached are %v, %v", urls, err)
	}
	e := entry
	if same, err := c.Add(text, "tabhub", e); err != nil || string(same) != string(text) {
		t.Errorf("what is there became %s, %v", same, err)
	}
	if got, err := c.Listed([]byte("No servers")); err == nil {
		t.Errorf("it became %s", got)
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
