package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tabhub/hub/call"
	"tabhub/hub/offer/pack"
	"tabhub/hub/packs"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/tabtransport/tabtest"
)

const shopTools = `{"tabhubPack":1,"name":"shop-tools","match":["https://shop.example/*"],"tools":[
	{"name":"add","description":"Adds to the cart","inputSchema":{"type":"object","properties":{"sku":{"type":"string"}}},
		"steps":[{"fill":{"fields":[{"target":{"label":"Article"},"value":{"arg":"sku"}}]}},{"click":{"target":{"role":"button","name":"Add"}}}]},
	{"name":"note","description":"Notes","steps":[{"click":{"target":{"role":"button","name":"Note"}}}]},
	{"name":"delete","description":"Deletes the account","annotations":{"destructiveHint":true},"steps":[{"click":{"target":{"role":"button","name":"Delete"}}}]},
	{"name":"look","description":"Reads the cart","annotations":{"readOnlyHint":true},"steps":[{"read":{"fields":{"title":{"target":{"role":"heading"}}}}}]}]}`

// addPack has the owner add the pack of shopTools, and the browser offer its tools at the shop.
func (w *asking) addPack() {
	w.t.Helper()
	doc, err := pack.Parse([]byte(shopTools))
	if err == nil {
		_, err = w.hub.Packs.Add(doc, packs.AddOptions{By: consent.ByCommand, Accept: true})
	}
	if err != nil {
		w.t.Fatal(err)
	}
	m := &spec.Register{Kind: spec.KindTool, TabURL: "https://shop.example/"}
	for _, name := range []string{"add", "note", "delete", "look"} {
		m.Items = append(m.Items, json.RawMessage(fmt.Sprintf(`{"name":%q,"pack":{"name":%q,"hash":%q},"frameId":0,"origin":"https://shop.example"}`, name, doc.Name, doc.Hash)))
	}
	if r := w.register(w.browser, 7, m); r.Accepted != 4 {
		w.t.Fatalf("registered: %+v", r)
	}
}

// use calls a tool of the pack.
func (w *asking) use(tool string) *pendingCall { return w.useFor(w.t.Context(), tool) }

func (w *asking) useFor(ctx context.Context, tool string) *pendingCall {
	c := &pendingCall{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.result, c.err = w.hub.Calls.Call(ctx, call.Request{Name: "pack_shop-tools_shop_example__" + tool, Args: json.RawMessage(`{"sku":"A-1"}`), By: w.claude})
	}()
	return c
}

// runs waits until the browser was sent a call that the owner is not asked about any more, and for its end.
func (w *asking) runs(c *pendingCall) {
	w.t.Helper()
	r := w.browser.Next()
	if r.Method == spec.MethodAsk {
		w.t.Fatal("the owner was asked")
	}
	w.browser.Answer(r, spec.Response{Result: json.RawMessage(`{"steps":[],"value":{}}`)}, nil)
	<-c.done
}

// question waits for the next question, and returns it.
func (w *asking) question() (r tabtest.Request, q *consent.Question) {
	w.t.Helper()
	r = w.asked()
	open := w.hub.Owner.Desk().Open()
	if len(open) != 1 {
		w.t.Fatalf("%d questions are open", len(open))
	}
	return r, &open[0]
}

func (w *asking) allow(r policy.Rule) {
	w.t.Helper()
	r.ID, r.Effect = "older", policy.Allow
	if err := w.hub.Rules.Remember(r); err != nil {
		w.t.Fatal(err)
	}
}

// packRules are the rules that name a pack.
func (w *asking) packRules() (all []string) {
	for _, r := range w.hub.Rules.Policy().Document().Rules {
		if r.Pack != "" {
			all = append(all, fmt.Sprintf("%s %s %s %s %s", r.Effect, r.Client, r.Site, r.Pack, r.Class))
		}
	}
	return all
}

// What the owner allowed at a site before there was a pack does not let the pack act. They are asked once for what
// it changes there, with each step before their eyes, and about what cannot be undone tool by tool. Both ends with
// the pack.
func TestPackIsAskedAboutOnce(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		w.allow(policy.Rule{Client: "claude", Site: "shop.example"})
		w.addPack()
		w.runs(w.use("look"))

		c := w.use("add")
		r, q := w.question()
		if q.Tool.Pack == nil || q.Tool.Pack.Name != "shop-tools" || q.Tool.Pack.Added != time.Now().Format("2 January 2006") || !q.AboutSite {
			t.Errorf("the question is of %+v", q.Tool)
		}
		if got := strings.Join(q.Tool.Pack.Steps, "; "); !strings.Contains(got, `"A-1"`) || !strings.Contains(got, `button "Add"`) {
			t.Errorf("the steps are %s", got)
		}
		w.says(r, spec.ReachApp)
		w.runs(c)
		w.runs(w.use("note"))
		if got := w.packRules(); !slices.Equal(got, []string{"allow claude shop.example shop-tools write"}) {
			t.Errorf("the answer has made %q", got)
		}

		c = w.use("delete")
		r, q = w.question()
		if q.AboutSite || q.Tool.Class != "destructive" {
			t.Errorf("about what cannot be undone: %+v", q)
		}
		w.says(r, spec.ReachApp)
		w.runs(c)
		w.runs(w.use("delete"))
		for _, e := range w.record.Entries(record.Query{Event: record.Ask}) {
			if e.Pack != "shop-tools" || e.Outcome != "ok" {
				t.Errorf("the record of a question: %+v", e)
			}
		}
		if calls := w.record.Entries(record.Query{Event: record.Call, Pack: "shop-tools"}); len(calls) != 5 {
			t.Errorf("the record has %d calls of the pack", len(calls))
		}

		if err := w.hub.Packs.Remove("shop-tools", consent.ByCommand); err != nil {
			t.Fatal(err)
		}
		if got := w.packRules(); got != nil {
			t.Errorf("the pack is gone, and these rules stay: %q", got)
		}
		w.addPack()
		c = w.use("add")
		w.says(w.asked(), spec.ReachNo)
		c.want(t, "DENIED")
	})
}

// Preflight tells an unattended client that its call of a pack would be asked about, and the rule that it names then
// allows the call.
func TestPackUnattended(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		w.addPack()
		p := w.hub.Owner.Preflight(w.claude, "pack_shop-tools_shop_example__add")
		if p.State != call.WouldAsk || !strings.Contains(p.Why, "what a pack's tools change") || p.Action.Pack != "shop-tools" {
			t.Errorf("%s: %s", p.State, p.Why)
		}
		w.allow(policy.Rule{Client: "claude", Site: "shop.example", Pack: "shop-tools", Class: "write"})
		if p := w.hub.Owner.Preflight(w.claude, "pack_shop-tools_shop_example__add"); p.State != call.Ready {
			t.Errorf("%s: %s", p.State, p.Why)
		}
		w.runs(w.use("add"))
	})
}

// A hub that allows everything allows packs.
func TestPackInModeOpen(t *testing.T) {
	testAsking(t, func(t *testing.T, w *asking) {
		w.hub.Close(context.Background())
		w.start(Options{Mode: policy.ModeOpen, Paired: askingOptions.Paired})
		w.join()
		w.addPack()
		w.runs(w.use("delete"))
	})
}

// A yes that the owner gave a pack for once, and that no call has used, ends with the pack, too, also in the next hub.
func TestYesForOnceEndsWithThePack(t *testing.T) {
	for _, restart := range []bool{false, true} {
		testAsking(t, func(t *testing.T, w *asking) {
			w.addPack()
			ctx, cancel := context.WithCancel(t.Context())
			c := w.useFor(ctx, "add")
			_, q := w.question()
			cancel() // the owner answers when the client has given up
			<-c.done
			if err := w.hub.Owner.Desk().Answer(q.ID, q.Digest, spec.AskResult{Reach: spec.ReachOnce}, consent.ByDashboard); err != nil {
				t.Fatal(err)
			}
			if restart {
				w.restart()
			}
			if err := w.hub.Packs.Remove("shop-tools", consent.ByCommand); err != nil {
				t.Fatal(err)
			}
			w.addPack()
			c = w.use("add")
			w.says(w.asked(), spec.ReachNo)
			c.want(t, "DENIED")
		})
	}
}
