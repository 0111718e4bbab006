package clientconf

import (
	"strings"
	"testing"
)

var withToken = Entry{Command: "/opt/tabhub", Args: []string{"stdio"}, Env: map[string]string{"TABHUB_TOKEN": "tbh_a_B"}}

// A user's comments, order and spaces in TOML and YAML stay as they are.
func TestAddToLines(t *testing.T) {
	const (
		table = "[mcp_servers.tabhub]\ncommand = \"/opt/tabhub\"\nargs = [\"stdio\"]\nenv = {\"TABHUB_TOKEN\" = \"tbh_a_B\"}\n"
		block = "  tabhub:\n    type: \"stdio\"\n    cmd: \"/opt/tabhub\"\n    args: [\"stdio\"]\n    envs: {\"TABHUB_TOKEN\": \"tbh_a_B\"}\n    name: \"tabhub\"\n    enabled: true\n    timeout: 300\n"
	)
	for _, c := range []struct{ name, client, before, after string }{
		{"no file", "codex", "", table},
		{"settings", "codex", "model = \"o\" # mine\n\n[mcp_servers.a]\ncommand = \"x\"", "model = \"o\" # mine\n\n[mcp_servers.a]\ncommand = \"x\"\n\n" + table},
		{"Windows", "codex", "\ufeffa = 1\r\n", "\ufeffa = 1\r\n\r\n" + strings.ReplaceAll(table, "\n", "\r\n")},
		{"what looks like a table", "codex", "a = '''\n[mcp_servers.tabhub]\n'''\nb = [\n [ 1 ], # one\n]\n", "a = '''\n[mcp_servers.tabhub]\n'''\nb = [\n [ 1 ], # one\n]\n\n" + table},
		{"an older entry", "codex", "# of all\n[mcp_servers.tabhub] # here\n# how\ncommand = \"/old\" # a secret\nargs = [\n  \"a\", # why\n]\nstartup_timeout_sec = 20 # slow\n\n[mcp_servers.tabhub.env] # secret\nA = \"1\"\n\n# next\n[b]\nc = 1\n",
			"# of all\n[mcp_servers.tabhub] # here\n# how\ncommand = \"/opt/tabhub\" # a secret\nargs = [\"stdio\"]\nstartup_timeout_sec = 20 # slow\n\n[mcp_servers.tabhub.env] # secret\nTABHUB_TOKEN = \"tbh_a_B\"\nA = \"1\"\n\n# next\n[b]\nc = 1\n"},
		{"an older entry on few lines", "codex", "[mcp_servers.tabhub]\nenv = { A = \"1\" }\nurl = \"http://x\"\nhttp_headers = { B = \"2\" }\n", "[mcp_servers.tabhub]\ncommand = \"/opt/tabhub\"\nargs = [\"stdio\"]\nenv = {\"A\" = \"1\", \"TABHUB_TOKEN\" = \"tbh_a_B\"}\n"},
		{"the same", "codex", "[mcp_servers.tabhub]\nargs = ['stdio']\ncommand = '/opt/tabhub'\nenv.TABHUB_TOKEN = 'tbh_a_B'\n", "[mcp_servers.tabhub]\nargs = ['stdio']\ncommand = '/opt/tabhub'\nenv.TABHUB_TOKEN = 'tbh_a_B'\n"},

		{"no file", "goose", "", "extensions:\n" + block},
		{"settings", "goose", "# mine\nGOOSE_MODE: auto", "# mine\nGOOSE_MODE: auto\nextensions:\n" + block},
		{"no extensions", "goose", "a: 1\nextensions: {}\nb: 2\n", "a: 1\nextensions:\n" + block + "b: 2\n"},
		{"other extensions", "goose", "extensions: # all\n  # one\n  developer:\n    type: builtin\n\n# two\nb: |\n  extensions:\n", "extensions: # all\n" + block + "  # one\n  developer:\n    type: builtin\n\n# two\nb: |\n  extensions:\n"},
		{"Windows", "goose", "a: 1\r\n", "a: 1\r\n" + strings.ReplaceAll("extensions:\n"+block, "\n", "\r\n")},
		{"an older entry", "goose", "extensions:\n    tabhub: # mine\n        enabled: false # for now\n        type: sse # secret\n        cmd: >\n          /old\n        args:\n          - a # why\n        # all of them\n        envs: # secret\n            A: '1'\n        env_keys: []\n    # next\n    b:\n        cmd: x\n",
			"extensions:\n    tabhub: # mine\n        enabled: false # for now\n        type: \"stdio\" # secret\n        cmd: \"/opt/tabhub\"\n        args: [\"stdio\"]\n        # all of them\n        envs: # secret\n            TABHUB_TOKEN: \"tbh_a_B\"\n            A: '1'\n        env_keys: []\n    # next\n    b:\n        cmd: x\n"},
	} {
		t.Run(c.client+" "+c.name, func(t *testing.T) {
			client := named(t, c.client)
			got, err := client.Add([]byte(c.before), "tabhub", withToken)
			if err != nil || string(got) != c.after {
				t.Fatalf("got %v\n%s\nwant\n%s", err, got, c.after)
			}
			again, err := client.Add(got, "tabhub", withToken)
			if err != nil || string(again) != c.after {
				t.Errorf("a second time it is\n%s, %v", again, err)
			}
			if e := client.Started(got, "tabhub"); e.Command != "/opt/tabhub" || len(e.Args) != 1 || e.Env["TABHUB_TOKEN"] != "tbh_a_B" {
				t.Errorf("it starts %+v", e)
			}
			diff, err := client.Diff("f", "tabhub", []byte(c.before), got)
			if err != nil || strings.Contains(diff, "tbh_") || strings.Contains(diff, "secret") || c.before != c.after && !strings.Contains(diff, "+") {
				t.Errorf("the change is shown as\n%s, %v", diff, err)
			}
		})
	}
}

// An entry that starts a hub becomes one that reaches it, whatever else it says.
func TestLinesThatReachAServer(t *testing.T) {
	at := Entry{URL: "http://x/mcp", Unset: []string{"A"}}
	for _, c := range []struct{ client, before, after string }{
		{"codex", "[mcp_servers.tabhub]\ncommand = \"x\"\n\n[mcp_servers.tabhub.env]\nA = \"1\"\n", "[mcp_servers.tabhub]\nurl = \"http://x/mcp\"\n\n"},
		{"goose", "extensions:\n  tabhub:\n    cmd: x\n    args:\n      - a\n    envs: {A: b}\n  b: {}\n", "extensions:\n  tabhub:\n    type: \"streamable_http\"\n    uri: \"http://x/mcp\"\n  b: {}\n"},
	} {
		if got, err := named(t, c.client).Add([]byte(c.before), "tabhub", at); err != nil || string(got) != c.after {
			t.Errorf("%s:\n%s\nbecame\n%s, %v", c.client, c.before, got, err)
		}
	}
}

func TestRemoveFromLines(t *testing.T) {
	for _, c := range []struct{ client, before, after string }{
		{"codex", "a = 1\n\n[mcp_servers.tabhub]\ncommand = \"x\"\n\n[mcp_servers.tabhub.env]\nA = \"1\"\n\n# b's\n[b]\nc = 1\n", "a = 1\n\n\n\n# b's\n[b]\nc = 1\n"},
		{"codex", "[mcp_servers]\ntabhub = { command = \"x\" } # mine\na = { command = \"y\" }\n", "[mcp_servers]\na = { command = \"y\" }\n"},
		{"codex", "mcp_servers.tabhub.command = \"x\"\nmcp_servers.tabhub.args = []\nb = 1", "b = 1"},
		{"codex", "b = 1", "b = 1"},
		{"goose", "extensions:\n  tabhub:\n    cmd: x\n    args: []\n  # one\n  a: {}\n", "extensions:\n  # one\n  a: {}\n"},
		{"goose", "extensions: # all\n  tabhub:\n    cmd: x\nb: 1\n", "extensions: {} # all\nb: 1\n"},
		{"goose", "b: 1", "b: 1"},
		{"goose", "", ""},
	} {
		if got, err := named(t, c.client).Remove([]byte(c.before), "tabhub"); err != nil || string(got) != c.after {
			t.Errorf("%s:\n%s\nbecame\n%s, %v", c.client, c.before, got, err)
		}
	}
}

// A server that is said in two places is not taken for removed when it is out of one.
func TestRemoveFromLinesIsProven(t *testing.T) {
	const text = "a: &a\n  tabhub:\n    cmd: x\nextensions:\n  <<: *a\n  tabhub:\n    cmd: y\n"
	if got, err := named(t, "goose").Remove([]byte(text), "tabhub"); err == nil {
		t.Errorf("it became\n%s", got)
	}
}

// What cannot be understood, or edited with certainty, is refused, with the place.
func TestUnusableLinesAreRefused(t *testing.T) {
	for _, c := range []struct{ client, text, why string }{
		{"codex", "a = 1\nb = \n", "not TOML: line 2, column"},
		{"codex", "a = 1\na = 2\n", "not TOML: line 2, column 1"},
		{"codex", "mcp_servers = 1\n", `"mcp_servers" is not an object`},
		{"codex", "mcp_servers = { a = { command = \"x\" } }\n", "is written in a form that is not edited here"},
		{"codex", "[mcp_servers]\ntabhub = { command = \"x\" }\n", "is written in a form that is not edited here"},
		{"codex", "[[mcp_servers.tabhub]]\ncommand = \"x\"\n", `"mcp_servers.tabhub" is not an object`},
		{"goose", "a: 1\n  b: 2\n", "not YAML: line 2: mapping values are not allowed"},
		{"goose", "a: 1\na: 2\n", "line 2"},
		{"goose", "- a\n", "not YAML: "},
		{"goose", "extensions: []\n", `"extensions" is not an object`},
		{"goose", "extensions: {a: {cmd: x}}\n", "which is written on one line"},
		{"goose", "extensions:\n  tabhub: {cmd: x}\n", "is written in a form that is not edited here"},
		{"goose", "extensions:\n  tabhub:\n", "is empty"},
		{"goose", "a: &a\n  tabhub:\n    cmd: x\nextensions: *a\n", "is written in a form that is not edited here"},
		{"goose", "a: 1\n---\nb: 2\n", "more than one document"},
		{"goose", "a: 1\r\nb: 2\n", "end in different ways"},
	} {
		if got, err := named(t, c.client).Add([]byte(c.text), "tabhub", entry); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%q became %q, %v; want %s", c.text, got, err, c.why)
		}
	}
}

// Whatever a file holds, adding and removing the entry changes nothing else of it.
func FuzzLines(f *testing.F) {
	f.Add("a = 1\n[mcp_servers.tabhub]\ncommand = 'x'\n[mcp_servers.tabhub.env]\nA = '1'\n")
	f.Add("mcp_servers.a.b = [\n1,\n]\n")
	f.Add("extensions:\n  tabhub:\n    cmd: x\n    envs: {A: b}\n  a: 1\n")
	f.Add("extensions: {}\n# x\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"codex", "goose"} {
			c := named(t, name)
			added, err := c.Add([]byte(text), "tabhub", withToken)
			if err != nil {
				continue
			}
			if e := c.Started(added, "tabhub"); e.Command != withToken.Command || e.Env["TABHUB_TOKEN"] != "tbh_a_B" {
				t.Fatalf("%s: %q became %q, which starts %+v", name, text, added, e)
			}
			if diff, err := c.Diff("f", "tabhub", []byte(text), added); err != nil || strings.Contains(diff, "tbh_a_B") {
				t.Fatalf("%s: %q is shown as %q, %v", name, text, diff, err)
			}
			removed, err := c.Remove(added, "tabhub")
			if err != nil {
				t.Fatalf("%s: %q: %v", name, added, err)
			}
			if found, err := c.Find(removed, "tabhub"); err != nil || found["tabhub"] != "" {
				t.Fatalf("%s: %q became %q: %v, %v", name, added, removed, found, err)
			}
		}
	})
}
