package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tabhub/hub/call"
	"tabhub/hub/lists"
	"tabhub/hub/offer/item"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record/recordtest"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/storage"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest"
)

// fixture is a Hub with real parts: the in-memory transport and store.
type fixture struct {
	t      *testing.T
	hub    *Hub
	peers  *tabtransport.Peers
	store  storage.DomainToolStorage
	record recordtest.Memory
	sent   func(spec.Request, tabtransport.Wait) // is told what is sent to browsers and tabs, if not nil
}

func newFixture(t *testing.T, opts Options) *fixture {
	w := &fixture{t: t, store: &storagetest.Memory{}}
	w.start(opts)
	return w
}

// start opens the Hub over the fixture's store, as a new process would.
func (w *fixture) start(opts Options) {
	w.t.Helper()
	w.peers = tabtransport.NewPeers()
	w.open(opts)
}

// open opens the Hub over the fixture's peers and store.
func (w *fixture) open(opts Options) {
	w.t.Helper()
	opts.User, opts.Transport, opts.Store = spec.LocalUser, watched{w.peers, w}, w.store
	opts.Record = &w.record
	opts.Mode = cmp.Or(opts.Mode, policy.ModeOpen)
	h, err := Open(w.t.Context(), opts)
	if err != nil {
		w.t.Fatal(err)
	}
	w.hub = h
	w.t.Cleanup(func() { h.Close(context.Background()) })
}

// watched is the transport of a fixture.
type watched struct {
	*tabtransport.Peers
	w *fixture
}

func (p watched) SendRequest(ctx context.Context, to spec.TabAddr, req spec.Request, wait tabtransport.Wait) (spec.Response, error) {
	if p.w.sent != nil {
		p.w.sent(req, wait)
	}
	return p.Peers.SendRequest(ctx, to, req, wait)
}

// page connects a single tab of an origin.
func (w *fixture) page(origin, key string) tabtest.End {
	w.t.Helper()
	return w.dial(tabtransport.Conn{Origin: origin, Dialect: spec.Subprotocol, Hello: &spec.Hello{ProtocolVersion: spec.ProtocolVersion, TabKey: key}})
}

// chrome connects the companion extension of a browser, which has proved its pairing.
func (w *fixture) chrome(id, session string) tabtest.End {
	w.t.Helper()
	c := chromeConn(id, session, "")
	c.Pairing = "p1"
	return w.dial(c)
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

func (w *fixture) dial(c tabtransport.Conn) tabtest.End {
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

func (w *fixture) register(e tabtest.End, tab int64, m *spec.Register) spec.Registered {
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
func (w *fixture) names() string {
	var names []string
	for _, it := range w.hub.Lists.List(lists.ListTools).Items {
		names = append(names, strings.TrimPrefix(it.Name, "website_tool_"))
	}
	return strings.Join(names, " ")
}

func (w *fixture) wantNames(want string) {
	w.t.Helper()
	if got := w.names(); got != want {
		w.t.Errorf("listed %q, want %q", got, want)
	}
}

// description returns the description of a listed tool.
func (w *fixture) description(name string) string {
	w.t.Helper()
	it, err := w.hub.Lists.Find(spec.KindTool, "website_tool_"+name)
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
type pendingCall struct {
	result json.RawMessage
	err    error
	done   chan struct{}
}

func (w *fixture) call(ctx context.Context, name string) *pendingCall {
	c := &pendingCall{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.result, c.err = w.hub.Calls.Call(ctx, call.Request{Name: "website_tool_" + name, By: tester})
	}()
	return c
}

// want waits for the call and checks that its result, or error, holds a text.
func (c *pendingCall) want(t *testing.T, text string) {
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

// said returns what a page has said in a result, which must say where it is from.
func said(t *testing.T, result json.RawMessage) string {
	t.Helper()
	const start = `{"_meta":{"` + item.SourceKey + `":`
	source := rawjson.Get(result, "_meta", item.SourceKey)
	rest, ok := strings.CutPrefix(string(result), start+string(source))
	if source == nil || !ok {
		t.Fatalf("%s does not say where it is from", result)
	}
	if alone, ok := strings.CutPrefix(rest, "},"); ok {
		return "{" + alone
	}
	return `{"_meta":{` + rest[1:]
}

func answer(e tabtest.End, r tabtest.Request, text string) {
	e.Answer(r, spec.Response{Result: json.RawMessage(fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, text))}, nil)
}

func ptr[T any](v T) *T { return &v }

// tester is on whose behalf tests call.
var tester = &consent.Caller{Principal: policy.Owner, Said: "test"}

// reporting is tester, whose client wants to hear of progress.
func reporting(progress func(spec.Progress)) *consent.Caller {
	by := *tester
	by.Progress = progress
	return &by
}

// jsonOf returns a list as a list result holds it.
func jsonOf(l *lists.Listing) json.RawMessage {
	all := []json.RawMessage{}
	for i := range l.Items {
		all = append(all, l.Items[i].JSON)
	}
	b, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return b
}
