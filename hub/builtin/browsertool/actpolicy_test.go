package browsertool_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tabhub/hub/builtin"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

const clickOrder = `{"action":"click","tabId":"1","ref":"kfa1"}`

// asks makes a call that only its owner can allow, and returns the question.
func (w *rig) asks(by *consent.Caller, tool, args string) consent.Question {
	w.t.Helper()
	w.callBy(w.t.Context(), by, tool, args).fails(spec.FailDenied, "the owner has to allow this call first")
	open := w.hub.Owner.Desk().Open()
	for _, q := range slices.Backward(open) { // one that is open already is not asked again
		if q.Client.Name == by.Principal.Name {
			return q
		}
	}
	w.t.Fatalf("%s %s: nothing is asked about %s", tool, args, by.Principal.Name)
	return consent.Question{}
}

// answers answers a question.
func (w *rig) answers(q consent.Question, reach spec.Reach) {
	w.t.Helper()
	if err := w.hub.Owner.Desk().Answer(q.ID, q.Digest, spec.AskResult{Reach: reach}, consent.ByCommand); err != nil {
		w.t.Fatal(err)
	}
}

// ran returns how many runs the browser was sent since it was asked last.
func (b *fakeBrowser) ran() (n int) {
	for _, r := range b.requests() {
		if strings.Contains(r, "browser/run") {
			n++
		}
	}
	return n
}

func caller(id, session string) *consent.Caller {
	return &consent.Caller{Principal: &policy.Principal{ID: id, Name: strings.ToUpper(id)}, Session: session}
}

// The owner's answer for this site and this session lets all that the client does there by itself pass: in no frame
// and at no site beside it, in no other session, for no other client, and not while it is paused.
func TestAnswerForThisSiteThisSession(t *testing.T) {
	w := newRigIn(t, policy.ModeCareful)
	b := w.shop()
	b.register(2, "https://shop.example:8443/", "search")
	ada := caller("ada", "1")
	q := w.asks(ada, "browser_page", clickOrder)
	if text := consent.Text(&q.Ask); !strings.HasPrefix(text, `tabhub asks: “ADA” wants to “click button "Order"” on “shop.example”. Allow it?`) {
		t.Errorf("it is asked\n%s", text)
	}
	if b.ran() != 0 {
		t.Fatal("it acts before the owner has answered")
	}
	w.answers(q, spec.ReachSession)
	for _, call := range [][2]string{
		{"browser_page", clickOrder}, {"browser_page", `{"action":"press","tabId":"1","key":"Enter"}`},
		{"browser_script", `{"tabId":"1","steps":[{"click":"button \"Order\""}]}`}, {"browser_script", `{"tabId":"1","code":"return 1"}`},
	} {
		if r := w.callBy(t.Context(), ada, call[0], call[1]); r.IsError {
			t.Errorf("%s is asked about again: %s", call, r.raw)
		}
	}
	if n := b.ran(); n != 4 {
		t.Errorf("%d of 4 acts were done", n)
	}

	// The frame of another site, what a click leads to, and another port.
	q = w.asks(ada, "browser_page", `{"action":"click","tabId":"1","ref":"kfc1"}`)
	if text := consent.Text(&q.Ask); !strings.Contains(text, `wants to “click button "Pay"” on “pay.example” within “https://shop.example”`) {
		t.Errorf("of a frame it is asked\n%s", text)
	}
	w.asks(ada, "browser_script", `{"tabId":"1","frame":"kfb9","code":"return 1"}`)
	w.asks(ada, "browser_page", `{"action":"press","tabId":"2","key":"Enter"}`)
	w.rules(policy.Rule{Effect: policy.Ask, Site: "help.example"})
	q = w.asks(ada, "browser_page", `{"action":"click","tabId":"1","ref":"kfa2"}`)
	if text := consent.Text(&q.Ask); !strings.Contains(text, `to use “browser_page goto” on “help.example”`) || !strings.Contains(text, `click link "Help"`) {
		t.Errorf("of a click that leads elsewhere it is asked\n%s", text)
	}
	release := func() {
		w.callBy(t.Context(), ada, "browser_tab", `{"action":"release","tabId":"1"}`)
		b.requests()
	}
	release()
	for name, other := range map[string]*consent.Caller{
		"another session of the client": caller("ada", "2"), "no session": caller("ada", ""), "another client with the session's id": caller("bob", "1"),
	} {
		if q := w.asks(other, "browser_page", clickOrder); q.Client.Name != strings.ToUpper(other.Principal.ID) {
			t.Errorf("%s: it is asked about %s", name, q.Client.Name)
		}
	}

	pause := func(p ...policy.Pause) {
		t.Helper()
		if err := w.hub.Rules.EditPolicy("test", func(d *policy.Document) error { d.Pauses = p; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	pause(policy.Pause{Site: "shop.example"})
	w.callBy(t.Context(), ada, "browser_page", clickOrder).fails("PAUSED", "the owner of this hub has paused this")
	pause()
	w.rules(policy.Rule{Effect: policy.Deny, Client: "ada", Session: "1", Tool: "browser_script"})
	w.callBy(t.Context(), ada, "browser_script", `{"tabId":"1","code":"return 1"}`).fails(spec.FailDenied, "the owner's rule")
	if n := b.ran(); n != 0 {
		t.Errorf("%d acts were done unasked", n)
	}
	if r := w.callBy(t.Context(), ada, "browser_page", clickOrder); r.IsError {
		t.Errorf("at its site, in its session: %s", r.raw)
	}
}

// What the owner has allowed before there were acts lets none pass.
func TestOldRulesAllowNoAct(t *testing.T) {
	own := &policy.Principal{ID: "ada", Name: "ADA"}
	bound := func(s policy.Scope) *policy.Principal { return &policy.Principal{ID: "ada", Name: "ADA", Scope: &s} }
	allow := func(r policy.Rule) []policy.Rule { r.Effect = policy.Allow; return []policy.Rule{r} }
	for name, test := range map[string]struct {
		who   *policy.Principal
		rules []policy.Rule
		asked bool // else it is denied
	}{
		"no rule":                     {own, nil, true},
		"the hub's tools":             {own, allow(policy.Rule{Class: "hub"}), true},
		"the hub's tools of a client": {own, allow(policy.Rule{Client: "ada", Session: "1", Site: "shop.example", Class: "hub"}), true},
		"browser_page":                {own, allow(policy.Rule{Client: "ada", Site: "shop.example", Tool: "browser_page", Class: "hub"}), true},
		"browser_page click":          {own, allow(policy.Rule{Client: "ada", Site: "shop.example", Tool: "browser_page click", Class: "hub"}), true},
		"a tool of that name":         {own, allow(policy.Rule{Client: "ada", Site: "shop.example", Tool: "browser_page click"}), true},
		"a pattern":                   {own, allow(policy.Rule{Client: "ada", Site: "shop.example", Tool: "browser*"}), true},
		"the site":                    {own, allow(policy.Rule{Client: "ada", Session: "1", Site: "shop.example"}), true},
		"what destroys there":         {own, allow(policy.Rule{Client: "ada", Session: "1", Site: "shop.example", Class: "destructive"}), true},
		"what packs do":               {own, allow(policy.Rule{Client: "ada", Site: "shop.example", Pack: "*"}), true},
		"a flow":                      {own, allow(policy.Rule{Client: "ada", Site: "shop.example", From: "private"}), true},
		"a token that reads":          {bound(policy.Scope{Classes: []policy.Class{policy.Read}}), allow(policy.Rule{Class: "act", Client: "ada"}), false},
		"a token that writes":         {bound(policy.Scope{Classes: []policy.Class{policy.Write}}), allow(policy.Rule{Class: "act", Client: "ada"}), false},
		"a token for all":             {bound(policy.Scope{Classes: []policy.Class{policy.Destructive}, Tools: []string{"browser_page"}}), allow(policy.Rule{Client: "ada"}), true},
		"a token for another site":    {bound(policy.Scope{Sites: []string{"bank.example"}}), allow(policy.Rule{Class: "act", Client: "ada"}), false},
		"a token for another browser": {bound(policy.Scope{Browsers: []string{"work"}}), allow(policy.Rule{Class: "act", Client: "ada"}), false},
		"what writes is denied":       {own, []policy.Rule{{Effect: policy.Deny, Class: "write"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRigIn(t, policy.ModeCareful)
			b := w.shop()
			w.rules(test.rules...)
			by := &consent.Caller{Principal: test.who, Session: "1"}
			if test.asked {
				w.asks(by, "browser_page", clickOrder)
			} else if r := w.callBy(t.Context(), by, "browser_page", clickOrder); !r.IsError {
				t.Errorf("it acts: %s", r.raw)
			} else if open := w.hub.Owner.Desk().Open(); len(open) > 0 {
				t.Errorf("it is asked about: %+v", open)
			}
			if n := b.ran(); n != 0 {
				t.Errorf("%d acts were done", n)
			}
		})
	}
}

// What policy test says of an action is what is decided about it.
func TestClassesOfActions(t *testing.T) {
	w := newRigIn(t, policy.ModeCareful)
	w.shop()
	w.rules(policy.Rule{Effect: policy.Allow, Client: "ada", Class: "act"}, policy.Rule{Effect: policy.Allow, Client: "ada", Class: "destructive"})
	ada := caller("ada", "1")
	page := builtin.Find(w.tools, "browser_page")
	for action, args := range map[string]string{
		"click": `"ref":"kfa1"`, "fill": `"ref":"kfa1","value":"Ann"`, "select": `"ref":"kfa1","value":"Tea"`, "press": `"key":"Enter"`, "hover": `"ref":"kfa1"`, "scroll": `"pages":1`,
		"drag": `"ref":"kfa1","to":"kfa3"`, "goto": `"url":"https://shop.example/a"`, "reload": ``, "snapshot": ``, "text": ``, "screenshot": ``,
	} {
		if args != "" {
			args = "," + args
		}
		w.callBy(t.Context(), ada, "browser_page", fmt.Sprintf(`{"action":%q,"tabId":"1"%s}`, action, args))
		lines := w.log.Entries(record.Query{Event: record.Call})
		e := lines[len(lines)-1]
		if want := page.Class(action).String(); e.Class != want || e.Tool != "browser_page "+action {
			t.Errorf("%s of class %s, %s, is said to be %s", e.Tool, e.Class, e.Outcome, want)
		}
	}
	if script := builtin.Find(w.tools, "browser_script"); script.Action(ada).Class != policy.Act || page.Action(ada).Class != policy.Read {
		t.Error("the use of browser_script, whatever it does, is an act, and of browser_page it is not")
	}
}
