package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/call"
	"tabhub/hub/lists"
	"tabhub/hub/state"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

func TestCallReachesThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://shop.example.com", "a")
		if r := w.register(p, 0, tools("https://shop.example.com/cart", "add")); r.Accepted != 1 || len(r.Rejected) != 0 {
			t.Fatalf("registered %+v", r)
		}
		w.wantNames("shop_example_com_add")
		c := w.call(t.Context(), "shop_example_com_add")
		answer(p, p.Next(), "done")
		c.want(t, `,"content":[{"type":"text","text":"done"}]}`)
		// The name of the one tab resolves, though it is not listed.
		c = w.call(t.Context(), "shop_example_com_tab1_add")
		answer(p, p.Next(), "again")
		c.want(t, "again")
	})
}

func TestOtherSchemasAreReachedByTheirTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		a, b := w.page("https://e.com", "a"), w.page("https://e.com", "b")
		w.register(a, 0, tools("", "x"))
		other := &spec.Register{Kind: spec.KindTool, Items: []json.RawMessage{json.RawMessage(`{"name":"x","inputSchema":{"type":"object","required":["n"]}}`)}}
		w.register(b, 0, other)
		// The domain's name is the newest's; a is active but has another schema.
		a.Notify(0, &spec.TabState{Visible: ptr(true)})
		synctest.Wait()
		w.call(t.Context(), "e_com_x").want(t, "INVALID_ARGUMENTS")
		c := w.call(t.Context(), "e_com_tab1_x")
		answer(a, a.Next(), "a's")
		c.want(t, "a's")
	})
}

// A client that keeps its prompt's cache must not list again because the user looks elsewhere.
func TestLabelsOfTheActiveTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		b := w.chrome("b1", "s1")
		for i := range int64(3) {
			w.register(b, i+1, tools(fmt.Sprintf("https://e.com/%d", i+1), "x"))
			b.Notify(i+1, &spec.TabState{WindowID: ptr(int64(7)), Active: ptr(i == 1), WindowFocused: ptr(true)})
		}
		synctest.Wait()
		if d := w.description("e_com_x"); d != "[e.com • 3 tabs • Tab 2 Active] does x" {
			t.Errorf("description %q", d)
		}
		// Of a tool that the active tab does not have, it says nothing of that tab.
		w.register(b, 3, tools("https://e.com/3", "x", "y"))
		if d := w.description("e_com_y"); d != "[e.com • 3 tabs] does y" {
			t.Errorf("description %q", d)
		}
		time.Sleep(time.Second)
		var changes atomic.Int32
		stop := w.hub.Lists.Watch(func(lists.Change) { changes.Add(1) })
		defer stop()
		b.Notify(3, &spec.TabState{Active: ptr(true)})
		b.Notify(2, &spec.TabState{Active: ptr(false)})
		time.Sleep(time.Second)
		if d := w.description("e_com_x"); d != "[e.com • 3 tabs • Tab 3 Active] does x" {
			t.Errorf("description %q", d)
		}
		if changes.Load() != 0 {
			t.Errorf("%d notices for a change of labels", changes.Load())
		}
	})
}

// A conversation about a page goes on at that page, though another tab has loaded since.
func TestCallGoesWhereTheLastOneWent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		a, b := w.page("https://e.com", "a"), w.page("https://e.com", "b")
		w.register(a, 0, tools("https://e.com/1", "x"))
		time.Sleep(time.Second)
		w.register(b, 0, tools("https://e.com/2", "x"))
		c := w.call(t.Context(), "e_com_tab1_x")
		answer(a, a.Next(), "first")
		c.want(t, "first")
		c = w.call(t.Context(), "e_com_x")
		answer(a, a.Next(), "second")
		c.want(t, "second")
		if e, err := w.hub.Explain(nil, nil, "website_tool_e_com_x"); err != nil || e.Reason != state.ReasonLastURL {
			t.Errorf("explained %+v, %v", e, err)
		}
	})
}

func TestCallIsNotRunTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		b := w.chrome("b1", "s1")
		safe := `x:"annotations":{"readOnlyHint":true}`
		w.register(b, 1, tools("https://e.com/1", "pay", safe))
		w.register(b, 2, tools("https://e.com/2", "pay", safe))

		pay := w.call(t.Context(), "e_com_pay")
		r := b.Next()
		read := w.call(t.Context(), fmt.Sprintf("e_com_tab%d_x", r.Tab))
		b.Next()
		anywhere := w.call(t.Context(), "e_com_x")
		first := b.Next()
		if first.Tab != r.Tab {
			t.Fatalf("tab %d, want %d", first.Tab, r.Tab)
		}
		b.Notify(r.Tab, &spec.TabClosed{})
		pay.want(t, "TAB_CLOSED")
		read.want(t, "TAB_CLOSED")
		again := b.Next()
		if again.Tab == r.Tab || again.Call.ToolName != "x" {
			t.Errorf("fell over to tab %d, tool %s", again.Tab, again.Call.ToolName)
		}
		answer(b, again, "fell over")
		anywhere.want(t, "fell over")
	})
}

func TestUnsentCallWaitsForItsTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		b := w.chrome("b1", "s1")
		w.register(b, 5, tools("https://e.com/", "x"))
		b.Cut()
		synctest.Wait()
		c := w.call(t.Context(), "e_com_x")
		time.Sleep(20 * time.Second)
		b = w.chrome("b1", "s1")
		w.register(b, 5, tools("https://e.com/", "x"))
		answer(b, b.Next(), "after the sleep")
		c.want(t, "after the sleep")

		b.Cut()
		synctest.Wait()
		c = w.call(t.Context(), "e_com_x")
		time.Sleep(spec.BrowserGrace + time.Second)
		c.want(t, "NOT_CONNECTED")
	})
}

func TestSentCallSurvivesABriefLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		b := w.chrome("b1", "s1")
		w.register(b, 5, tools("https://e.com/", "x"))
		lost := w.call(t.Context(), "e_com_x")
		b.Next()
		b.Cut()
		time.Sleep(spec.BrowserGrace + time.Second)
		lost.want(t, "TOOL_TIMEOUT") // 30 s pass before the grace of 45 s does
	})
}

func TestTimeoutProgressAndCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, tools("https://e.com/", "x"))
		c := w.call(t.Context(), "e_com_x")
		r := p.Next()
		for range 3 {
			time.Sleep(25 * time.Second)
			p.Progress(r, 1)
		}
		answer(p, r, "slow")
		c.want(t, "slow")

		c = w.call(t.Context(), "e_com_x")
		r = p.Next()
		time.Sleep(31 * time.Second)
		c.want(t, "TOOL_TIMEOUT")
		if id := p.Cancelled(); id != r.ID {
			t.Errorf("cancelled %s, want %s", id, r.ID)
		}

		ctx, cancel := context.WithCancelCause(t.Context())
		c = w.call(ctx, "e_com_x")
		r = p.Next()
		cancel(errors.New("the user changed their mind"))
		c.want(t, "changed their mind")
		if id := p.Cancelled(); id != r.ID {
			t.Errorf("cancelled %s, want %s", id, r.ID)
		}
	})
}

// A client's library may refuse progress that falls.
func TestProgressNeverFalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, tools("https://e.com/", "x"))
		var told []float64
		by := *tester
		by.Progress = func(p spec.Progress) {
			told = append(told, p.Progress)
		}
		done := make(chan error, 1)
		go func() {
			_, err := w.hub.Calls.Call(t.Context(), call.Request{Name: "website_tool_e_com_x", By: &by})
			done <- err
		}()
		r := p.Next()
		for _, n := range []float64{5, 2, 7, -1} {
			p.Progress(r, n)
		}
		answer(p, r, "done")
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if want := []float64{5, 5, 7, 7}; !slices.Equal(told, want) {
			t.Errorf("told %v, want %v", told, want)
		}
	})
}

// A person has more time to check a booking than a tool has, and sees that it waits.
func TestCallThatWaitsForThePerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{PersonTimeout: 5 * time.Minute})
		p := w.page("https://e.com", "a")
		w.register(p, 0, tools("https://e.com/", "book"))
		c := w.call(t.Context(), "e_com_book")
		r := p.Next()
		p.Notify(0, &spec.TabState{Waiting: ptr(true)})
		p.Waits(r)
		time.Sleep(4 * time.Minute)
		if tabs := w.hub.Tabs(nil); !tabs[0].Waiting {
			t.Errorf("the tab is %+v", tabs[0])
		}
		p.Notify(0, &spec.TabState{Waiting: ptr(false)})
		answer(p, r, "booked")
		c.want(t, "booked")
		synctest.Wait()
		if tabs := w.hub.Tabs(nil); tabs[0].Waiting {
			t.Errorf("the tab is %+v", tabs[0])
		}

		c = w.call(t.Context(), "e_com_book")
		p.Waits(p.Next())
		time.Sleep(5*time.Minute + time.Second)
		c.want(t, "no answer within 5m0s")
	})
}

func TestCachedToolOpensItsTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/deep", `find:"annotations":{"cache":true}`, "pay"))
		b.Notify(1, &spec.TabClosed{})
		synctest.Wait()
		w.wantNames("e_com_find")
		if d := w.description("e_com_find"); d != "[e.com • Cached] does find" {
			t.Errorf("description %q", d)
		}
		one, two := w.call(t.Context(), "e_com_find"), w.call(t.Context(), "e_com_find")
		r := b.Next()
		if r.Method != spec.MethodOpenTab {
			t.Fatalf("asked for %s", r.Method)
		}
		b.Answer(r, spec.Response{Result: json.RawMessage(`{"tabId":9}`)}, nil)
		time.Sleep(3 * time.Second)
		w.register(b, 9, tools("https://e.com/deep", `find:"annotations":{"cache":true}`))
		for range 2 {
			r := b.Next()
			if r.Tab != 9 || r.Call.ToolName != "find" {
				t.Fatalf("went to %+v", r)
			}
			answer(b, r, "found")
		}
		one.want(t, "found")
		two.want(t, "found")

		b.Notify(9, &spec.TabClosed{})
		synctest.Wait()
		c := w.call(t.Context(), "e_com_find")
		b.Answer(b.Next(), spec.Response{Result: json.RawMessage(`{"tabId":10}`)}, nil)
		time.Sleep(spec.OpenTabMaxWait + time.Second)
		c.want(t, "TAB_NOT_FOUND")
	})
}

// A site whose tools the user wants kept is opened at its root, if no tab has said where it was.
func TestCacheOfASiteWithoutAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		for domain, origin := range map[spec.Domain]string{
			"e.com": "https://e.com", "e.com:8443": "https://e.com:8443", "http_e.com": "http://e.com", "localhost:5173": "http://localhost:5173",
			"http_192.0.2.7:81": "http://192.0.2.7:81", "0_0_0_0_0_0_0_1": "http://[::1]",
		} {
			if err := w.hub.SetSite(storage.Site{Domain: domain, Cache: ptr(true)}); err != nil {
				t.Fatal(err)
			}
			b := w.chrome("b1", "s1")
			w.register(b, 1, tools("", fmt.Sprintf(`find:"origin":%q`, origin)))
			name := strings.TrimPrefix(w.hub.Lists.List(lists.ListTools).Items[0].Name, "website_tool_")
			b.Notify(1, &spec.TabClosed{})
			synctest.Wait()
			w.wantNames(name)
			if e, err := w.hub.Explain(nil, nil, "website_tool_"+name); err != nil || e.OpenURL != origin+"/" {
				t.Errorf("%s: %+v, %v", domain, e, err)
			}
			c := w.call(t.Context(), name)
			b.Answer(b.Next(), spec.Response{Result: json.RawMessage(`{"tabId":9}`)}, nil)
			w.register(b, 9, tools("", fmt.Sprintf(`find:"origin":%q`, origin)))
			answer(b, b.Next(), "found")
			c.want(t, "found")
			if err := w.hub.SetSite(storage.Site{Domain: domain, Cache: ptr(false)}); err != nil {
				t.Fatal(err)
			}
			b.Notify(9, &spec.TabClosed{})
			synctest.Wait()
			w.wantNames("")
		}
	})
}

// A tab whose address is not known leaves the one that is known of its site.
func TestCacheKeepsTheAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/deep", `find:"annotations":{"cache":true}`))
		b.Notify(1, &spec.TabClosed{})
		w.register(b, 2, tools("", `find:"origin":"https://e.com","annotations":{"cache":true}`))
		b.Notify(2, &spec.TabClosed{})
		synctest.Wait()
		if e, err := w.hub.Explain(nil, nil, "website_tool_e_com_find"); err != nil || e.OpenURL != "https://e.com/deep" {
			t.Errorf("%+v, %v", e, err)
		}
	})
}

func TestNoBrowserToOpenIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, tools("https://e.com/deep", "find"))
		if err := w.hub.SetSite(storage.Site{Domain: "e.com", Cache: ptr(true)}); err != nil {
			t.Fatal(err)
		}
		p.Notify(0, &spec.TabClosed{})
		synctest.Wait()
		w.wantNames("e_com_find")
		w.call(t.Context(), "e_com_find").want(t, "open https://e.com/deep in a browser")
		if err := w.hub.SetSite(storage.Site{Domain: "e.com", Cache: ptr(false)}); err != nil {
			t.Fatal(err)
		}
		w.wantNames("")
	})
}

func TestLimitPerTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, tools("", "x"))
		var calls []*pendingCall
		for range spec.MaxCallsPerTab {
			calls = append(calls, w.call(t.Context(), "e_com_x"))
		}
		synctest.Wait()
		w.call(t.Context(), "e_com_x").want(t, "QUEUE_FULL")
		for range calls {
			answer(p, p.Next(), "ok")
		}
		for _, c := range calls {
			c.want(t, "ok")
		}
		if n := len(w.record.Entries(record.Query{Event: record.Call})); n != spec.MaxCallsPerTab+1 {
			t.Errorf("%d records of %d calls", n, spec.MaxCallsPerTab+1)
		}
	})
}

func TestCloseEndsCallsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, tools("", "x"))
		quick, slow := w.call(t.Context(), "e_com_x"), w.call(t.Context(), "e_com_x")
		r := p.Next()
		p.Next()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		go func() {
			time.Sleep(time.Second)
			answer(p, r, "in time")
		}()
		if err := w.hub.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
		<-quick.done
		<-slow.done
		got := string(quick.result) + string(slow.result)
		if !strings.Contains(got, "in time") || !strings.Contains(got, "NOT_CONNECTED") {
			t.Errorf("calls ended with %s", got)
		}
		w.call(t.Context(), "e_com_x").want(t, "shutting down")
	})
}

func TestLoadingTabIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/", "x"))
		c := w.call(t.Context(), "e_com_x")
		for range 2 {
			b.Answer(b.Next(), spec.Response{}, &spec.Error{Code: spec.CodeTabNotFound, Message: "loading", Data: spec.NotDelivered})
		}
		answer(b, b.Next(), "third time")
		c.want(t, "third time")
		c = w.call(t.Context(), "e_com_x")
		b.Answer(b.Next(), spec.Response{}, &spec.Error{Code: spec.CodeTabNotFound, Message: "navigated"})
		c.want(t, "TAB_CLOSED")
	})
}

// A user who lets a client read without being asked must not find that it has changed
// something: not through another tab's tool of the same name, not by an opened tab, and not
// because a page that nobody vouches for says that it only reads.
func TestReadOnlyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		const reads = `:"annotations":{"readOnlyHint":true}`
		a, b := w.page("https://e.com", "a"), w.page("https://e.com", "b")
		w.register(a, 0, tools("https://e.com/", "x"+reads))
		w.register(b, 0, tools("https://e.com/", "x"))
		claimed := w.dial(tabtransport.Conn{ClaimedOrigin: "https://bank.com", Dialect: spec.Subprotocol})
		w.register(claimed, 0, tools("https://bank.com/", "z"+reads))
		chrome := w.chrome("b1", "s1")
		w.register(chrome, 1, tools("https://c.com/", `y:"annotations":{"cache":true}`))
		chrome.Notify(1, &spec.TabClosed{})
		synctest.Wait()
		try := func(name string) (json.RawMessage, error) {
			return w.hub.Calls.Call(t.Context(), call.Request{Name: "website_tool_" + name, By: tester.Through("proxy_read"), ReadOnly: true})
		}
		for _, name := range []string{"e_com_tab2_x", "c_com_y", "unverified_bank_com_z"} {
			if r, err := try(name); !errors.Is(err, call.ErrNotReadOnly) {
				t.Errorf("%s: %s, %v", name, r, err)
			}
		}
		w.register(a, 0, tools("https://e.com/", `x:"title":"X",`+reads[1:])) // the name is the newest's
		b.Notify(0, &spec.TabState{Active: new(true), WindowFocused: new(true)})
		synctest.Wait()
		if r, err := try("e_com_x"); !errors.Is(err, call.ErrNotReadOnly) {
			t.Errorf("at another tab: %s, %v", r, err)
		}
		go func() { answer(a, a.Next(), "read") }()
		if r, err := try("e_com_tab1_x"); err != nil || !strings.Contains(string(r), "read") {
			t.Errorf("%s, %v", r, err)
		}
		if es := w.record.Entries(record.Query{Event: record.Call}); len(es) != 1 || es[0].Via != "proxy_read" {
			t.Errorf("recorded %+v", es)
		}
	})
}
