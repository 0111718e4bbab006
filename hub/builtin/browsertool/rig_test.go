package browsertool_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/builtin/browsertool"
	"tabhub/hub/builtin/instance"
	"tabhub/hub/hubtest"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record/recordtest"
	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest"
)

// rig is a hub with browsers inside the process.
type rig struct {
	t     testing.TB
	hub   *hub.Hub
	log   *recordtest.Memory
	peers *tabtransport.Peers
	tools []builtin.Tool
}

func newRig(t testing.TB) *rig {
	t.Helper()
	return newRigIn(t, policy.ModeOpen)
}

func newRigIn(t testing.TB, mode policy.Mode) *rig {
	t.Helper()
	h := hubtest.Open(t, hub.Options{Mode: mode})
	return &rig{t: t, hub: h.Hub, log: h.Recorded, peers: h.Tabs, tools: browsertool.New(h.Hub, nil, nil)}
}

// start gives the hub instances whose browser is an executable.
func (w *rig) start(browser string) *instance.Instances {
	w.t.Helper()
	return w.startWith(instance.Options{Browser: browser})
}

func (w *rig) startWith(o instance.Options) *instance.Instances {
	w.t.Helper()
	o.Hub, o.Dir, o.HubURL = w.hub, w.t.TempDir(), "ws://127.0.0.1:3300/tabs"
	o.Ring = tabtest.NewPairings(w.t).Ring
	s := instance.New(o)
	w.t.Cleanup(s.Close)
	w.tools = browsertool.New(w.hub, s, nil)
	return s
}

// call calls a tool as a client does.
func (w *rig) call(name, args string) result {
	w.t.Helper()
	return w.callCtx(w.t.Context(), name, args)
}

func (w *rig) callCtx(ctx context.Context, name, args string) result {
	w.t.Helper()
	return w.callBy(ctx, tester, name, args)
}

func (w *rig) callBy(ctx context.Context, by *consent.Caller, name, args string) result {
	w.t.Helper()
	tool := builtin.Find(w.tools, name)
	if tool == nil {
		w.t.Fatalf("there is no tool %s", name)
	}
	raw, _ := tool.Call(ctx, by, json.RawMessage(args))
	r := result{t: w.t, call: name + " " + args, raw: raw}
	if raw != nil {
		if err := json.Unmarshal(raw, &r); err != nil {
			w.t.Fatalf("%s: %s: %v", r.call, raw, err)
		}
	}
	return r
}

// result is a CallToolResult.
type result struct {
	Content []struct {
		Type, Text, MimeType string
		Data                 []byte
	}
	IsError bool

	t    testing.TB
	call string
	raw  json.RawMessage
}

// into decodes the JSON of the text of a result that is no failure.
func (r result) into(v any) {
	r.t.Helper()
	if r.IsError || len(r.Content) != 1 || r.Content[0].Type != "text" {
		r.t.Fatalf("%s: %s", r.call, r.raw)
	}
	if err := json.Unmarshal([]byte(r.Content[0].Text), v); err != nil {
		r.t.Fatalf("%s: %s: %v", r.call, r.raw, err)
	}
}

// fails checks that a result is a failure with a code, whose message holds what.
func (r result) fails(code spec.FailureCode, what string) {
	r.t.Helper()
	var f struct {
		Error struct {
			Code    spec.FailureCode
			Message string
		}
	}
	if !r.IsError || len(r.Content) != 1 || json.Unmarshal([]byte(r.Content[0].Text), &f) != nil || f.Error.Code != code || !strings.Contains(f.Error.Message, what) {
		r.t.Errorf("%s: %s, want %s with %q", r.call, r.raw, code, what)
	}
}

// fakeBrowser is a browser with the companion extension, as far as a hub can tell.
type fakeBrowser struct {
	t     testing.TB
	local *tabtransport.Local

	mu    sync.Mutex
	tabs  []spec.BrowserTab
	asked []string // the control requests but listTabs
	next  int64
	block chan struct{}                                                                  // listTabs answers when it is closed; nil: at once
	shot  string                                                                         // the answer to screenshot
	rests []string                                                                       // the answers to rest
	own   func(spec.Request) (any, error)                                                // answers look, refs and run
	onRun func(context.Context, tabtransport.Incoming, *spec.Run) (spec.Response, error) // answers run; nil: own does
}

var everything = []spec.Capability{
	spec.CapOpenTab, spec.CapActivateTab, spec.CapCloseTab, spec.CapListTabs, spec.CapNavigate, spec.CapScreenshot, spec.CapText,
}

// browser connects a browser with tabs, the first of which is in front.
func (w *rig) browser(id string, caps []spec.Capability, urls ...string) *fakeBrowser {
	w.t.Helper()
	b := &fakeBrowser{t: w.t, next: 100, shot: `{"mimeType":"image/png","data":"iVBORw0KGgo="}`}
	for i, url := range urls {
		b.tabs = append(b.tabs, spec.BrowserTab{TabID: int64(i + 1), WindowID: 1, Index: i, URL: url, Title: "Tab " + url, Active: i == 0})
	}
	conn := tabtransport.Conn{Attested: true, Dialect: spec.Subprotocol, Hello: &spec.Hello{
		ProtocolVersion: spec.ProtocolVersion, BrowserID: spec.BrowserID(id), BrowserName: "Chromium " + id, Session: "s", Capabilities: caps,
	}}
	var err error
	if b.local, err = w.peers.Join(w.t.Context(), conn, b.serve); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(b.local.Close)
	return b
}

// page connects a page that joins by itself, with tools.
func (w *rig) page(origin, path string, tools ...string) {
	w.t.Helper()
	conn := tabtransport.Conn{Origin: origin, Dialect: spec.Subprotocol, Hello: &spec.Hello{ProtocolVersion: spec.ProtocolVersion, TabKey: "k"}}
	page := &fakeBrowser{t: w.t}
	var err error
	if page.local, err = w.peers.Join(w.t.Context(), conn, page.serve); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(page.local.Close)
	page.register(0, origin+path, tools...)
}

func (b *fakeBrowser) serve(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
	if run, ok := in.Request.(*spec.Run); ok && b.onRun != nil {
		return b.onRun(ctx, in, run)
	}
	if b.block != nil && in.Request.Method() == spec.MethodListTabs {
		select {
		case <-b.block:
		case <-ctx.Done():
			return spec.Response{}, context.Cause(ctx)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if in.Request.Method() != spec.MethodListTabs {
		text, _ := json.Marshal(in.Request)
		b.asked = append(b.asked, spec.TabAddr{Peer: "tab", Tab: in.Tab}.String()+" "+in.Request.Method()+" "+string(text))
	}
	i := slices.IndexFunc(b.tabs, func(t spec.BrowserTab) bool { return t.TabID == in.Tab })
	if in.Tab != 0 && i < 0 {
		return spec.Response{}, spec.Errorf(spec.CodeTabNotFound, "the tab is not open")
	}
	out := any(struct{}{})
	switch req := in.Request.(type) {
	case *spec.ListTabs:
		out = spec.ListTabsResult{Tabs: slices.Clone(b.tabs)}
	case *spec.OpenTab:
		b.next++
		b.tabs = append(b.tabs, spec.BrowserTab{TabID: b.next, WindowID: 1, Index: len(b.tabs), URL: req.URL, Title: "new"})
		out = spec.OpenTabResult{TabID: b.next}
	case *spec.CloseTab:
		b.tabs = slices.Delete(b.tabs, i, i+1)
		// As the extension does: the tab's end is told first.
		b.local.Send(in.Tab, &spec.TabClosed{})
	case *spec.Navigate:
		if req.Forward {
			return spec.Response{}, spec.Errorf(spec.CodeInvalidParams, "there is no\u202e page to go to")
		}
		if req.URL != "" {
			b.tabs[i].URL = req.URL
		}
	case *spec.Screenshot:
		if !b.tabs[i].Active {
			return spec.Response{}, spec.Errorf(spec.CodeUnsupported, "the browser can only picture the tab in front of its window; activate it first")
		}
		return spec.Response{Result: json.RawMessage(b.shot)}, nil
	case *spec.Rest:
		rest := b.rests[0]
		b.rests = b.rests[1:]
		return spec.Response{Result: json.RawMessage(rest)}, nil
	case *spec.Look, *spec.Refs, *spec.Run:
		var err error
		if out, err = b.own(req); err != nil {
			return spec.Response{}, err
		}
	case *spec.Text:
		out = spec.TextResult{Text: "Hello\u202e " + b.tabs[i].URL + strings.Repeat(" words", 5000)}
	}
	raw, err := json.Marshal(out)
	return spec.Response{Result: raw}, err
}

// register has a tab register tools.
func (b *fakeBrowser) register(tab int64, url string, names ...string) {
	b.t.Helper()
	var items []string
	for _, n := range names {
		items = append(items, `{"name":"`+n+`","inputSchema":{"type":"object"}}`)
	}
	b.registerItems(tab, url, items...)
}

// registerItems has a tab register tools, as their JSON.
func (b *fakeBrowser) registerItems(tab int64, url string, items ...string) {
	b.t.Helper()
	b.offer(tab, spec.KindTool, url, items...)
}

// offer is registerItems for any kind.
func (b *fakeBrowser) offer(tab int64, kind spec.Kind, url string, items ...string) {
	b.t.Helper()
	m := &spec.Register{Kind: kind, TabURL: url}
	for _, it := range items {
		m.Items = append(m.Items, json.RawMessage(it))
	}
	if _, err := b.local.Ask(b.t.Context(), tab, m); err != nil {
		b.t.Fatal(err)
	}
}

// requests returns and forgets the control requests.
func (b *fakeBrowser) requests() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	asked := b.asked
	b.asked = nil
	return asked
}

// listing is what browser_tab list says.
type listing struct {
	Browsers []struct {
		BrowserID, Browser, Error string
		SinglePage                bool
	}
	Tabs []struct {
		TabID, BrowserID, URL, Title, Domain string
		Index, Tools                         int
		Active, Focused, Attested            bool
	}
}

func (w *rig) list() listing {
	w.t.Helper()
	var l listing
	w.call("browser_tab", `{"action":"list"}`).into(&l)
	return l
}

// browser returns the id of the browser that has a name.
func (l listing) browser(t testing.TB, name string) string {
	t.Helper()
	for _, b := range l.Browsers {
		if strings.HasSuffix(b.Browser, name) {
			return b.BrowserID
		}
	}
	t.Fatalf("no browser %s: %+v", name, l)
	return ""
}

// id returns the id of the tab at url.
func (l listing) id(t testing.TB, url string) string {
	t.Helper()
	for _, tab := range l.Tabs {
		if tab.URL == url {
			return tab.TabID
		}
	}
	t.Fatalf("no tab at %s: %+v", url, l)
	return ""
}

// tester is on whose behalf tests call.
var tester = &consent.Caller{Principal: policy.Owner, Said: "test"}
