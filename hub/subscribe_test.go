package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/lists"
	"tabhub/spec"
	"tabhub/tabtransport"
)

func TestResourceSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		cart := register(spec.KindResource, "https://e.com/", `{"uri":"shop://cart","name":"cart"}`)
		p := w.page("https://e.com", "a")
		w.register(p, 0, cart)
		time.Sleep(time.Second)
		updated := make(chan []string, 10)
		defer w.hub.Lists.Watch(func(c lists.Change) { updated <- c.Updated })()

		asked := answering(p, `{}`)
		stop, err := w.hub.Calls.SubscribeResource(t.Context(), tester, "tabhub://e.com/shop://cart")
		if err != nil {
			t.Fatal(err)
		}
		if r := <-asked; r.Method != spec.MethodSubscribeResource {
			t.Errorf("asked for %s", r.Method)
		}
		p.Notify(0, &spec.ResourceUpdated{URI: "shop://cart"})
		p.Notify(0, &spec.ResourceUpdated{URI: "shop://nobody-asked"})
		if got := <-updated; !slices.Equal(got, []string{"tabhub://e.com/shop://cart"}) {
			t.Errorf("updated %q", got)
		}
		asked = answering(p, `{}`)
		stop()
		<-asked
		p.Notify(0, &spec.ResourceUpdated{URI: "shop://cart"})
		time.Sleep(time.Minute)
		if len(updated) != 0 {
			t.Errorf("told after the end: %q", <-updated)
		}
	})
}

// follower is a page that remembers what it is told of subscriptions.
type follower struct {
	*tabtransport.Local
	w    *fixture
	mu   sync.Mutex
	told []string // "shop://cart on"
}

func (w *fixture) follower(key string) *follower {
	w.t.Helper()
	f := &follower{w: w}
	conn := tabtransport.Conn{Origin: "https://e.com", Dialect: spec.Subprotocol, Hello: &spec.Hello{ProtocolVersion: spec.ProtocolVersion, TabKey: key}}
	local, err := w.peers.Join(w.t.Context(), conn, func(_ context.Context, in tabtransport.Incoming) (spec.Response, error) {
		m, ok := in.Request.(*spec.SubscribeResource)
		if !ok {
			w.t.Errorf("asked for %s", in.Request.Method())
			return spec.Response{}, nil
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.told = append(f.told, m.URI+map[bool]string{true: " on", false: " off"}[m.Subscribe])
		return spec.Response{Result: json.RawMessage(`{}`)}, nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	f.Local = local
	w.t.Cleanup(local.Close)
	return f
}

// load registers resources, as a page does whenever it is loaded.
func (f *follower) load(items ...string) {
	f.w.t.Helper()
	if _, err := f.Ask(f.w.t.Context(), 0, register(spec.KindResource, "https://e.com/", items...)); err != nil {
		f.w.t.Fatal(err)
	}
}

// wantTold waits until all is quiet and checks what the page was told since the last
// time.
func (f *follower) wantTold(want ...string) {
	f.w.t.Helper()
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.Sort(f.told)
	if !slices.Equal(f.told, want) {
		f.w.t.Errorf("the page was told %q, want %q", f.told, want)
	}
	f.told = nil
}

func (w *fixture) subscribe(uri string) (stop func()) {
	w.t.Helper()
	stop, err := w.hub.Calls.SubscribeResource(w.t.Context(), tester, uri)
	if err != nil {
		w.t.Fatal(err)
	}
	return stop
}

const (
	cartItem  = `{"uri":"shop://cart","name":"cart"}`
	orderItem = `{"uriTemplate":"shop://order/{id}","name":"order"}`
)

// Which tab a domain's resource is read from changes with every click, so all that
// have it must tell of its updates, also those that are opened later.
func TestSubscriptionReachesAllTabs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		a, b := w.follower("a"), w.follower("b")
		a.load(cartItem, orderItem)
		b.load(cartItem, orderItem)
		cart, order := w.subscribe("tabhub://e.com/shop://cart"), w.subscribe("tabhub://e.com/shop://order/7")
		a.wantTold("shop://cart on", "shop://order/7 on")
		b.wantTold("shop://cart on", "shop://order/7 on")
		c := w.follower("c")
		c.load(cartItem)
		c.wantTold("shop://cart on")
		a.wantTold()
		cart()
		order()
		a.wantTold("shop://cart off", "shop://order/7 off")
		c.wantTold("shop://cart off")
	})
}

// A page that was reloaded has forgotten whom to tell, though it offers what it did
// before.
func TestReloadedPageIsToldAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		a := w.follower("a")
		a.load(cartItem)
		defer w.subscribe("tabhub://e.com/shop://cart")()
		a.wantTold("shop://cart on")
		a.load(cartItem)
		a.wantTold("shop://cart on")
		a.Close()
		a = w.follower("a")
		a.load(cartItem)
		a.wantTold("shop://cart on")
		a.Send(0, &spec.TabClosed{})
		synctest.Wait()
		b := w.follower("b") // the page's next tab, when there was none
		b.load(cartItem)
		b.wantTold("shop://cart on")
	})
}

// One client's end must not silence a resource that another follows by another name.
func TestUnsubscribeLeavesOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		a, b := w.follower("a"), w.follower("b")
		a.load(cartItem)
		b.load(cartItem)
		domain, own := w.subscribe("tabhub://e.com/shop://cart"), w.subscribe("tabhub://e.com/tab2/shop://cart")
		a.wantTold("shop://cart on")
		b.wantTold("shop://cart on", "shop://cart on")
		domain()
		a.wantTold("shop://cart off")
		b.wantTold()

		updated := make(chan []string, 10)
		defer w.hub.Lists.Watch(func(c lists.Change) { updated <- c.Updated })()
		b.Send(0, &spec.ResourceUpdated{URI: "shop://cart"})
		if got := <-updated; !slices.Equal(got, []string{"tabhub://e.com/tab2/shop://cart"}) {
			t.Errorf("updated %q", got)
		}
		own()
		b.wantTold("shop://cart off")
	})
}

// A template may begin with a variable; what it makes has a public URI of its own
// kind, and updates must find it.
func TestUpdateOfAnyTemplate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		a := w.follower("a")
		a.load(`{"uriTemplate":"{+any}","name":"any"}`)
		defer w.subscribe("tabhub://e.com/tab0/tab9/x")()
		a.wantTold("tab9/x on")
		updated := make(chan []string, 10)
		defer w.hub.Lists.Watch(func(c lists.Change) { updated <- c.Updated })()
		time.Sleep(time.Second)
		for len(updated) > 0 {
			<-updated
		}
		a.Send(0, &spec.ResourceUpdated{URI: "tab9/x"})
		if got := <-updated; !slices.Equal(got, []string{"tabhub://e.com/tab0/tab9/x"}) {
			t.Errorf("updated %q", got)
		}
	})
}

// However clients come and go, in the end each page has been told last what is
// wanted of it.
func TestSubscriptionsSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		var pages []*follower
		for i := range 3 {
			f := w.follower(fmt.Sprint("k", i))
			f.load(cartItem, orderItem)
			pages = append(pages, f)
		}
		var clients sync.WaitGroup
		for i := range 40 {
			clients.Go(func() {
				uri := []string{"tabhub://e.com/shop://cart", "tabhub://e.com/tab2/shop://cart", "tabhub://e.com/shop://order/7"}[i%3]
				for range 30 {
					stop, err := w.hub.Calls.SubscribeResource(t.Context(), tester, uri)
					if err != nil {
						t.Error(err)
						return
					}
					stop()
				}
			})
		}
		clients.Go(func() {
			for range 30 {
				pages[0].load(cartItem, orderItem)
				time.Sleep(100 * time.Millisecond)
			}
		})
		clients.Wait()
		defer w.subscribe("tabhub://e.com/shop://order/7")()
		synctest.Wait()
		for i, f := range pages {
			last := map[string]string{}
			for _, line := range f.told {
				uri, on, _ := strings.Cut(line, " ")
				last[uri] = on
			}
			if last["shop://cart"] != "off" || last["shop://order/7"] != "on" {
				t.Errorf("page %d was told last %v", i, last)
			}
		}
	})
}

// A tab that hangs must not keep clients, or the hub, from ending.
func TestUnsubscribeDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, register(spec.KindResource, "https://e.com/", cartItem))
		asked := answering(p, `{}`)
		stop := w.subscribe("tabhub://e.com/shop://cart")
		<-asked
		start := time.Now()
		stop()
		synctest.Wait() // the page has been told, and does not answer
		if err := w.hub.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("took %v", took)
		}
	})
}
