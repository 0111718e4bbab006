package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/call"
	"tabhub/hub/lists"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// profiles is a hub with the browsers work and personal, each with a tab of shop.example, where
// different people are signed in.
type profiles struct {
	*fixture
	work, personal profile
}

var (
	atWork = &consent.Caller{Principal: &policy.Principal{ID: "c1", Name: "worker"}, Session: "s1", Bound: []string{"work"}}
	atHome = &consent.Caller{Principal: &policy.Principal{ID: "c2", Name: "homely"}, Session: "s2", Bound: []string{"personal"}}
	free   = &consent.Caller{Principal: &policy.Principal{ID: "c3", Name: "roamer"}, Session: "s3"}
)

const shop = "https://shop.example/"

func newProfiles(t *testing.T) *profiles {
	w := &profiles{fixture: newFixture(t, Options{})}
	w.work, w.personal = w.join("work"), w.join("personal")
	return w
}

// profile is a browser that answers with its name.
type profile struct {
	*tabtransport.Local
	t testing.TB
}

// join connects a browser of a name with a tab of the shop.
func (w *profiles) join(name string) profile {
	w.t.Helper()
	c := chromeConn(name+"-id", "run", "")
	c.Pairing = "p1"
	e := profile{t: w.t}
	var err error
	e.Local, err = tabtransport.Join(w.t.Context(), w.peers, c, func(_ context.Context, in tabtransport.Incoming) (spec.Response, error) {
		switch req := in.Request.(type) {
		case *spec.ExecuteTool:
			return spec.Response{Result: json.RawMessage(fmt.Sprintf(`{"content":[{"type":"text","text":"paid by %s"}]}`, name))}, nil
		case *spec.ReadResource:
			return spec.Response{Result: json.RawMessage(fmt.Sprintf(`{"contents":[{"uri":%q,"text":"cart of %s"}]}`, req.URI, name))}, nil
		case *spec.OpenTab:
			go e.tell(9, tools(req.URL, "buy"))
			return spec.Response{Result: json.RawMessage(`{"tabId":9}`)}, nil
		}
		return spec.Response{Result: json.RawMessage(`{}`)}, nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	e.tell(7, tools(shop+name, "buy:\"annotations\":{\"cache\":true}"))
	e.tell(7, &spec.Register{Kind: spec.KindResource, Items: []json.RawMessage{
		json.RawMessage(`{"uri":"https://shop.example/cart","name":"cart"}`), json.RawMessage(fmt.Sprintf(`{"uri":"https://shop.example/%s","name":%q}`, name, name)),
	}})
	e.tell(7, &spec.Register{Kind: spec.KindPrompt, Items: []json.RawMessage{json.RawMessage(fmt.Sprintf(`{"name":"ask_%s"}`, name))}})
	if err := w.hub.NameBrowser(name+"-id", name); err != nil {
		w.t.Fatal(err)
	}
	return e
}

func (w *profiles) buy(by *consent.Caller, name string) string {
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
	defer cancel()
	r, err := w.hub.Calls.Call(ctx, call.Request{Name: name, By: by})
	if err != nil {
		return err.Error()
	}
	return string(r)
}

func (w *profiles) wants(by *consent.Caller, name, text string) {
	w.t.Helper()
	if got := w.buy(by, name); !strings.Contains(got, text) {
		w.t.Errorf("%s called %s: %s; want %s", by.Principal.Name, name, got, text)
	}
}

// focus says that the owner looks at the tab of a browser.
func (w *profiles) focus(e profile) {
	w.t.Helper()
	e.tell(7, &spec.TabState{Active: ptr(true), WindowFocused: ptr(true), WindowID: ptr(int64(1))})
}

// Whatever a bound client does, and whatever names it makes up or remembers, nothing of the other
// profile comes to it, and nothing is done there.
func TestBoundClientHasOneProfile(t *testing.T) {
	w := newProfiles(t)
	all := w.hub.Lists.List(lists.ListTools)
	var names []string
	for _, it := range all.Items {
		names = append(names, it.Name)
	}
	if !slices.Contains(names, buyName(t, w, 1)) || len(names) != 3 {
		t.Fatalf("all are listed %q", names)
	}
	for _, c := range []struct {
		by           *consent.Caller
		own, other   string
		tab, foreign int
	}{{atWork, "work", "personal", 1, 2}, {atHome, "personal", "work", 2, 1}} {
		w.focus(w.work)
		w.focus(w.personal)
		domain := buyName(t, w, 0)
		w.wants(c.by, domain, "paid by "+c.own)
		w.wants(c.by, buyName(t, w, c.tab), "paid by "+c.own)
		w.wants(c.by, buyName(t, w, c.foreign), "unknown tool")
		for _, kind := range []lists.ListKind{lists.ListTools, lists.ListResources, lists.ListTemplates, lists.ListPrompts} {
			if got := string(jsonOf(w.hub.Lists.ListFor(c.by, kind))); strings.Contains(got, c.other) || strings.Contains(got, "tabs") || strings.Contains(got, fmt.Sprintf("tab%d", c.foreign)) {
				t.Errorf("%s is listed %s", c.by.Principal.Name, got)
			}
		}
		if n := len(w.hub.Lists.ListFor(c.by, lists.ListTools).Items); n != 1 {
			t.Errorf("%s is listed %d tools", c.by.Principal.Name, n)
		}
		// What the owner looks at in its own browser is active for it, whatever is in front.
		if got := string(jsonOf(w.hub.Lists.ListFor(c.by, lists.ListTools))); !strings.Contains(got, "Active") {
			t.Errorf("%s is listed %s", c.by.Principal.Name, got)
		}
		for _, it := range append(slices.Clone(w.hub.Lists.List(lists.ListResources).Items), w.hub.Lists.List(lists.ListPrompts).Items...) {
			foreign := strings.Contains(it.Source, c.other) || it.Tab == c.foreign
			kind := spec.KindPrompt
			if strings.Contains(it.Name, "://") {
				kind = spec.KindResource
			}
			_, err := w.hub.Lists.FindFor(c.by, kind, it.Name)
			if (err != nil) != foreign {
				t.Errorf("%s finds %s: %v", c.by.Principal.Name, it.Name, err)
			}
			if foreign && kind == spec.KindResource {
				if r, err := w.hub.Calls.ReadResource(t.Context(), c.by, it.Name); err == nil {
					t.Errorf("%s reads %s: %s", c.by.Principal.Name, it.Name, r)
				}
				if _, err := w.hub.Calls.SubscribeResource(t.Context(), c.by, it.Name); err == nil {
					t.Errorf("%s follows %s", c.by.Principal.Name, it.Name)
				}
			}
		}
		for _, info := range w.hub.Tabs(c.by) {
			if info.Label != c.own || !info.Focused {
				t.Errorf("%s sees the tab %+v", c.by.Principal.Name, info)
			}
		}
		if b := w.hub.Browsers(c.by); len(b) != 1 || b[0].Label != c.own {
			t.Errorf("%s sees the browsers %+v", c.by.Principal.Name, b)
		}
		// Ids of the other browser, made by hand.
		for _, b := range w.hub.Browsers(nil) {
			for _, req := range []spec.Request{&spec.ListTabs{}, &spec.OpenTab{URL: shop}, &spec.CloseTab{}, &spec.Text{}} {
				to := spec.TabAddr{Peer: b.Peer, Tab: 7}
				if _, ok := req.(*spec.ListTabs); ok {
					to.Tab = 0
				}
				_, err := w.hub.Calls.Control(t.Context(), c.by, to, req)
				if b.Label == c.other && (err == nil || !strings.Contains(err.Error(), "no tab or browser")) {
					t.Errorf("%s: %s to %s: %v", c.by.Principal.Name, req.Method(), b.Label, err)
				}
			}
		}
	}
	if _, err := w.hub.Agents.Claim(t.Context(), atWork, spec.TabAddr{Peer: "browser:personal-id", Tab: 7}, agents.Terms{TTL: time.Minute}, nil); err == nil {
		t.Error("a bound client has claimed a tab of the other browser")
	}
	if err := w.hub.Agents.Use(t.Context(), atWork, spec.TabAddr{Peer: "browser:personal-id", Tab: 7}, nil); err == nil {
		t.Error("a bound client uses a tab of the other browser")
	}
}

// buyName returns the public name of the tool of a tab's number, 0 for the domain's own.
func buyName(t *testing.T, w *profiles, number int) string {
	t.Helper()
	for _, it := range w.hub.Lists.List(lists.ListTools).Items {
		if it.Tab == number {
			return it.Name
		}
	}
	t.Fatalf("tab %d is not listed", number)
	return ""
}

// What one profile has left is opened and listed there, and nowhere else.
func TestBoundCacheAndOpenings(t *testing.T) {
	w := newProfiles(t)
	domain := buyName(t, w, 0)
	closeTab := func(e profile) {
		e.tell(7, &spec.TabClosed{})
	}
	closeTab(w.personal)
	if got := string(jsonOf(w.hub.Lists.ListFor(atHome, lists.ListTools))); !strings.Contains(got, "Cached") {
		t.Errorf("what personal has left: %s", got)
	}
	if got := string(jsonOf(w.hub.Lists.ListFor(atWork, lists.ListTools))); strings.Contains(got, "Cached") {
		t.Errorf("what work has: %s", got)
	}
	// The page that is open at work is not the one that is wanted at home.
	w.wants(atHome, domain, "paid by personal")
	closeTab(w.work)
	if err := w.hub.UnnameBrowser("work"); err != nil {
		t.Fatal(err)
	}
	w.wants(atWork, domain, "which nobody has named so")
	if got := string(jsonOf(w.hub.Lists.ListFor(atWork, lists.ListTools))); got != "[]" {
		t.Errorf("without its browser a client is listed %s", got)
	}
	if err := w.hub.NameBrowser("work-id", "work"); err != nil {
		t.Fatal(err)
	}
	w.wants(atWork, domain, "paid by work")
}

// A page that has joined by itself, and a browser without a name, are nothing to a bound client.
func TestBoundClientKnowsNamesAlone(t *testing.T) {
	w := newFixture(t, Options{})
	p := w.page("https://shop.example", "k")
	w.register(p, 0, tools(shop, "buy"))
	b := w.chrome("third", "run")
	w.register(b, 3, tools("https://mail.example/", "send"))
	if n := len(w.hub.Lists.ListFor(atWork, lists.ListTools).Items); n != 0 {
		t.Errorf("%d tools are listed", n)
	}
	if n := len(w.hub.Tabs(atWork)) + len(w.hub.Browsers(atWork)); n != 0 {
		t.Errorf("%d tabs and browsers are known", n)
	}
	_, err := w.hub.Calls.Call(t.Context(), call.Request{Name: "website_tool_mail_example_send", By: atWork})
	if err == nil || !strings.Contains(err.Error(), "bound to the browser work, which is not connected") || strings.Contains(err.Error(), "nearest") {
		t.Errorf("a call: %v", err)
	}
}

// Connection, credential and policy hold together: none widens another, and the owner is bound by
// none.
func TestBindingsHoldTogether(t *testing.T) {
	w := newProfiles(t)
	domain := buyName(t, w, 0)
	scoped := &policy.Principal{ID: "c9", Name: "scoped", Scope: &policy.Scope{Browsers: []string{"personal"}}}
	w.wants(consent.As(scoped), domain, "paid by personal")
	w.wants(&consent.Caller{Principal: scoped, Bound: []string{"work"}}, domain, "leave it no browser")
	bind := func(client string, names ...string) {
		if err := w.hub.Rules.EditPolicy("test", func(d *policy.Document) error { d.Bind(client, names); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	w.focus(w.personal)
	bind("roamer", "work")
	w.wants(free, domain, "paid by work")
	bind("", "personal")
	w.wants(free, domain, "leave it no browser")
	w.wants(atWork, domain, "leave it no browser")
	w.wants(consent.As(policy.Owner), buyName(t, w, 1), "paid by work")
	w.wants(consent.As(policy.Token), domain, "paid by personal")
}

// Clients are told of what changes in their browsers, and of nothing else.
func TestBoundChanges(t *testing.T) {
	w := newProfiles(t)
	told := make(chan lists.Change, 16)
	gone := w.hub.Owner.Connected(atWork)
	defer gone(true)
	stop := w.hub.Lists.Watch(func(c lists.Change) {
		if c = w.hub.Lists.ChangeFor(atWork, c); c.Tools || c.Resources || c.Prompts || len(c.Updated) > 0 {
			told <- c
		}
	})
	defer stop()
	cart := ""
	for _, it := range w.hub.Lists.ListFor(atWork, lists.ListResources).Items {
		if strings.HasSuffix(it.Source, "/cart") {
			cart = it.Name
		}
	}
	unfollow, err := w.hub.Calls.SubscribeResource(t.Context(), atWork, cart)
	if err != nil {
		t.Fatal(err)
	}
	defer unfollow()
	update := func(e profile, names ...string) {
		e.tell(8, tools("https://news.example/", names...))
		e.tell(7, &spec.ResourceUpdated{URI: "https://shop.example/cart"})
	}
	update(w.personal, "read")
	update(w.work, "read", "write")
	var got lists.Change
	for !got.Tools || len(got.Updated) == 0 {
		select {
		case c := <-told:
			if c.Tools && got.Tools || len(c.Updated) > 1 || len(c.Updated) == 1 && len(got.Updated) == 1 {
				t.Errorf("told of %+v after %+v", c, got)
			}
			got.Tools, got.Updated = got.Tools || c.Tools, append(got.Updated, c.Updated...)
		case <-time.After(10 * time.Second):
			t.Fatalf("told of %+v", got)
		}
	}
}

// tell sends a message of a tab, and waits until the hub has taken in what it registers.
func (e profile) tell(tab int64, msg spec.Inbound) {
	if _, registers := msg.(*spec.Register); !registers {
		e.Send(tab, msg)
	} else if answer, err := e.Ask(e.t.Context(), tab, msg); e.t.Context().Err() == nil && (err != nil || !strings.Contains(string(answer), `"rejected":[]`)) {
		e.t.Errorf("register: %s, %v", answer, err)
	}
}

// Names, and what each profile has left outlive the hub.
func TestBoundOutlivesTheHub(t *testing.T) {
	w := newProfiles(t)
	domain := buyName(t, w, 0)
	w.work.tell(7, &spec.TabClosed{})
	w.personal.tell(7, &spec.TabClosed{})
	if err := w.hub.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.start(Options{})
	for _, by := range []*consent.Caller{atWork, atHome} {
		if got := string(jsonOf(w.hub.Lists.ListFor(by, lists.ListTools))); !strings.Contains(got, "Cached") {
			t.Errorf("%s is listed %s", by.Principal.Name, got)
		}
	}
	w.personal = w.join("personal") // work is away
	w.wants(atHome, domain, "paid by personal")
	w.work = w.join("work")
	w.wants(atWork, domain, "paid by work")
}

// What the owner is told of a client's calls is where they go, and not where those of others do.
func TestExplainToBound(t *testing.T) {
	w := newProfiles(t) // personal is in front
	byCredential := &policy.Principal{ID: "c4", Name: "clerk", Scope: &policy.Scope{Browsers: []string{"work"}}}
	defer w.hub.Owner.Connected(atWork)(true)
	for _, who := range []*policy.Principal{byCredential, atWork.Principal} {
		e, err := w.hub.Explain(who, func(id agents.SessionID, _ string) bool { return id.Client == who.ID }, "website_tool_shop_example__buy")
		if err != nil || e.Tab == nil || e.Tab.Addr.Peer != "browser:work-id" || len(e.Candidates) != 1 {
			t.Errorf("%s: %+v, %v", who.Name, e, err)
		}
	}
}
