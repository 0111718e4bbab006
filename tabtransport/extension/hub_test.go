package extension_test

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/tabtest"
	"tabhub/tabtransport/tabtest/chromium"
	"tabhub/tabtransport/wsserver"
)

// hub is the remote end of the extension: the real WebSocket server, and a handler that
// remembers what came.
type hub struct {
	t    testing.TB
	addr string // host:port
	http *httptest.Server
	ws   *wsserver.Server
	wire *tabtransport.Peers
	port *tabtest.Port

	pairings  tabtest.Pairings
	keepAlive time.Duration // between pings; 0 is the default

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each change
	hello   *spec.Hello
	origin  string
	hellos  int
	tabs    map[int64]*tabView
	inputs  []userInput // in the order in which they came
	closed  []int64
	updates []string
	least   map[int64]int // the fewest tools that a tab had, by those that are watched
	refuse  *spec.Error
	refused int

	registered func(spec.Kind) spec.Registered // the answer; static after the first browser

	owner spec.OwnerState   // as the extension hears it
	packs []spec.ActivePack // likewise; nil: nothing is said of packs
	reown chan struct{}     // capacity 1: owner or packs are others

	recorded  *spec.Recorded    // the latest
	documents map[string]string // those of packs with scripts, by their hashes; guarded by mu
}

// userInput is what the extension says of the owner's input in a tab.
type userInput struct {
	tab   int64
	inUse bool
}

type tabView struct {
	tools, resources, prompts []item
	rejected                  []spec.Rejection // as the extension says
	registrations             int              // of tools, since the last hello
	state                     spec.TabState
	url                       string
}

// here returns the names of the tools that have not departed.
func (v *tabView) here() []string {
	return names(slices.DeleteFunc(slices.Clone(v.tools), func(it item) bool { return it.Departed }))
}

type item struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	URI          string          `json:"uri"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  json.RawMessage `json:"annotations"`
	Completes    bool            `json:"completes"`
	Meta         json.RawMessage `json:"_meta"`
	FrameID      int64           `json:"frameId"`
	Origin       string          `json:"origin"`
	Departed     bool            `json:"departed"`
	Pack         *spec.PackRef   `json:"pack"`
}

const browserPeer = spec.PeerID("browser")

// newHub starts a hub.
func newHub(t testing.TB) *hub {
	t.Helper()
	return newPingingHub(t, 0)
}

// newPingingHub starts a hub that pings the extension so often.
func newPingingHub(t testing.TB, keepAlive time.Duration) *hub {
	t.Helper()
	h := &hub{
		t: t, port: tabtest.NewPort(t), pairings: tabtest.NewPairings(t), keepAlive: keepAlive,
		changed: make(chan struct{}), tabs: map[int64]*tabView{}, least: map[int64]int{}, reown: make(chan struct{}, 1),
	}
	h.addr = h.port.Addr()
	h.serve()
	return h
}

func (h *hub) serve() {
	h.t.Helper()
	h.ws = wsserver.New(wsserver.Options{
		Pair: h.pairings.Pair,
		Authenticate: func(_ *http.Request, hello *spec.Hello, ex *pairing.Exchange) (tabtransport.Admission, error) {
			id, err := h.pairings.Check(hello, ex)
			return tabtransport.Admission{Attested: true, Pairing: id}, err
		},
		KeepAlive: h.keepAlive,
		Owner: func(_ tabtransport.Admission, tab spec.TabAddr, request any) (any, error) {
			switch request := request.(type) {
			case *spec.Recorded:
				h.change(func() { h.recorded = request })
				return spec.RecordedResult{Name: cmp.Or(request.Name, "shop")}, nil
			case *spec.PackScript:
				h.mu.Lock()
				defer h.mu.Unlock()
				return spec.PackScriptResult{Document: h.documents[request.Pack.Hash]}, nil
			case *spec.Pause:
				h.tellOwner(func(o *spec.OwnerState) { o.Paused = *request.On })
			case *spec.Release:
				h.tellOwner(func(o *spec.OwnerState) {
					o.Held = slices.DeleteFunc(slices.Clone(o.Held), func(t spec.HeldTab) bool { return t.TabID == tab.Tab })
				})
			}
			return struct{}{}, nil
		},
		Watch: func(ctx context.Context, _ tabtransport.Admission, _ spec.PeerID, tell func(any)) {
			for {
				h.mu.Lock()
				owner, packs := h.owner, h.packs
				h.mu.Unlock()
				tell(owner)
				if packs != nil {
					tell(spec.Packs{Packs: packs})
				}
				select {
				case <-h.reown:
				case <-ctx.Done():
					return
				}
			}
		},
	})
	h.wire = h.ws.Transport(spec.LocalUser)
	h.wire.Handle(h)
	mux := http.NewServeMux()
	mux.Handle("/tabs", h.ws.Tabs())
	mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/pair", func(http.ResponseWriter, *http.Request) {})
	h.http = httptest.NewUnstartedServer(mux)
	if err := h.http.Listener.Close(); err != nil {
		h.t.Fatal(err)
	}
	h.http.Listener = h.port.Listen()
	h.http.Start()
	h.t.Cleanup(h.stop)
}

// stop ends the hub's process, as far as its peers can tell.
func (h *hub) stop() {
	h.http.CloseClientConnections()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = h.ws.Close(ctx) // it does not wait for anybody's farewell
	h.http.Close()
}

// restart stops the hub and starts another one at the same address, which knows
// nothing.
func (h *hub) restart() {
	h.t.Helper()
	h.stop()
	h.mu.Lock()
	h.tabs, h.closed, h.hello = map[int64]*tabView{}, nil, nil
	h.mu.Unlock()
	h.serve()
}

// cut cuts all connections; the hub lives on.
func (h *hub) cut() { h.port.Cut() }

func (h *hub) url() string { return "ws://" + h.addr + "/tabs" }

// change is the one door to what h remembers.
func (h *hub) change(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
	close(h.changed)
	h.changed = make(chan struct{})
}

// tellOwner changes what the extension hears for its owner.
func (h *hub) tellOwner(f func(*spec.OwnerState)) {
	h.change(func() { f(&h.owner) })
	select {
	case h.reown <- struct{}{}:
	default:
	}
}

// tellPacks changes the packs that the extension hears of.
func (h *hub) tellPacks(packs ...spec.ActivePack) {
	h.tellOwner(func(*spec.OwnerState) { h.packs = append([]spec.ActivePack{}, packs...) })
}

// wait waits until is true of what h remembers.
func (h *hub) wait(what string, is func() bool) {
	h.t.Helper()
	late := time.After(chromium.Timeout)
	for {
		h.mu.Lock()
		ok, changed := is(), h.changed
		h.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-late:
			h.mu.Lock()
			state, _ := json.Marshal(h.dump())
			h.mu.Unlock()
			h.t.Fatalf("%s: not within %v; the hub knows %s", what, chromium.Timeout, state)
		}
	}
}

func (h *hub) dump() map[int64][]string {
	out := map[int64][]string{}
	for id, tab := range h.tabs {
		out[id] = append(names(tab.tools), tab.url)
	}
	return out
}

// Connect implements tabtransport.Handler.
func (h *hub) Connect(conn tabtransport.Conn) (tabtransport.Accepted, error) {
	var refuse *spec.Error
	h.change(func() {
		if refuse = h.refuse; refuse != nil {
			h.refused++
			return
		}
		h.hello, h.origin, h.hellos = conn.Hello, conn.Origin, h.hellos+1
		for _, tab := range h.tabs {
			tab.registrations = 0
		}
	})
	if refuse != nil {
		return tabtransport.Accepted{}, refuse
	}
	return tabtransport.Accepted{Peer: browserPeer, Result: spec.HelloResult{
		Hub: "tabhub", Version: "test", KeepAliveMs: 15_000, Limits: spec.DefaultLimits,
	}}, nil
}

// Message implements tabtransport.Handler.
func (h *hub) Message(from spec.TabAddr, id json.RawMessage, msg spec.Inbound) {
	h.change(func() {
		switch m := msg.(type) {
		case *spec.Register:
			t := h.tabs[from.Tab]
			if t == nil {
				t = &tabView{}
				h.tabs[from.Tab] = t
			}
			t.url = m.TabURL
			var items []item
			for _, raw := range m.Items {
				var it item
				if err := json.Unmarshal(raw, &it); err != nil {
					h.t.Errorf("the extension sent %s: %v", raw, err)
				}
				items = append(items, it)
			}
			switch m.Kind {
			case spec.KindTool:
				t.registrations++
				t.tools, t.rejected = items, m.Rejected
				if n, ok := h.least[from.Tab]; ok {
					h.least[from.Tab] = min(n, len(items))
				}
			case spec.KindResource:
				t.resources = items
			case spec.KindPrompt:
				t.prompts = items
			}
		case *spec.TabState:
			if m.Replaces != 0 && h.tabs[from.Tab] == nil {
				h.tabs[from.Tab] = h.tabs[m.Replaces]
				delete(h.tabs, m.Replaces)
			}
			if m.InUse != nil {
				h.inputs = append(h.inputs, userInput{from.Tab, *m.InUse})
			} else if t := h.tabs[from.Tab]; t != nil {
				t.state = *m
			}
		case *spec.TabClosed:
			h.closed = append(h.closed, from.Tab)
			delete(h.tabs, from.Tab)
		case *spec.ResourceUpdated:
			h.updates = append(h.updates, m.URI)
		}
	})
	if id != nil {
		answer := spec.Registered{Rejected: []spec.Rejection{}}
		if m, ok := msg.(*spec.Register); ok && h.registered != nil {
			answer = h.registered(m.Kind)
		}
		h.wire.Respond(from, id, answer, nil)
	}
}

// Disconnected implements tabtransport.Handler.
func (h *hub) Disconnected(spec.PeerID, error) { h.change(func() {}) }

// tabWith waits for a tab that has exactly the named tools and returns its id.
func (h *hub) tabWith(want ...string) int64 {
	h.t.Helper()
	return h.tabAt("", want...)
}

// tabAt is tabWith for the tab whose address begins with url.
func (h *hub) tabAt(url string, want ...string) int64 {
	h.t.Helper()
	var id int64
	h.wait("a tab at "+url+" with the tools "+strings.Join(want, ", "), func() bool {
		for n, tab := range h.tabs {
			if strings.HasPrefix(tab.url, url) && equal(names(tab.tools), want) {
				id = n
				return true
			}
		}
		return false
	})
	return id
}

// tabShowing waits for a tab whose document has exactly the named tools and returns its id.
func (h *hub) tabShowing(want ...string) int64 {
	h.t.Helper()
	var id int64
	h.wait("a document with the tools "+strings.Join(want, ", "), func() bool {
		for n, tab := range h.tabs {
			if equal(tab.here(), want) {
				id = n
				return true
			}
		}
		return false
	})
	return id
}

// fewest watches a tab, and returns what says how few tools it has had since.
func (h *hub) fewest(tab int64) func() int {
	h.change(func() { h.least[tab] = len(h.tabs[tab].tools) })
	return func() int {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.least[tab]
	}
}

// closeTab closes the one tab that h knows.
func (h *hub) closeTab(p *chromium.Page) {
	h.t.Helper()
	p.Close()
	h.wait("the tab is closed", func() bool { return len(h.tabs) == 0 })
}

// ids returns the tabs that h knows.
func (h *hub) ids() []int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.tabs))
}

// tool returns what a tab registered under a name.
func (h *hub) tool(tab int64, name string) item {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, it := range h.tabs[tab].tools {
		if it.Name == name {
			return it
		}
	}
	h.t.Fatalf("tab %d has no tool %s", tab, name)
	return item{}
}

func names(items []item) []string {
	var out []string
	for _, it := range items {
		out = append(out, it.Name)
	}
	return out
}

func equal(got, want []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)))
}
