package policyfile

import (
	"strings"
	"testing"
	"time"

	"tabhub/hub/trust/policy"
)

func TestParse(t *testing.T) {
	file, err := Parse([]byte(`// What agents may do here.
{
	"rules": [
		{"effect": "deny", "site": "*.bank.example.com"}, // nobody
		{
			"effect": "ask", "client": "claude", "tool": "buy*", "class": "destructive",
			"late": true, "until": "2026-12-31T18:00:00Z", "note": "until the holidays",
		},
		{"effect": "allow", "from": "mail.example.com", "site": "shop.example.com"},
	],
}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []policy.Rule{
		{ID: "line 4", By: "file", Effect: policy.Deny, Site: "*.bank.example.com"},
		{ID: "line 5", By: "file", Effect: policy.Ask, Client: "claude", Tool: "buy*", Class: "destructive", Late: true, Until: time.Date(2026, 12, 31, 18, 0, 0, 0, time.UTC), Note: "until the holidays"},
		{ID: "line 9", By: "file", Effect: policy.Allow, From: "mail.example.com", Site: "shop.example.com"},
	}
	rules := file.Rules
	if len(rules) != len(want) {
		t.Fatalf("got %+v", rules)
	}
	for i := range want {
		if rules[i] != want[i] {
			t.Errorf("got %+v, want %+v", rules[i], want[i])
		}
	}
	for _, none := range []string{`{"rules":[]}`, "\ufeff{\"rules\": [/* later */]}"} {
		if file, err := Parse([]byte(none)); err != nil || len(file.Rules) > 0 {
			t.Errorf("%s: %v, %v", none, file, err)
		}
	}
}

// An error in the file says where it is, and what to write.
func TestParseFails(t *testing.T) {
	for _, test := range []struct{ file, want string }{
		{"", "line 1: column 1"},
		{"{\n\"rules\": [\n{\"effect\": \"deny\"", "line 3: column 18"},
		{"{}", `line 1: a file is {"rules": [ … ], "bindings": [ … ]}`},
		{"[]", `line 1: a file is {"rules": [ … ], "bindings": [ … ]}`},
		{`{"rules": {}}`, `line 1: a file is`},
		{"{\n\"mode\": \"open\", \"rules\": []}", `line 2: a file is {"rules": [ … ], "bindings": [ … ]}, and no more; this is "mode"`},
		{"{\"rules\": [\n{\"effect\": \"deny\", \"sites\": \"a.example\"}]}", `line 2: a rule has no member "sites"; it may have effect, client, site`},
		{`{"rules": [{"Effect": "deny"}]}`, `line 1: the member "Effect" is spelled "effect"`},
		{`{"rules": [{"effect": "forbid"}]}`, `line 1: the effect is "forbid"; it may be allow, ask or deny`},
		{"{\"rules\": [\n\n{\"site\": \"a.example\"}]}", `line 3: the effect is missing; it may be`},
		{`{"rules": [{"effect": "deny", "client": 1}]}`, `line 1: client is a number; it must be a string`},
		{`{"rules": [{"effect": "deny", "late": "yes"}]}`, `late is a string; it must be true or false`},
		{`{"rules": [{"effect": "deny", "site": null}]}`, `site has no value`},
		{`{"rules": [{"effect": "deny", "site": ["a.example"]}]}`, `site has no value`},
		{`{"rules": [{"effect": "deny", "until": "tomorrow"}]}`, `a time such as 2026-`},
		{`{"rules": ["deny"]}`, `a rule is an object such as`},
		{"{\"rules\": [{\"effect\": \"deny\",\n\"site\": \"a.example\", \"effect\": \"allow\"}]}", `line 2: "effect" is there twice, first in line 1`},
		{"{\"rules\": [\n{\"effect\": \"deny\", \"site\": \"*.com\"}]}", `line 2: site: "*.com" is wider than`},
		{"{\"rules\": [\n{\"effect\": \"deny\", \"site\": \"a.example\"},\n{\"effect\": \"allow\", \"site\": \"a.example\"}]}", "line 3: this rule and that of line 2: one says deny and the other allow of the same"},
		{"{\"rules\": [\n{\"effect\": \"deny\", \"class\": \"x\"},\n{\"effect\": \"deny\", \"class\": \"y\"}]}", "\nline 3: the class is"},
		{`{"bindings": ["work"]}`, `line 1: a binding is an object such as`},
		{"{\"bindings\": [\n{\"client\": \"claude\"}]}", "line 2: it names no browser"},
		{`{"bindings": [{"client": "claude", "browsers": []}]}`, "it names no browser"},
		{`{"bindings": [{"client": "claude", "browsers": ["Work"]}]}`, `"Work" is no name of a browser`},
		{`{"bindings": [{"client": "claude", "browser": "work"}]}`, `a binding has no member "browser"`},
		{"{\"rules\": [" + strings.Repeat(`{"effect": "deny"},`, 1001) + "]}", "there are 1001 rules; there may be up to 1000"},
	} {
		file, err := Parse([]byte(test.file))
		if err == nil || !strings.Contains(err.Error(), test.want) || file.Rules != nil || file.Bindings != nil {
			t.Errorf("%.100s: %v, want %s", test.file, err, test.want)
		}
	}
}

// A file may hold anything, and what it is read as passes the checks of each rule.
func FuzzParse(f *testing.F) {
	for _, text := range []string{`{"rules":[{"effect":"deny","site":"*.example.com"}]}`, `{"rules":[{"effect":"allow","pin":"00"}]}`, "{\"rules\":[/**/],}", `{"rules":[{"effect":"ask","until":"2026-12-31T18:00:00Z","late":true}]}`, `{"bindings":[{"client":"a","browsers":["work"]}]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Parse(text)
		if err != nil {
			return
		}
		if _, err := policy.New(policy.Document{}, "", file); err != nil {
			t.Error(err)
		}
	})
}
