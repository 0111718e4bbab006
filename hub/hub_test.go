package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest"
)

// world is a Hub with real parts: the in-memory transport and store.
type world struct {
	t     *testing.T
	hub   *Hub
	peers *tabtransport.Peers
	store storage.DomainToolStorage
}

func newWorld(t *testing.T, opts Options) *world {
	w := &world{t: t, store: &storage.Memory{}}
	w.start(opts)
	return w
}

// start opens the Hub over the world's store, as a new process would.
func (w *world) start(opts Options) {
	w.t.Helper()
	w.peers = tabtransport.NewMemory()
	opts.User, opts.Transport, opts.Store = spec.LocalUser, w.peers, w.store
	h, err := Open(w.t.Context(), opts)
	if err != nil {
		w.t.Fatal(err)
	}
	w.hub = h
	w.t.Cleanup(func() { w.check(); h.Close(context.Background()) })
}

func (w *world) check() {
	w.t.Helper()
	if err := w.hub.ConsistencyCheck(); err != nil {
		w.t.Errorf("inconsistent: %v", err)
	}
}

// page connects a single tab of an origin.
func (w *world) page(origin, key string) tabtest.End {
	w.t.Helper()
	return w.dial(tabtransport.Conn{Origin: origin, Dialect: spec.Subprotocol, Hello: &spec.Hello{ProtocolVersion: spec.ProtocolVersion, TabKey: key}})
}

// chrome connects the companion extension of a browser.
func (w *world) chrome(id, session string) tabtest.End {
	w.t.Helper()
	return w.dial(chromeConn(id, session, ""))
}

func chromeConn(id, session, secret string) tabtransport.Conn {
	return tabtransport.Conn{
		Origin: "chrome-extension://x", Attested: true, Dialect: spec.Subprotocol,
		Hello: &spec.Hello{
			ProtocolVersion: spec.ProtocolVersion, BrowserID: spec.BrowserID(id), Session: session, BrowserSecret: secret, BrowserName: "Chrome",
			Capabilities: []spec.Capability{spec.CapOpenTab, spec.CapListTabs},
		},
	}
}

func (w *world) dial(c tabtransport.Conn) tabtest.End {
	w.t.Helper()
	e, err := tabtest.Local(w.peers)(w.t, c)
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

// tools makes a registration of simple tools. A name may carry extra members after
// a colon: `name:"annotations":{…}`.
func tools(url string, names ...string) *spec.Register {
	m := &spec.Register{Kind: spec.KindTool, TabURL: url}
	for _, n := range names {
		name, extra, ok := strings.Cut(n, ":")
		if ok {
			extra = "," + extra
		}
		m.Items = append(m.Items, json.RawMessage(fmt.Sprintf(`{"name":%q,"description":"does %s","inputSchema":{"type":"object"}%s}`, name, name, extra)))
	}
	return m
}

func (w *world) register(e tabtest.End, tab int64, m *spec.Register) spec.Registered {
	w.t.Helper()
	raw, err := e.Ask(tab, m)
	if err != nil {
		w.t.Fatalf("register: %v", err)
	}
	var r spec.Registered
	if err := json.Unmarshal(raw, &r); err != nil {
		w.t.Fatal(err)
	}
	return r
}

// names returns the listed names.
func (w *world) names() string {
	var names []string
	for _, it := range w.hub.List(ListTools).Items {
		names = append(names, strings.TrimPrefix(it.Name, "website_tool_"))
	}
	return strings.Join(names, " ")
}

func (w *world) wantNames(want string) {
	w.t.Helper()
	if got := w.names(); got != want {
		w.t.Errorf("listed %q, want %q", got, want)
	}
}

// description returns the description of a listed tool.
func (w *world) description(name string) string {
	w.t.Helper()
	it, err := w.hub.Find(spec.KindTool, "website_tool_"+name)
	if err != nil {
		w.t.Fatal(err)
	}
	var d struct{ Description string }
	if err := json.Unmarshal(it.JSON, &d); err != nil {
		w.t.Fatal(err)
	}
	return d.Description
}

// call is a Call under way.
type call struct {
	result json.RawMessage
	err    error
	done   chan struct{}
}

func (w *world) call(ctx context.Context, name string) *call {
	c := &call{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.result, c.err = w.hub.Call(ctx, Call{Name: "website_tool_" + name, Client: "test"})
	}()
	return c
}

// want waits for the call and checks that its result, or error, holds a text.
func (c *call) want(t *testing.T, text string) {
	t.Helper()
	<-c.done
	got := string(c.result)
	if c.err != nil {
		got = c.err.Error()
	}
	if !strings.Contains(got, text) {
		t.Errorf("call ended with %s, want something with %q", got, text)
	}
}

func answer(e tabtest.End, r tabtest.Request, text string) {
	e.Answer(r, spec.Response{Result: json.RawMessage(fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, text))}, nil)
}

func ptr[T any](v T) *T { return &v }

func TestCallReachesThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		p := w.page("https://shop.example.com", "a")
		if r := w.register(p, 0, tools("https://shop.example.com/cart", "add")); r.Accepted != 1 || len(r.Rejected) != 0 {
			t.Fatalf("registered %+v", r)
		}
		w.wantNames("shop_example_com_add")
		c := w.call(t.Context(), "shop_example_com_add")
		answer(p, p.Next(), "done")
		c.want(t, `{"content":[{"type":"text","text":"done"}]}`)
		// The name of the one tab resolves, though it is not listed.
		c = w.call(t.Context(), "shop_example_com_tab1_add")
		answer(p, p.Next(), "again")
		c.want(t, "again")
	})
}

func TestSecondTabRenamesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		a, b := w.page("https://e.com", "a"), w.page("https://e.com", "b")
		w.register(a, 0, tools("https://e.com/1", "x"))
		w.wantNames("e_com_x")
		w.register(b, 0, tools("https://e.com/2", "x"))
		w.wantNames("e_com_x e_com_tab1_x e_com_tab2_x")
		a.Notify(0, &spec.TabClosed{})
		synctest.Wait()
		w.wantNames("e_com_x")
		// A new tab does not get the number of the one that closed.
		c := w.page("https://e.com", "c")
		w.register(c, 0, tools("https://e.com/3", "x"))
		w.wantNames("e_com_x e_com_tab2_x e_com_tab3_x")
		w.call(t.Context(), "e_com_tab1_x").want(t, "TAB_NOT_FOUND")
		w.call(t.Context(), "e_com_nothing").want(t, "unknown tool")
	})
}

func TestOtherSchemasAreReachedByTheirTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
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

func TestRouteToTheActiveTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		b := w.chrome("b1", "s1")
		for i := range int64(3) {
			w.register(b, i+1, tools(fmt.Sprintf("https://e.com/%d", i+1), "x"))
			b.Notify(i+1, &spec.TabState{WindowID: ptr(int64(7)), Active: ptr(i == 1), WindowFocused: ptr(true)})
		}
		synctest.Wait()
		if d := w.description("e_com_x"); d != "[e.com • 3 tabs • Tab 2 Active] does x" {
			t.Errorf("description %q", d)
		}
		c := w.call(t.Context(), "e_com_x")
		r := b.Next()
		if r.Tab != 2 {
			t.Errorf("went to tab %d, want the active one", r.Tab)
		}
		answer(b, r, "")
		c.want(t, "content")

		time.Sleep(time.Second)
		var changes atomic.Int32
		stop := w.hub.Watch(func(Change) { changes.Add(1) })
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
		e, err := w.hub.Explain("website_tool_e_com_x")
		if err != nil || e.Tab == nil || e.Tab.Addr.Tab != 3 || e.Reason != reasonActive {
			t.Errorf("explained %+v, %v", e, err)
		}
	})
}

func TestReloadKeepsNumberAndIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		a := w.page("https://e.com", "a")
		w.register(a, 0, tools("https://e.com/", "x"))
		time.Sleep(time.Second)
		var changes atomic.Int32
		defer w.hub.Watch(func(Change) { changes.Add(1) })()
		a.Cut()
		time.Sleep(2 * time.Second)
		w.wantNames("e_com_x")
		a = w.page("https://e.com", "a")
		w.register(a, 0, tools("https://e.com/", "x"))
		time.Sleep(time.Minute)
		if changes.Load() != 0 {
			t.Errorf("a reload sent %d notices", changes.Load())
		}
		c := w.call(t.Context(), "e_com_tab1_x")
		answer(a, a.Next(), "still tab 1")
		c.want(t, "still tab 1")
		a.Cut()
		time.Sleep(spec.TabGrace + time.Second)
		w.wantNames("")
		if changes.Load() != 1 {
			t.Errorf("%d notices when the last tab went, want 1", changes.Load())
		}
	})
}

func TestBurstIsOneNotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		var changes atomic.Int32
		defer w.hub.Watch(func(Change) { changes.Add(1) })()
		for i := range 200 {
			p := w.page(fmt.Sprintf("https://s%d.com", i), "a")
			p.Notify(0, tools("", "x", "y"))
		}
		time.Sleep(time.Second)
		if n := len(w.hub.List(ListTools).Items); n != 400 || changes.Load() != 1 {
			t.Errorf("%d tools, %d notices", n, changes.Load())
		}
	})
}

func TestRegistrationIsIdempotent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, tools("https://e.com/", "x", "y"))
		before := w.hub.List(ListTools)
		w.register(p, 0, tools("https://e.com/", "x", "y"))
		if w.hub.List(ListTools) != before {
			t.Error("the same registration made a new list")
		}
		// An update before a register, and one that takes a tool away.
		m := tools("https://e.com/", "y")
		m.Update = true
		w.register(p, 0, m)
		w.wantNames("e_com_y")
	})
}

func TestBadItemsAreQuarantined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		p := w.page("https://e.com", "a")
		m := tools("", "good")
		for _, bad := range []string{
			`{"description":"no name"}`, `[]`, `"x"`, `{"name":""}`, `{"name":7}`, `{"name":"a","inputSchema":[]}`,
			`{"name":"b","inputSchema":{"type":"string"}}`, `{"name":"c","annotations":[]}`, `{"name":"d","annotations":{"readOnlyHint":"yes"}}`,
			`{"name":"e","_meta":1}`, `{"name":"good"}`, `{"name":"f","outputSchema":{"type":["object","null"]}}`, `{"name":"` + strings.Repeat("n", 129) + `"}`,
			`{"name":"g","icons":[{}]}`, `{"name":"h","frameId":"top"}`,
		} {
			m.Items = append(m.Items, json.RawMessage(bad))
		}
		r := w.register(p, 0, m)
		if r.Accepted != 1 || len(r.Rejected) != len(m.Items)-1 {
			t.Errorf("accepted %d, rejected %d of %d", r.Accepted, len(r.Rejected), len(m.Items))
		}
		w.wantNames("e_com_good")
		if info := w.hub.Tabs()[0]; len(info.Rejected) != len(m.Items)-1 {
			t.Errorf("%d rejections are visible", len(info.Rejected))
		}
		for _, it := range w.hub.List(ListTools).Items {
			if !json.Valid(it.JSON) {
				t.Errorf("listed %s", it.JSON)
			}
		}
	})
}

func TestNothingOfAToolIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		p := w.page("https://e.com", "a")
		rest := `"title":"T","inputSchema":{"type":"object","$defs":{"n":{"const":9007199254740993}},"properties":{"n":{"$ref":"#/$defs/n"}}},"outputSchema":{"type":"object"},"x-unknown":{"a":[1.50,1e2]},"annotations":{"title":"A","readOnlyHint":true,"odd":1},"_meta":{"k":"\u00e9\/"}`
		w.register(p, 0, &spec.Register{Kind: spec.KindTool, Items: []json.RawMessage{json.RawMessage(`{"name":"a.b","description":"d \"q\"",` + rest + `}`)}})
		got := string(w.hub.List(ListTools).JSON)
		// The schemas come last, whatever the order they came in; each member stays its bytes.
		for _, member := range []string{
			`"title":"T"`, `"inputSchema":{"type":"object","$defs":{"n":{"const":9007199254740993}},"properties":{"n":{"$ref":"#/$defs/n"}}}`,
			`"outputSchema":{"type":"object"}`, `"x-unknown":{"a":[1.50,1e2]}`, `"annotations":{"title":"A","readOnlyHint":true,"odd":1}`, `"_meta":{"k":"\u00e9\/"}`, `d \"q\"`,
		} {
			if !strings.Contains(got, member) {
				t.Errorf("%s is not in %s", member, got)
			}
		}
		w.wantNames("e_com_a_b")
	})
}

func TestCallIsNotRunTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
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
		w := newWorld(t, Options{})
		secret := ""
		b := w.dial(chromeConn("b1", "s1", secret))
		w.register(b, 5, tools("https://e.com/", "x"))
		b.Cut()
		synctest.Wait()
		c := w.call(t.Context(), "e_com_x")
		time.Sleep(20 * time.Second)
		b = w.dial(chromeConn("b1", "s1", ""))
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
		w := newWorld(t, Options{})
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
		w := newWorld(t, Options{})
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

func TestCachedToolOpensItsTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
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

func TestNoBrowserToOpenIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
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

func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		b := w.chrome("b1", "s1")
		w.register(b, 1, tools("https://e.com/1", `find:"annotations":{"cache":true}`, "pay"))
		w.register(b, 2, tools("https://e.com/2", "pay"))
		w.register(b, 3, tools("https://f.com/", "x"))
		w.hub.Close(context.Background())
		time.Sleep(10 * time.Minute)

		w.start(Options{})
		w.wantNames("e_com_find")
		// A call to a tab that has not rejoined waits for it.
		c := w.call(t.Context(), "e_com_tab2_pay")
		time.Sleep(time.Second)
		b = w.dial(chromeConn("b1", "s1", ""))
		w.register(b, 2, tools("https://e.com/2", "pay"))
		answer(b, b.Next(), "the same tab 2")
		c.want(t, "the same tab 2")
		w.register(b, 1, tools("https://e.com/1", `find:"annotations":{"cache":true}`, "pay"))
		w.wantNames("e_com_find e_com_pay e_com_tab1_pay e_com_tab2_pay")
		// What was not heard of again is dropped.
		time.Sleep(spec.BrowserGrace)
		w.call(t.Context(), "f_com_x").want(t, "unknown tool")

		// After a restart of the browser its tab numbers are others.
		b.Cut()
		b = w.dial(chromeConn("b1", "s2", ""))
		w.register(b, 1, tools("https://e.com/1", "pay"))
		c = w.call(t.Context(), "e_com_tab3_pay")
		answer(b, b.Next(), "tab 3")
		c.want(t, "tab 3")
	})
}

func TestBrowserSecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		accept := func(secret string) (string, error) {
			acc, err := (*handler)(w.hub).Connect(chromeConn("b1", "s1", secret))
			return acc.Result.BrowserSecret, err
		}
		first, err := accept("")
		if err != nil || first == "" {
			t.Fatalf("first hello: %q, %v", first, err)
		}
		// The answer was lost: the browser asks again, without a secret.
		second, err := accept("")
		if err != nil || second == "" || second == first {
			t.Fatalf("second hello: %q, %v", second, err)
		}
		if again, err := accept(second); err != nil || again != "" {
			t.Fatalf("hello with the secret: %q, %v", again, err)
		}
		for _, wrong := range []string{"", first, "x"} {
			if _, err := accept(wrong); err == nil {
				t.Errorf("secret %q was taken", wrong)
			}
		}
	})
}

func TestClaimedOriginIsUnverified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		real := w.page("https://bank.com", "a")
		w.register(real, 0, tools("https://bank.com/", "pay"))
		w.register(w.page("https://evil.com", "a"), 0, tools("https://bank.com/", "pay"))
		liar := w.dial(tabtransport.Conn{Origin: "https://evil.com", ClaimedOrigin: "https://bank.com", Dialect: "webmcp.v1", Hello: &spec.Hello{TabKey: "t"}})
		liar.Notify(0, tools("https://bank.com/", "pay"))
		program := w.dial(tabtransport.Conn{Dialect: spec.Subprotocol})
		program.Notify(0, tools("https://bank.com/", "pay"))
		frame := `pay:"origin":"https://bank.com"`
		w.register(w.page("https://evil.com", "b"), 0, tools("", frame))
		synctest.Wait()
		c := w.call(t.Context(), "bank_com_pay")
		answer(real, real.Next(), "the bank's own")
		c.want(t, "the bank's own")
		for _, it := range w.hub.List(ListTools).Items {
			if it.Domain == "bank.com" && it.Tab != 0 {
				t.Errorf("%s shares the bank's domain", it.Name)
			}
		}
		if u := w.hub.Tabs(); len(u) != 5 {
			t.Errorf("%d tabs", len(u))
		}
	})
}

func TestLimitPerTab(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, tools("", "x"))
		var calls []*call
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
		records, err := w.hub.Records(t.Context(), storage.Query{Event: storage.EventCall, Limit: 1000})
		if err != nil || len(records) != spec.MaxCallsPerTab+1 {
			t.Errorf("%d records of %d calls, %v", len(records), spec.MaxCallsPerTab+1, err)
		}
	})
}

func TestCloseEndsCallsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{})
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
		w := newWorld(t, Options{})
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
