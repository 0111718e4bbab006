package packs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tabhub/hub/core"
	"tabhub/hub/offer/pack"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/hub/trust/record/recordtest"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport"
)

// fixture is the packs of a user, over a store that outlives them.
type fixture struct {
	*Packs
	t      *testing.T
	store  storage.DomainToolStorage
	record recordtest.Memory
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{t: t, store: new(storagetest.Memory)}
	f.open()
	return f
}

// open opens the packs anew, as the next process does.
func (f *fixture) open() {
	f.t.Helper()
	c, err := core.Open(f.t.Context(), core.Options{User: spec.LocalUser, Transport: tabtransport.NewPeers(), Store: f.store, Record: &f.record})
	if err != nil {
		f.t.Fatal(err)
	}
	rules, err := core.OpenRules(c, policy.ModeCareful)
	if err != nil {
		f.t.Fatal(err)
	}
	f.Packs = Open(c, rules)
	c.Restore(core.Hooks{Listed: func() {}, Superseded: func(error) {}, InFlight: func() []spec.PeerID { return nil }})
	f.t.Cleanup(func() {
		c.Refuse()
		_ = c.Drain(context.Background())
	})
}

// shop is a pack whose tool "order" presses a button, and "find" reads; more are members of the document.
func shop(t *testing.T, button string, more ...string) *pack.Pack {
	t.Helper()
	return parse(t, `{"tabhubPack":1,"name":"shop","match":["https://shop.example.com/*"],"tools":[
		{"name":"order","description":"Orders the cart","steps":[{"click":{"target":{"role":"button","name":"`+button+`"}}}]},
		{"name":"find","description":"Finds products","steps":[{"read":{"fields":{"title":{"target":{"role":"heading"}}}}}]}]`+strings.Join(more, "")+`}`)
}

func parse(t *testing.T, text string) *pack.Pack {
	t.Helper()
	p, err := pack.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// want checks which documents of the pack "shop" there are.
func (f *fixture) want(active, waiting *pack.Pack) {
	f.t.Helper()
	s, _ := f.State("shop")
	hash := func(v *Version) string {
		if v == nil {
			return ""
		}
		return v.Hash
	}
	of := func(p *pack.Pack) string {
		if p == nil {
			return ""
		}
		return p.Hash
	}
	if hash(s.Active) != of(active) || hash(s.Waiting) != of(waiting) {
		f.t.Errorf("active %.8s, waiting %.8s, want %.8s, %.8s", hash(s.Active), hash(s.Waiting), of(active), of(waiting))
	}
	if got := f.Active(); len(got) != 0 && active == nil || active != nil && (len(got) != 1 || got[0].Hash != active.Hash) {
		f.t.Errorf("browsers are told %+v", got)
	}
	if active != nil && f.PackTool(active.Ref(), "order") == nil {
		f.t.Error("a tool of the active version is not found")
	}
	if waiting != nil && f.PackTool(waiting.Ref(), "order") != nil {
		f.t.Error("a tool of a version that waits is found")
	}
}

// A file that has changed must not act before its owner has read it, and a restart must change nothing of
// what was decided.
func TestVersionsWaitForTheOwner(t *testing.T) {
	f := newFixture(t)
	first, second, third := shop(t, "Order"), shop(t, "Pay"), shop(t, "Delete")
	add := func(doc *pack.Pack, accept bool) {
		t.Helper()
		if _, err := f.Add(doc, AddOptions{By: "cli", From: "shop.json", Accept: accept}); err != nil {
			t.Fatal(err)
		}
	}
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	add(first, false)
	f.want(nil, first)
	ok(f.Accept("shop", first.Hash, "dashboard"))
	f.want(first, nil)
	changed := f.Changed()
	add(first, false)
	f.want(first, nil)
	select {
	case <-changed:
		t.Error("the active document counts as a change")
	default:
	}
	add(second, false)
	f.want(first, second)
	f.open()
	f.want(first, second)
	if s, _ := f.State("shop"); s.Active.By != "dashboard" || s.Waiting.By != "cli" || s.Waiting.From != "shop.json" || s.Active.Added.IsZero() || f.PackAdded("shop") != s.Active.Added {
		t.Errorf("after a restart: %+v, %+v", s.Active, s.Waiting)
	}
	add(third, false)
	f.want(first, third)
	if err := f.Accept("shop", second.Hash, "dashboard"); !errors.Is(err, ErrNotWaiting) {
		t.Errorf("a version that the owner has not read is accepted: %v", err)
	}
	add(first, false) // as it was: there is nothing to decide
	f.want(first, nil)
	add(second, false)
	ok(f.Reject("shop", second.Hash, "dashboard"))
	f.want(first, nil)
	add(third, true)
	f.want(third, nil)
	ok(f.Remove("shop", "cli"))
	f.want(nil, nil)
	f.open()
	f.want(nil, nil)
	for _, err := range []error{f.Remove("shop", "cli"), f.Accept("shop", third.Hash, "cli"), f.Reject("shop", third.Hash, "cli")} {
		if !errors.Is(err, ErrNoPack) {
			t.Errorf("a pack that is gone: %v", err)
		}
	}
	var got []string
	for _, e := range f.record.Entries(record.Query{Event: record.Pack}) {
		got = append(got, fmt.Sprintf("%s %s %s %.4s", e.Pack, e.Outcome, e.By, e.Reason))
	}
	var want []string
	for _, w := range []struct {
		what, by string
		of       *pack.Pack
	}{
		{"added", "cli", first}, {"accepted", "dashboard", first}, {"added", "cli", second}, {"added", "cli", third}, {"rejected", "cli", third},
		{"added", "cli", second}, {"rejected", "dashboard", second}, {"accepted", "cli", third}, {"removed", "cli", third},
	} {
		want = append(want, fmt.Sprintf("shop %s %s %.4s", w.what, w.by, w.of.Hash))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("recorded:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A yes for one button must not become a yes for another one, nor for a pack that comes later under the name.
func TestAnswersEndWithWhatTheyAreAbout(t *testing.T) {
	for name, tt := range map[string]struct {
		then func(f *fixture) error
		keep bool
	}{
		"another button": {then: func(f *fixture) error {
			_, err := f.Add(shop(f.t, "Delete"), AddOptions{Accept: true})
			return err
		}},
		"another site": {then: func(f *fixture) error {
			doc := strings.Replace(string(shop(f.t, "Order").Text()), "shop.example.com", "bank.example.com", 1)
			_, err := f.Add(parse(f.t, doc), AddOptions{Accept: true})
			return err
		}},
		"more pages": {then: func(f *fixture) error {
			doc := strings.Replace(string(shop(f.t, "Order").Text()), `"https://shop.example.com/*"`, `"https://shop.example.com/*", "https://bank.example.com/*"`, 1)
			_, err := f.Add(parse(f.t, doc), AddOptions{Accept: true})
			return err
		}},
		"removed": {then: func(f *fixture) error { return f.Remove("shop", "cli") }},
		"another title": {keep: true, then: func(f *fixture) error {
			_, err := f.Add(shop(f.t, "Order", `,"title":"Shop"`), AddOptions{Accept: true})
			return err
		}},
		"waits": {keep: true, then: func(f *fixture) error {
			_, err := f.Add(shop(f.t, "Delete"), AddOptions{})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			if _, err := f.Add(shop(t, "Order"), AddOptions{Accept: true}); err != nil {
				t.Fatal(err)
			}
			if err := f.rules.Remember(policy.Rule{ID: "1", Effect: policy.Allow, Site: "shop.example.com", Pack: "shop", Class: "write", By: "window"}); err != nil {
				t.Fatal(err)
			}
			if err := tt.then(f); err != nil {
				t.Fatal(err)
			}
			if kept := len(f.rules.Policy().Document().Rules) == 1; kept != tt.keep {
				t.Errorf("the answer is kept: %t", kept)
			}
		})
	}
}

// What a person shows in a browser becomes a draft that waits; shown again, what differs becomes an argument. It
// must not take the place of another pack of the site.
func TestRecorded(t *testing.T) {
	f := newFixture(t)
	shown := func(name, text string) (string, error) {
		value, _ := json.Marshal(text)
		return f.Recorded(&spec.Recorded{Name: name, URL: "https://shop.example.com/search", Steps: []spec.Step{
			{Fill: &spec.FillStep{Fields: []spec.FillField{{Target: spec.Target{Label: "Search"}, Value: value}}}},
			{Click: &spec.ActStep{Target: spec.Target{Role: "button", Name: "Go"}}},
		}}, "window")
	}
	name, err := shown("", "tea")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := f.State(name)
	if s.Active != nil || s.Waiting == nil || s.Waiting.By != "window" || s.Waiting.From != "https://shop.example.com/search" || len(f.Active()) > 0 {
		t.Errorf("recorded: %+v", s)
	}
	if again, err := shown(name, "coffee"); err != nil || again != name {
		t.Errorf("shown again: %q, %v", again, err)
	}
	if s, _ = f.State(name); !strings.Contains(string(s.Waiting.Tool(s.Waiting.Tools[0].Name).Definition()), `"properties":{"`) {
		t.Errorf("no argument: %s", s.Waiting.Text())
	}
	if err := f.Accept(name, s.Waiting.Hash, "cli"); err != nil {
		t.Fatal(err)
	}
	other, err := shown("", "tea")
	if err != nil || other == name || len(f.List()) != 2 {
		t.Errorf("another one is called %q, %v", other, err)
	}
	if _, err := f.Add(shop(t, "Order"), AddOptions{Accept: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := shown("shop", "tea"); err == nil {
		t.Error("a recording waits to replace a pack of several tools")
	}
}

// A program that adds packs must not fill the store.
func TestPacksAreBounded(t *testing.T) {
	f := newFixture(t)
	for i := range MaxPacks {
		doc := strings.Replace(string(shop(t, "Order").Text()), `"shop"`, fmt.Sprintf(`"shop-%d"`, i), 1)
		if _, err := f.Add(parse(t, doc), AddOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Add(shop(t, "Order"), AddOptions{Accept: true}); !errors.Is(err, ErrFull) || len(f.List()) != MaxPacks {
		t.Errorf("%d packs, %v", len(f.List()), err)
	}
	if err := f.Remove("shop-0", "cli"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add(shop(t, "Order"), AddOptions{}); err != nil {
		t.Error(err)
	}
}

// What could not be stored does not hold: after a restart it would be gone.
func TestWhatIsNotStoredDoesNotHold(t *testing.T) {
	f := newFixture(t)
	f.core.Supersede(errors.New("another hub"))
	if _, err := f.Add(shop(t, "Order"), AddOptions{Accept: true}); err == nil {
		t.Error("it is said to be added")
	}
	f.want(nil, nil)
}

// A call looks its tool up: that must cost next to nothing.
func TestLookupAllocatesNothing(t *testing.T) {
	f := newFixture(t)
	doc := shop(t, "Order")
	if _, err := f.Add(doc, AddOptions{Accept: true}); err != nil {
		t.Fatal(err)
	}
	ref := doc.Ref()
	if n := testing.AllocsPerRun(100, func() { _ = f.PackTool(ref, "find") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
