package policy_test

import (
	"fmt"
	"testing"
	"time"

	. "tabhub/hub/trust/policy"
	"tabhub/spec"
)

// manyRules are as an owner's of a few months: answers for single tools of many sites, some
// with wildcards, and some for whole clients and classes.
func manyRules(n int) []Rule {
	var rules []Rule
	for i := range n {
		r := Rule{ID: fmt.Sprint("r", i), Effect: Ask, Client: fmt.Sprint("client", i%7)}
		switch i % 10 {
		case 0:
			r.Site = fmt.Sprintf("*.site%d.example", i)
		case 1:
			r.Tool = fmt.Sprintf("tool%d*", i)
		case 2:
			r.Client, r.Class, r.Site = "", "destructive", fmt.Sprintf("site%d.example", i)
		default:
			r.Site, r.Tool, r.Pin, r.Effect = fmt.Sprintf("site%d.example", i%50), fmt.Sprint("tool", i), Pin{byte(i)}, Allow
		}
		rules = append(rules, r)
	}
	return rules
}

func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{0, 100, 1000} {
		s := setOf(b, ModeCareful, Document{Rules: manyRules(n), Private: []string{"mail.example"}, Pauses: []Pause{{Client: "client6"}}}, nil)
		for name, a := range map[string]*Action{
			"page": {Principal: &Principal{ID: "client3", Name: "an agent"}, Session: "s", Site: Site{Domain: "site3.example"}, Kind: spec.KindTool, Name: "tool3", Class: Write, Item: definition{3}},
			"act":  {Principal: &Principal{ID: "client3", Name: "an agent"}, Session: "s", Of: OfHub, Site: Site{Domain: "site3.example"}, Name: "browser_page click", Class: Act},
			"any":  {Principal: &Principal{ID: "client3", Name: "an agent"}, Of: OfRelay, Site: Site{Any: true}, Name: "Runtime.evaluate", Class: Write},
		} {
			b.Run(fmt.Sprintf("%s/rules=%d", name, n), func(b *testing.B) {
				now := time.Now()
				b.ReportAllocs()
				for b.Loop() {
					s.Decide(a, now)
				}
			})
		}
	}
}

// A decision is part of each call.
func TestDecideDoesNotAllocate(t *testing.T) {
	s := setOf(t, ModeCareful, Document{Rules: manyRules(100), Private: []string{"mail.example"}}, nil)
	a := buy(from("mail.example"))
	if n := testing.AllocsPerRun(100, func() { s.Decide(a, now) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
