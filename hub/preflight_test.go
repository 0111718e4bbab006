package hub

import (
	"strings"
	"testing"
	"testing/synctest"

	"tabhub/hub/call"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/storage"
)

// A script that starts work for the night has to learn beforehand what each call would come to.
func TestPreflight(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		if err := w.hub.SetSite(storage.Site{Domain: "docs.example", Cache: new(true)}); err != nil {
			t.Fatal(err)
		}
		w.register(w.browser, 1, tools("https://docs.example/a", "find"))
		rule := func(r policy.Rule) {
			t.Helper()
			r.ID, r.By = "rule-"+r.Effect.String(), "command"
			if err := w.hub.Rules.Remember(r); err != nil {
				t.Fatal(err)
			}
		}
		pause := func(on bool) {
			t.Helper()
			if err := w.hub.Rules.Pause("command", on); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			now   string
			do    func()
			tool  string
			state call.Readiness
			why   string
		}{
			{"a tab is open", nil, "docs_example__find", call.Ready, "a tab is open"},
			{"an act that the mode asks about", nil, "shop_example__pay", call.WouldAsk, "the mode of the hub asks before this"},
			{"allowed", func() { rule(policy.Rule{Effect: policy.Allow, Client: "claude", Site: "shop.example", Tool: "pay"}) }, "shop_example__pay", call.Ready, ""},
			{"denied", func() { rule(policy.Rule{Effect: policy.Deny, Client: "claude", Site: "docs.example"}) }, "docs_example__find", call.Denied, "denies it"},
			{"paused", func() { pause(true) }, "shop_example__pay", call.Denied, "paused"},
			{"unknown", func() { pause(false) }, "shop_example__refund", call.NoTab, "no open page offers it"},
			{"the tab is closed, and can be opened", func() {
				w.hub.Rules.EditPolicy("command", func(doc *policy.Document) error { doc.Rules = nil; return nil })
				w.browser.Notify(1, &spec.TabClosed{})
				w.register(w.browser, 2, tools("https://other.example/"))
			}, "docs_example__find", call.Ready, "opens https://docs.example/a"},
			{"without a browser", func() { w.browser.Cut(); synctest.Wait() }, "docs_example__find", call.NoBrowser, "no browser is connected"},
			{"the act of a page that has joined by itself", nil, "shop_example__pay", call.WouldAsk, ""},
		} {
			if c.do != nil {
				c.do()
			}
			if got := w.hub.Owner.Preflight(w.claude, "website_tool_"+c.tool); got.State != c.state || !strings.Contains(got.Why, c.why) {
				t.Errorf("%s: %s, %q", c.now, got.State, got.Why)
			}
		}
	})
}

// What a client has read is part of the decision, as of a call's.
func TestPreflightKnowsWhatWasRead(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		w.register(w.browser, 1, tools("https://mail.example/", `read:"annotations":{"readOnlyHint":true}`))
		edit := func(edit func(*policy.Document)) {
			t.Helper()
			if err := w.hub.Rules.EditPolicy("command", func(d *policy.Document) error { edit(d); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		edit(func(d *policy.Document) { d.Private = []string{"mail.example"} })
		wants := func(state call.Readiness, by policy.Layer) {
			t.Helper()
			if p := w.hub.Owner.Preflight(w.claude, "website_tool_shop_example__look"); p.State != state || p.Decision.Layer != by {
				t.Errorf("%s by %s: %s", p.State, p.Decision.Layer, p.Why)
			}
		}
		edit(func(d *policy.Document) {
			d.Rules = []policy.Rule{{ID: "shop", By: "command", Effect: policy.Allow, Client: "claude", Site: "shop.example"}}
		})
		wants(call.Ready, policy.ByRule)
		done := make(chan error, 1)
		go func() {
			_, err := w.hub.Calls.Call(t.Context(), call.Request{Name: "website_tool_mail_example__read", By: w.claude})
			done <- err
		}()
		answer(w.browser, w.browser.Next(), "a letter")
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		wants(call.WouldAsk, policy.ByFlow)
		edit(func(d *policy.Document) { // what the command that preflight names does
			d.Rules = append(d.Rules, policy.Rule{ID: "flow", By: "command", Effect: policy.Allow, Client: "claude", From: "private", Site: "shop.example"})
		})
		wants(call.Ready, policy.ByRule)
	})
}
