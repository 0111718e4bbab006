package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"testing"

	"tabhub/hub"
	"tabhub/hub/call"
	"tabhub/hub/call/ledger"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/lists"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/storage"
)

// scripted is a Hub whose tools are Go functions, so that a test decides when a
// page answers.
type scripted struct {
	tools map[string]func(ctx context.Context, c call.Request) (json.RawMessage, error)

	mu       sync.Mutex
	lists    [4]*lists.Listing
	watchers map[int]func(lists.Change)
	next     int
	followed map[string]int // subscriptions by URI
	hidden   map[string]bool

	documents map[storage.DeleteDocument]json.RawMessage // what is stored

	ledger *ledger.Ledger
}

func newScripted() *scripted {
	h := &scripted{watchers: map[int]func(lists.Change){}, followed: map[string]int{}, documents: map[storage.DeleteDocument]json.RawMessage{}}
	h.ledger = ledger.Open(ledger.Options{Keep: func(_ storage.Document, synced func(error)) { synced(nil) }, Forget: func(string) {}})
	h.tools = map[string]func(context.Context, call.Request) (json.RawMessage, error){
		"echo": func(_ context.Context, c call.Request) (json.RawMessage, error) {
			return append(append(json.RawMessage(`{"content":[],"structuredContent":`), c.Args...), '}'), nil
		},
	}
	h.set(lists.ListTools, `{"name":"echo","inputSchema":{"type":"object"}}`)
	h.set(lists.ListResources, `{"uri":"tabhub://a/x","name":"x"}`)
	h.set(lists.ListTemplates)
	h.set(lists.ListPrompts, `{"name":"hello"}`)
	return h
}

var sumSeed = maphash.MakeSeed()

func (h *scripted) set(kind lists.ListKind, items ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := &lists.Listing{}
	for _, it := range items {
		// A tool of another site than a.com says so.
		raw := json.RawMessage(it)
		domain, ok := rawjson.String(rawjson.Get(raw, "_meta", "domain"))
		if !ok {
			domain = "a.com"
		}
		l.Items = append(l.Items, lists.Item{Domain: spec.Domain(domain), JSON: raw, Sum: maphash.String(sumSeed, it)})
	}
	h.lists[kind] = l
}

func (h *scripted) change(c lists.Change) {
	h.mu.Lock()
	var fs []func(lists.Change)
	for _, f := range h.watchers {
		fs = append(fs, f)
	}
	h.mu.Unlock()
	for _, f := range fs {
		f(c)
	}
}

func (h *scripted) List(kind lists.ListKind) *lists.Listing {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lists[kind]
}

func (h *scripted) Find(kind spec.Kind, name string) (lists.Item, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, it := range h.lists[lists.ListTools].Items {
		var t struct{ Name string }
		if _ = json.Unmarshal(it.JSON, &t); t.Name == name {
			return lists.Item{Name: name, JSON: it.JSON}, nil
		}
	}
	return lists.Item{}, &lists.UnknownError{Kind: kind, Name: name}
}

func (h *scripted) Settled(context.Context) error { return nil }

func (h *scripted) FindFor(_ *consent.Caller, kind spec.Kind, name string) (lists.Item, error) {
	return h.Find(kind, name)
}

func (h *scripted) ListFor(_ *consent.Caller, kind lists.ListKind) *lists.Listing {
	return h.List(kind)
}

func (*scripted) Record(record.Entry) {}

func (h *scripted) Shows(*policy.Action) bool { return true }

func (h *scripted) Call(ctx context.Context, c call.Request) (json.RawMessage, error) {
	f := h.tools[c.Name]
	if f == nil {
		return nil, &lists.UnknownError{Kind: spec.KindTool, Name: c.Name, Nearest: []string{"echo"}}
	}
	if c.Args == nil {
		c.Args = json.RawMessage("{}")
	}
	return f(ctx, c)
}

func (h *scripted) ReadResource(_ context.Context, _ *consent.Caller, uri string) (json.RawMessage, error) {
	if uri != "tabhub://a/x" {
		return nil, &lists.UnknownError{Kind: spec.KindResource, Name: uri}
	}
	return json.RawMessage(`{"contents":[{"uri":"tabhub://a/x","text":"X"}]}`), nil
}

func (h *scripted) GetPrompt(_ context.Context, _ *consent.Caller, name string, args json.RawMessage) (json.RawMessage, error) {
	if name != "hello" {
		return nil, &lists.UnknownError{Kind: spec.KindPrompt, Name: name}
	}
	return json.RawMessage(fmt.Sprintf(`{"messages":[],"args":%s}`, args)), nil
}

func (h *scripted) SubscribeResource(_ context.Context, _ *consent.Caller, uri string) (func(), error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !strings.HasPrefix(uri, "tabhub://a/x") || h.hidden[uri] {
		return nil, &lists.UnknownError{Kind: spec.KindResource, Name: uri}
	}
	h.followed[uri]++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.followed[uri]--
	}, nil
}

// left returns how many subscriptions and documents there are.
func (h *scripted) left() (follows, documents int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.followed["tabhub://a/x"], len(h.documents)
}

// hide says whether no page has a resource.
func (h *scripted) hide(uri string, hidden bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hidden = map[string]bool{uri: hidden}
}

func (h *scripted) Complete(_ context.Context, _ *consent.Caller, kind spec.Kind, name string, _, _ json.RawMessage) (json.RawMessage, error) {
	return nil, &lists.UnknownError{Kind: kind, Name: name}
}

func (h *scripted) Watch(f func(lists.Change)) func() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next++
	id := h.next
	h.watchers[id] = f
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watchers, id)
	}
}

func (h *scripted) IsBound(*consent.Caller) bool { return false }

func (h *scripted) ChangeFor(_ *consent.Caller, c lists.Change) lists.Change { return c }

func (h *scripted) Connected(*consent.Caller) func(bool) { return func(bool) {} }

func (h *scripted) Ledger() *ledger.Ledger { return h.ledger }

func (h *scripted) Documents(kind string) (of []storage.Document) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for d, body := range h.documents {
		if d.Kind == kind {
			of = append(of, storage.Document{Kind: kind, ID: d.ID, Body: body})
		}
	}
	return of
}

func (h *scripted) SaveDocument(d storage.Document, synced func(error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.documents[storage.DeleteDocument{Kind: d.Kind, ID: d.ID}] = d.Body
	if synced != nil {
		go synced(nil)
	}
}

func (h *scripted) DeleteDocument(kind, id string, _ func(error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.documents, storage.DeleteDocument{Kind: kind, ID: id})
}

func (h *scripted) Capabilities() hub.Capabilities {
	return hub.Capabilities{MultiTabSupport: true, CacheSupported: true}
}

// hold adds a tool that answers when release is called, or its call is cancelled.
// started receives each call as it arrives.
func (h *scripted) hold(name string) (started chan call.Request, release chan json.RawMessage) {
	started, release = make(chan call.Request, 100), make(chan json.RawMessage)
	h.tools[name] = func(ctx context.Context, c call.Request) (json.RawMessage, error) {
		started <- c
		select {
		case r := <-release:
			return r, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return started, release
}

// lineClient is the client end of a stream.
type lineClient struct {
	t     *testing.T
	conn  net.Conn
	lines *bufio.Reader
	ended chan error // what ServeStream returned
}

func streamTo(t *testing.T, s *Server) *lineClient {
	t.Helper()
	return streamAs(asTester(context.Background()), t, s)
}

// streamAs is streamTo for the client of ctx.
func streamAs(ctx context.Context, t *testing.T, s *Server) *lineClient {
	t.Helper()
	here, there := net.Pipe()
	c := &lineClient{t, here, bufio.NewReader(here), make(chan error, 1)}
	go func() {
		err := s.ServeStream(ctx, there, there)
		there.Close()
		c.ended <- err
	}()
	t.Cleanup(func() { here.Close() })
	return c
}

func (c *lineClient) send(lines ...string) {
	c.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(c.conn, l+"\n"); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *lineClient) next() string {
	c.t.Helper()
	l, err := c.lines.ReadString('\n')
	if err != nil {
		c.t.Fatalf("the stream ended: %v", err)
	}
	return uncalled(strings.TrimSuffix(l, "\n"))
}

// callID is what answers say of the call that they answer, each time another.
var callID = regexp.MustCompile(`"_meta":\{"tabhub/call":"[A-Z2-7]{10}"\},?|"tabhub/call":"[A-Z2-7]{10}",|,"tabhub/call":"[A-Z2-7]{10}"|,"data":\{"call":"[A-Z2-7]{10}"\}|"call":"[A-Z2-7]{10}",`)

// uncalled returns an answer without the id of the call.
func uncalled(answer string) string {
	head := answer[:min(len(answer), 10<<10)] // to look through megabytes takes long
	return callID.ReplaceAllString(head, "") + answer[len(head):]
}

// want reads one message, which must be exactly that.
func (c *lineClient) want(line string) {
	c.t.Helper()
	if got := c.next(); got != line {
		c.t.Fatalf("got  %s\nwant %s", got, line)
	}
}

// wantOf is want for the result of a page, which must also say where it is from.
func (c *lineClient) wantOf(site, line string) {
	c.t.Helper()
	if got := unlabelled(c.t, c.next(), site); got != line {
		c.t.Fatalf("got  %s\nwant %s", got, line)
	}
}

// unlabelled returns an answer without that its result is from a site, which it must say.
func unlabelled(t testing.TB, answer, site string) string {
	t.Helper()
	label := regexp.MustCompile(`"_meta":\{"tabhub/source":\{"origin":"https://` + regexp.QuoteMeta(site) + `","domain":"` + regexp.QuoteMeta(site) + `","verified":true,"tab":"[0-9a-f]{8}:0"\}(\},|,)`)
	m := label.FindStringSubmatch(answer)
	if m == nil {
		t.Fatalf("%.500s does not say that it is from %s", answer, site)
	}
	if m[1] == "," {
		return strings.Replace(answer, m[0], `"_meta":{`, 1)
	}
	return strings.Replace(answer, m[0], "", 1)
}

func (c *lineClient) ask(line string) string {
	c.t.Helper()
	c.send(line)
	return c.next()
}

// initialize does the handshake of a client before 2026-07-28.
func (c *lineClient) initialize(version string) {
	c.t.Helper()
	got := c.ask(initializeLine(version))
	if !strings.Contains(got, `"protocolVersion":"`+version+`"`) {
		c.t.Fatalf("initialize: %s", got)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func initializeLine(version string) string {
	return `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"` + version +
		`","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"new","version":"1"}}`

// newServer serves h until the test ends.
func newServer(t *testing.T, h methods.Hub, o Options) *Server {
	s := New(h, o)
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return s
}
