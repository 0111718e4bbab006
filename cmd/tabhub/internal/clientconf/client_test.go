package clientconf

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

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
		{"comments around the first server", "cursor", "{\n  \"mcpServers\": { // all of them\n    // the files\n    \"a\": 1 // one\n  }\n}",
			"{\n  \"mcpServers\": { // all of them\n    \"tabhub\": {\n      \"command\": \"/opt/tabhub\",\n      \"args\": [\"stdio\", \"--data-dir\", \"/d\"]\n    },\n    // the files\n    \"a\": 1 // one\n  }\n}"},
		{"an older entry with more in it", "cursor", `{"mcpServers": {"tabhub": {"command": "/old", "env": {"A": "1"}, "args": [ "stdio" ]}}}`,
			`{"mcpServers": {"tabhub": {"command": "/opt/tabhub", "env": {"A": "1"}, "args": ["stdio", "--data-dir", "/d"]}}}`},
		{"an entry by URL", "claude-code", `{"mcpServers": {"tabhub": {"type": "http", "url": "http://x", "headers": {"Authorization": "Bearer t"}}}}`,
			`{"mcpServers": {"tabhub": {"command": "/opt/tabhub", "args": ["stdio", "--data-dir", "/d"], "type": "stdio"}}}`},
		{"one line", "cursor", `{"mcpServers":{"a":1},"b":2}`,
			"{\"mcpServers\":{\"tabhub\": {\n      \"command\": \"/opt/tabhub\",\n      \"args\": [\"stdio\", \"--data-dir\", \"/d\"]\n    }, \"a\":1},\"b\":2}"},
		{"lines of Windows, with a byte order mark", "cursor", "\xef\xbb\xbf{\r\n  \"b\": 2\r\n}\r\n",
			"\xef\xbb\xbf{\r\n  \"mcpServers\": {\r\n    \"tabhub\": {\r\n      \"command\": \"/opt/tabhub\",\r\n      \"args\": [\"stdio\", \"--data-dir\", \"/d\"]\r\n    }\r\n  },\r\n  \"b\": 2\r\n}\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := named(t, c.client)
			before := []byte(c.before)
			got, err := client.Add(before, "tabhub", entry)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.after {
				t.Errorf("got\n%s\nwant\n%s", got, c.after)
			}
			if string(before) != c.before {
				t.Errorf("the old text became %q", before)
			}
			again, err := client.Add(got, "tabhub", entry)
			if err != nil || string(again) != string(got) {
				t.Errorf("a second time it is\n%s, %v", again, err)
			}
			if found, err := client.Find(got, "tabhub"); err != nil || found["tabhub"] != "/opt/tabhub" {
				t.Errorf("found %q, %v", found, err)
			}
		})
	}
}

func TestRemoveUndoesAdd(t *testing.T) {
	client := named(t, "claude-desktop")
	for _, before := range []string{
		"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"} // why\n  }\n}\n",
		`{"mcpServers": { /* a */ "a": 1 }}`,
		"{}\n", "\ufeff{}\n",
		"{\n  // dark\n  \"theme\": \"dark\"\n}\n",
		"{\n  // c\n  \"mcpServers\": {\n    \"a\": 1,\n  },\n}",
		"{\n  \"mcpServers\": { // all\n    // first\n    \"a\": 1\n  }\n}",
		"{\r\n  \"mcpServers\": { // all\r\n    \"a\": 1\r\n  }\r\n}",
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
}

func TestRemoveKeepsTheRest(t *testing.T) {
	client := named(t, "claude-desktop")
	for before, want := range map[string]string{
		`{"mcpServers": {"a": 1, "tabhub": {}}}`:                                        `{"mcpServers": {"a": 1}}`,
		`{"mcpServers": {"a": 1, "tabhub": {}, "b": 2}}`:                                `{"mcpServers": {"a": 1, "b": 2}}`,
		`{"mcpServers": {"tabhub": {} }}`:                                               `{}`,
		`{"mcpServers": {"tabhub": {},}}`:                                               `{}`,
		`{"mcpServers": {}, "b": 2}`:                                                    `{"mcpServers": {}, "b": 2}`,
		"{\"mcpServers\": {\n  \"a\": 1, // one\n  // two\n  \"tabhub\": {}\n}}":        "{\"mcpServers\": {\n  \"a\": 1 // one\n  }}",
		"{\"mcpServers\": { // all\n  // mine\n  \"tabhub\": {},\n  // b\n  \"b\": 1}}": "{\"mcpServers\": { // all\n  // b\n  \"b\": 1}}",
		`{"other": 1}`: `{"other": 1}`,
	} {
		got, err := client.Remove([]byte(before), "tabhub")
		if err != nil || string(got) != want {
			t.Errorf("%s\nbecame\n%s, %v; want\n%s", before, got, err, want)
		}
		if _, err := hujson.Parse(got); err != nil {
			t.Errorf("%q is no JSON: %v", got, err)
		}
	}
}

func TestUnusableFilesAreRefused(t *testing.T) {
	client := named(t, "cursor")
	for text, why := range map[string]string{
		"{\n  \"mcpServers\": {\n    \"a\" 1\n  }\n}": "line 3, column 9",
		`{"mcpServers": {`:                            "line 1, column 17",
		`{'a': 1}`:                                    "line 1, column 2",
		`x`:                                           "not JSON",
		"\xff\xfe{\x00}\x00":                          "not JSON",
		`[]`:                                          "not a JSON object",
		`{"mcpServers": []}`:                          `"mcpServers" is not an object`,
		`{"mcpServers": {"tabhub": "x"}}`:             `"mcpServers.tabhub" is not an object`,
		`{"mcpServers": {}, "mcpServers": {}}`:        `"mcpServers" is there twice`,
		`{"mcpServers": {"tabhub": {}, "tabhu\u0062": {}}}`:                 `"mcpServers.tabhub" is there twice`,
		`{"mcpServers": {"tabhub": {"command": "a", "command": "tabhub"}}}`: `"mcpServers.tabhub.command" is there twice`,
	} {
		if got, err := client.Add([]byte(text), "tabhub", entry); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s became %s, %v; want %s", text, got, err, why)
		}
	}
	if _, err := Named("emacs"); err == nil || !strings.Contains(err.Error(), "claude-desktop") {
		t.Errorf("%v", err)
	}
}

func TestFindKnowsOtherNames(t *testing.T) {
	const text = `{"mcpServers": {
		"tabhub": {"url": "http://x"}, "tabs": {"command": "/go/bin/tabhub"}, "odd": 1,
		"w": {"command": "C:/bin/tabhub.exe"}, "files": {"command": "npx"}}}`
	got, err := named(t, "cursor").Find([]byte(text), "tabhub")
	if want := []string{"tabs", "w"}; err != nil || !reflect.DeepEqual(slices.Sorted(maps.Keys(got)), want) {
		t.Errorf("%v, %v", got, err)
	}
}

// Claude Code's own program is given words that it understands: --env takes all up to the next
// flag.
func TestCommandOfClaudeCode(t *testing.T) {
	c := named(t, "claude-code")
	e := Entry{Command: "/opt/tabhub", Args: []string{"stdio"}, Env: map[string]string{"A": "1"}}
	if got := strings.Join(c.Command(User, "tabhub", &e), " "); got != "claude mcp add --env A=1 --scope user tabhub -- /opt/tabhub stdio" {
		t.Error(got)
	}
	if got := strings.Join(c.Command(User, "tabhub", nil), " "); got != "claude mcp remove --scope user tabhub" {
		t.Error(got)
	}
	if got := c.Command(Project, "tabhub", &e); got != nil {
		t.Error(got)
	}
}

// A name that a client refuses, or takes for another server's, would be found out only there.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		client, name string
		ok           bool
	}{
		{"cursor", "tabhub", true}, {"cursor", "my_t-2", true}, {"cursor", "a", true},
		{"cursor", "a b", false}, {"cursor", "a.b", false}, {"cursor", "a__b", false}, {"cursor", "_a", false}, {"cursor", "a_", false},
		{"cursor", "-a", false}, {"cursor", "täb", false}, {"cursor", "tabhub-2", false}, {"cursor", "a\nb", false},
		{"claude-code", "workspace", false}, {"gemini", "my_tabs", false}, {"gemini", "my-tabs", true},
	} {
		if err := named(t, c.client).CheckName(c.name); (err == nil) != c.ok {
			t.Errorf("%s %q: %v", c.client, c.name, err)
		}
	}
}

// The entry's token is written beside what the user has put there, read back, and never
// shown.
func TestEnvironment(t *testing.T) {
	const token = "tbh_a_B"
	withToken := entry
	withToken.Env = map[string]string{"TABHUB_TOKEN": token}
	for before, after := range map[string]string{
		"": `"env": {
        "TABHUB_TOKEN": "tbh_a_B"
      }`,
		`{"mcpServers": {"tabhub": {"env": {"A": "1"}}}}`:                    `"env": {"TABHUB_TOKEN": "tbh_a_B", "A": "1"}`,
		`{"mcpServers": {"tabhub": {"env": {"TABHUB_TOKEN": "tbh_old_C"}}}}`: `"env": {"TABHUB_TOKEN": "tbh_a_B"}`,
	} {
		client := named(t, "cursor")
		got, err := client.Add([]byte(before), "tabhub", withToken)
		if err != nil || !strings.Contains(string(got), after) {
			t.Errorf("%s became %s, %v", before, got, err)
		}
		if env := client.Started(got, "tabhub").Env["TABHUB_TOKEN"]; env != token {
			t.Errorf("%s: the token is %q", got, env)
		}
		diff, err := client.Diff("f", "tabhub", []byte(before), got)
		if err != nil || strings.Contains(diff, "tbh_") {
			t.Errorf("the change is shown as %s, %v", diff, err)
		}
	}
	for _, text := range []string{"", "{", `{"mcpServers": {}}`, `{"mcpServers": {"tabhub": 1}}`, `{"mcpServers": {"tabhub": {"env": "x"}}}`, `{"mcpServers": {"tabhub": {"env": {"TABHUB_TOKEN": 1}}}}`} {
		if got := named(t, "cursor").Started([]byte(text), "tabhub").Env["TABHUB_TOKEN"]; got != "" {
			t.Errorf("%s: the token is %q", text, got)
		}
	}
}

func FuzzAddRemove(f *testing.F) {
	f.Add("{\n // x\n\"mcpServers\":{\"a\":1,},}")
	f.Add(`{"servers":{"tabhub":{"command":"x"},"b":{}}}`)
	f.Add("{ // a\r\n\"servers\": { /* b */ \"c\": {}, // d\r\n } }")
	f.Fuzz(func(t *testing.T, text string) {
		client := named(t, "vscode")
		added, err := client.Add([]byte(text), "tabhub", entry)
		if err != nil {
			return
		}
		before, after := servers(t, []byte(text)), servers(t, added)
		delete(before, "tabhub")
		delete(after, "tabhub")
		if !reflect.DeepEqual(before, after) && len(before)+len(after) > 0 {
			t.Fatalf("%q became %q", text, added)
		}
		if found, err := client.Find(added, "tabhub"); err != nil || found["tabhub"] != entry.Command {
			t.Fatalf("%q became %q: %q, %v", text, added, found, err)
		}
		if _, err := client.Diff("f", "tabhub", []byte(text), added); err != nil {
			t.Fatalf("%q: %v", added, err)
		}
		removed, err := client.Remove(added, "tabhub")
		if err != nil {
			t.Fatalf("%q: %v", added, err)
		}
		if after := servers(t, removed); !reflect.DeepEqual(before, after) && len(before)+len(after) > 0 {
			t.Fatalf("%q became %q became %q", text, added, removed)
		}
		if again, err := client.Remove(removed, "tabhub"); err != nil || string(again) != string(removed) {
			t.Fatalf("%q became %q, %v", removed, again, err)
		}
	})
}

// servers returns the servers of a file for VS Code.
func servers(t *testing.T, text []byte) map[string]any {
	std, err := hujson.Standardize([]byte(strings.TrimPrefix(string(text), "\xef\xbb\xbf")))
	if strings.TrimSpace(string(std)) == "" {
		return nil
	}
	var file map[string]any
	if err != nil || json.Unmarshal(std, &file) != nil {
		t.Fatalf("%q is no JSON: %v", text, err)
	}
	inner, _ := file["servers"].(map[string]any)
	return inner
}

// A variable that is not to stay goes, from whatever form the user has given the others, which
// stay. An environment with nothing left goes, too.
func TestUnset(t *testing.T) {
	e := Entry{Command: "/opt/tabhub", Args: []string{"stdio"}, Unset: []string{"OLD", "NEVER"}}
	for _, c := range []struct{ client, before, left string }{
		{"cursor", `{"mcpServers": {"tabhub": {"env": {"A": "1", "OLD": "x"}}}}`, "1"},
		{"cursor", `{"mcpServers": {"tabhub": {"env": {"OLD": "x"}}}}`, ""},
		{"cursor", `{"mcpServers": {"tabhub": {}}}`, ""},
	} {
		for _, set := range []map[string]string{nil, {"NEW": "2"}} {
			e.Env = set
			client := named(t, c.client)
			got, err := client.Add([]byte(c.before), "tabhub", e)
			env := client.Started(got, "tabhub").Env
			_, old := env["OLD"]
			if err != nil || old || env["A"] != c.left || env["NEW"] != set["NEW"] || len(env) == 0 && strings.Contains(string(got), "env") {
				t.Errorf("%s became\n%s%v, %v", c.before, got, env, err)
			}
		}
	}
}
