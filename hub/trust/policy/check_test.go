package policy_test

import (
	"errors"
	"strings"
	"testing"

	. "tabhub/hub/trust/policy"
)

// The error says why a rule cannot do what it says, and what to write instead.
func TestCheck(t *testing.T) {
	for _, test := range []struct {
		rules []string
		want  string // "": nothing is wrong
	}{
		{[]string{"allow client=claude", "deny", "ask site=unverified", "deny site=http_*.example.com", "allow site=localhost:5173", "deny from=private,site=xn--bcher-kva.example", "allow site=0_0_0_0_0_0_0_1"}, ""},
		{[]string{"deny until,tool=buy", "allow tool=buy"}, ""},
		{[]string{"allow "}, "rule 1: it allows everything"},
		{[]string{"allow until"}, "it allows everything"},
		{[]string{"deny session=s1"}, "without its client"},
		{[]string{"deny tool=buy,pin"}, "leave the pin out"},
		{[]string{"allow site=example.com,pin"}, "must name its tool"},
		{[]string{"deny class=danger"}, `the class is "danger"; it may be read, write, act, destructive, hub or relay`},
		{[]string{"allow pack=*", "allow pack=shop-tools", "allow pack=shop-tools,class=write", "deny pack=3-d"}, ""},
		{[]string{"deny pack=Shop"}, `the pack is "Shop"; it may be the name of a pack, such as shop-tools, or * for all packs`},
		{[]string{"deny pack=shop*"}, "or * for all packs"},
		{[]string{"deny pack=-shop"}, "or * for all packs"},
		{[]string{"deny pack=" + strings.Repeat("a", 33)}, "or * for all packs"},
		{[]string{"deny pack=*,class=relay"}, "packs give tools to pages only"},
		{[]string{"deny pack=*,class=act"}, "packs give tools to pages only"},
		{[]string{"allow class=act", "allow client=claude,session=s1,site=shop.example.com,class=act", "deny tool=browser_page,class=act"}, ""},
		{[]string{"deny tool=**"}, "leave it out"},
		{[]string{"deny site=*"}, "write *.example.com"},
		{[]string{"deny site=*.com"}, "wider than what one owner can have"},
		{[]string{"deny site=*.co.uk"}, "wider"},
		{[]string{"deny site=*.github.io"}, "wider"},
		{[]string{"deny site=*.localhost"}, "wider"},
		{[]string{"deny site=shop.*.com"}, "first of its labels"},
		{[]string{"deny site=https://shop.example.com/"}, "did you mean shop.example.com?"},
		{[]string{"deny site=http://shop.example.com"}, "did you mean http_shop.example.com?"},
		{[]string{"deny site=Shop.Example.com"}, "did you mean shop.example.com?"},
		{[]string{"deny site=bücher.example"}, "did you mean xn--bcher-kva.example?"},
		{[]string{"deny site=shop.example.com:443"}, "did you mean shop.example.com?"},
		{[]string{"deny site=private"}, ""}, // a host of one label, as in some networks
		{[]string{"deny site=a shop"}, "is no site"},
		{[]string{"deny from=*.com"}, "from: "},
		{[]string{"deny client=a\x1bb"}, "cannot be shown"},
		{[]string{"deny client=" + strings.Repeat("a", 300)}, "it may be 256"},
		{[]string{"ask tool=buy", "deny client=claude", "ask tool=buy"}, "rules 1 and 3: they say the same"},
		{[]string{"deny client=claude", "allow client=claude"}, "rules 1 and 2: one says deny and the other allow of the same"},
		{[]string{"deny site=*.com", "deny class=x"}, "rule 2: the class"},
	} {
		err := Check(parse(t, test.rules))
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%q: %v, want %q", test.rules, err, test.want)
		}
		if _, ok := errors.AsType[*RuleError](err); err != nil && !ok {
			t.Errorf("%q: the error does not say which rule", test.rules)
		}
	}
	if err := Check(make([]Rule, MaxRules+1)); err == nil || !strings.Contains(err.Error(), "1001") {
		t.Errorf("too many rules: %v", err)
	}
}

// What does not pass the checks is never decided by.
func TestNewChecks(t *testing.T) {
	rule := func(f func(*Rule)) []Rule {
		r := Rule{ID: "a", Effect: Deny, Client: "claude"}
		f(&r)
		return []Rule{r}
	}
	for name, test := range map[string]struct {
		doc  Document
		mode Mode
		file []Rule
	}{
		"no id":            {doc: Document{Rules: rule(func(r *Rule) { r.ID = "" })}},
		"no effect":        {doc: Document{Rules: rule(func(r *Rule) { r.Effect = Unset })}},
		"a false preset":   {doc: Document{Rules: rule(func(r *Rule) { r.By = "preset" })}},
		"one id for two":   {doc: Document{Rules: append(rule(func(*Rule) {}), rule(func(r *Rule) { r.Tool = "buy" })...)}},
		"an unknown mode":  {mode: "strict"},
		"a stored mode":    {doc: Document{Mode: "strict"}, mode: ModeOpen},
		"a private kind":   {doc: Document{Private: []string{"unverified"}}},
		"a private suffix": {doc: Document{Private: []string{"*.com"}}},
		"a paused suffix":  {doc: Document{Pauses: []Pause{{Site: "*.com"}}}},
		"the file":         {file: rule(func(r *Rule) { r.Class = "x" })},
	} {
		if s, err := New(test.doc, test.mode, File{Rules: test.file}); err == nil || s != nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestMode(t *testing.T) {
	for _, test := range []struct {
		stored, given, want Mode
		fixed               bool
	}{
		{"", "", ModeCareful, false},
		{ModeAsk, "", ModeAsk, false},
		{ModeAsk, ModeOpen, ModeOpen, true},
	} {
		if mode, fixed := setOf(t, test.given, Document{Mode: test.stored}, nil).Mode(); mode != test.want || fixed != test.fixed {
			t.Errorf("%+v: %s, %v", test, mode, fixed)
		}
	}
}
