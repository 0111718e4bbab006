package browsertool_test

import (
	"slices"
	"testing"
	"time"

	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// Agents claim tabs, see which client has which, and leave each other's alone.
func TestClaim(t *testing.T) {
	w := newRig(t)
	b := w.browser("b1", everything, "https://shop.example/", "https://shop.example/2", "https://other.example/")
	b.register(1, "https://shop.example/", "search")
	b.register(2, "https://shop.example/2", "search")
	ada := &consent.Caller{Principal: &policy.Principal{ID: "ada", Name: "Ada"}, Session: "1"}
	bob := &consent.Caller{Principal: &policy.Principal{ID: "bob", Name: "Bob"}, Session: "2"}
	by := func(who *consent.Caller, args string) result {
		t.Helper()
		return w.callBy(t.Context(), who, "browser_tab", args)
	}
	type claim struct {
		TabID, URL, Name string
		Until            time.Time
	}
	var got claim
	by(ada, `{"action":"claim"}`).fails(spec.FailInvalidArguments, "pass tabId, or url")
	by(ada, `{"action":"claim","tabId":"1","url":"https://e.com/"}`).fails(spec.FailInvalidArguments, "not both")
	by(ada, `{"action":"claim","tabId":"77"}`).fails(spec.FailTabNotFound, "not open")
	by(ada, `{"action":"claim","tabId":"1","minutes":0}`).fails(spec.FailInvalidArguments, "minutes")
	w.call("browser_tab", `{"action":"claim","tabId":"1"}`).fails(spec.FailToolError, "only a client's session")

	by(ada, `{"action":"claim","tabId":"1","name":"buying\u202e tea","minutes":60}`).into(&got)
	if left := time.Until(got.Until); got.Name != "Ada (buying tea)" || got.URL != "https://shop.example/" || left < 59*time.Minute || left > time.Hour {
		t.Errorf("claimed %+v", got)
	}
	held := got.TabID
	by(ada, `{"action":"claim"}`).into(&got) // the tab that it prefers, on other terms
	if left := time.Until(got.Until); got.TabID != held || got.Name != "Ada" || left > 10*time.Minute {
		t.Errorf("claimed again: %+v", got)
	}
	for _, args := range []string{`{"action":"claim","tabId":"1"}`, `{"action":"use","tabId":"1"}`, `{"action":"close","tabId":"1"}`, `{"action":"activate","tabId":"1"}`} {
		by(bob, args).fails(spec.FailTabLeased, "leased by Ada until")
	}
	by(bob, `{"action":"release","tabId":"1"}`).fails(spec.FailInvalidArguments, "you have no lease")
	w.callBy(t.Context(), bob, "browser_page", `{"action":"text","tabId":"1"}`).fails(spec.FailTabLeased, "leased by Ada")
	w.callBy(t.Context(), bob, "browser_page", `{"action":"goto","tabId":"1","url":"https://e.com/"}`).fails(spec.FailTabLeased, "leased by Ada")

	// A new one at an address.
	by(bob, `{"action":"claim","url":"https://shop.example/3","reads":true}`).into(&got)
	opened := got.TabID
	w.callBy(t.Context(), ada, "browser_page", `{"action":"text","tabId":"`+opened+`"}`)

	type entry struct {
		TabID, HeldBy, Agent string
		Mine                 bool
	}
	var list struct{ Tabs []entry }
	by(bob, `{"action":"list"}`).into(&list)
	want := []entry{{held, "Ada", "", false}, {held[:len(held)-1] + "2", "", "", false}, {held[:len(held)-1] + "3", "", "", false}, {opened, "Bob", "Bob", true}}
	if !slices.Equal(list.Tabs, want) {
		t.Errorf("listed %+v, want %+v", list.Tabs, want)
	}

	// A client that may know nothing of a site learns nothing from the name of a lease there either.
	eve := &consent.Caller{Principal: &policy.Principal{ID: "eve", Name: "Eve"}, Session: "3"}
	if err := w.hub.Rules.EditPolicy("test", func(d *policy.Document) error {
		d.Rules = append(d.Rules, policy.Rule{ID: "r1", Effect: policy.Deny, Client: "eve", Site: "shop.example"})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	list.Tabs = nil
	by(eve, `{"action":"list"}`).into(&list)
	if got := list.Tabs[0]; got.HeldBy != "another client" || list.Tabs[3].Agent != "" || got.TabID != held {
		t.Errorf("of a hidden site it is listed %+v", list.Tabs)
	}

	var closed struct {
		Closed  int
		Message string
	}
	by(bob, `{"action":"close_others","tabId":"`+opened+`"}`).into(&closed)
	if closed.Closed != 2 || closed.Message != "2 tabs closed; 1 left open, which other clients lease" {
		t.Errorf("%+v", closed)
	}
	var released struct{ Released []string }
	by(ada, `{"action":"release"}`).into(&released)
	if !slices.Equal(released.Released, []string{held}) {
		t.Errorf("released %q", released.Released)
	}
	by(bob, `{"action":"use","tabId":"`+held+`"}`).into(&struct{}{})
	by(bob, `{"action":"claim"}`).into(&got)
	if got.TabID != held {
		t.Errorf("after use, claim took %s", got.TabID)
	}
}
