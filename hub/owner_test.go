package hub

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/call"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// The owner's one button stops what is under way and what comes, and shows that it has. What
// is paused of one client alone is not lifted with it.
func TestPauseEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		tab := w.page("https://shop.example", "k")
		w.register(tab, 0, tools("https://shop.example/", "buy"))
		told := watchOwner(t, w.hub)

		c := w.call(t.Context(), "shop_example__buy")
		tab.Next()
		if err := w.hub.Rules.EditPolicy("command", func(doc *policy.Document) error {
			doc.Pauses = append(doc.Pauses, policy.Pause{Client: "another", Since: time.Now()})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := w.hub.Rules.Pause(consent.ByWindow, true); err != nil {
			t.Fatal(err)
		}
		c.want(t, "PAUSED")
		if !told().Paused {
			t.Error("the owner is not told that everything is paused")
		}
		w.call(t.Context(), "shop_example__buy").want(t, "PAUSED")

		if err := w.hub.Rules.Pause(consent.ByWindow, false); err != nil {
			t.Fatal(err)
		}
		if told().Paused {
			t.Error("the owner is not told that it goes on")
		}
		c = w.call(t.Context(), "shop_example__buy")
		answer(tab, tab.Next(), "bought")
		c.want(t, "bought")
		if left := w.hub.Rules.Policy().Document().Pauses; len(left) != 1 || left[0].Client != "another" {
			t.Errorf("paused is still %+v", left)
		}
	})
}

// The owner sees who is connected and who has called, and no more of them than can be read.
func TestOwnerSeesApps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		tab := w.page("https://shop.example", "k")
		w.register(tab, 0, tools("https://shop.example/", "buy"))
		told := watchOwner(t, w.hub)
		claude := &consent.Caller{Principal: &policy.Principal{ID: "c1", Name: "Claude"}, Said: "claude-code\u202e"}
		gone := w.hub.Owner.Connected(claude)
		if got := fmt.Sprint(told().Apps); got != "[{Claude claude-code 0 0}]" {
			t.Errorf("once it is connected: %s", got)
		}
		c := w.call(t.Context(), "shop_example__buy")
		answer(tab, tab.Next(), "bought")
		c.want(t, "bought")
		time.Sleep(time.Minute)
		if got := fmt.Sprint(told().Apps); got != "[{the owner test 1 250} {Claude claude-code 0 0}]" {
			t.Errorf("once another has called: %s", got)
		}
		time.Sleep(10 * time.Minute)
		gone(true)
		if got := fmt.Sprint(told().Apps); got != "[]" {
			t.Errorf("once both are gone: %s", got)
		}
		for i := range 2 * 256 {
			w.hub.Owner.Connected(&consent.Caller{Principal: policy.Owner, Said: fmt.Sprint(i)})(true)
		}
		if n := len(told().Apps); n > 16 {
			t.Errorf("%d apps are shown", n)
		}
	})
}

// A request says for whom it is by the name that the owner gave, and shows nothing that cannot
// be seen.
func TestRequestsSayForWhom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		tab := w.page("https://shop.example", "k")
		w.register(tab, 0, tools("https://shop.example/", "buy"))
		var names []string
		w.sent = func(_ spec.Request, wait tabtransport.Wait) { names = append(names, wait.For) }
		claude := &consent.Caller{Principal: &policy.Principal{ID: "c1", Name: "Claude\u202e" + strings.Repeat("!", 100)}, Said: "other"}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = w.hub.Calls.Call(t.Context(), call.Request{Name: "website_tool_shop_example__buy", By: claude})
		}()
		answer(tab, tab.Next(), "bought")
		<-done
		if len(names) != 1 || !strings.HasPrefix(names[0], "Claude!!") || len(names[0]) > 80 {
			t.Errorf("sent for %q", names)
		}
	})
}

// watchOwner returns what says what the owner was told last.
func watchOwner(t *testing.T, h *Hub) (told func() spec.OwnerState) { return watchOwnerIn(t, h, "") }

// watchOwnerIn is watchOwner for what a browser is told.
func watchOwnerIn(t *testing.T, h *Hub, browser spec.PeerID) (told func() spec.OwnerState) {
	var last spec.OwnerState
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.Owner.WatchOwner(ctx, browser, func(s spec.OwnerState) { last = s })
	}()
	t.Cleanup(func() { cancel(); <-done })
	return func() spec.OwnerState {
		time.Sleep(250 * time.Millisecond)
		synctest.Wait()
		return last
	}
}
