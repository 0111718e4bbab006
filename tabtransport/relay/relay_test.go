package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
)

// memory is a listener whose connections are pipes within the process, so that a
// test can run in a bubble.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}
func (m *memory) Close() error   { m.once.Do(func() { close(m.closed) }); return nil }
func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }
func (m *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.conns <- far:
		return near, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// rig is a relay behind an HTTP server, with the peers that connect to it.
type rig struct {
	t     *testing.T
	relay *Relay
	dial  websocket.Dialer
	base  string
	logs  *bytes.Buffer
	// timeout is how long a peer waits for a frame.
	timeout time.Duration
}

// users maps the tokens of tests to users. "" is the token for a hub without accounts.
var users = map[string]spec.UserID{
	"":                        spec.LocalUser,
	"eyJhbGci...":             "83898119-db4f-4848-9d27-ea328b73a4df",
	"eyJhbGciOiJIUzI1NiJ9...": "83898119-db4f-4848-9d27-ea328b73a4df",
	"token of ann":            "ann",
	"token of bob":            "bob",
	"token of eve":            "eve",
}

func verify(h Handshake) (Admission, error) {
	a := Admission{Gate: Open{}}
	if rest, ok := strings.CutPrefix(h.Token, "one minute of "); ok {
		a.User, a.Expires = spec.UserID(rest), time.Now().Add(time.Minute)
		return a, nil
	}
	if u, ok := users[h.Token]; ok {
		a.User = u
		return a, nil
	}
	if h.Token == "not now" {
		return a, spec.Errorf(spec.CodeInternal, "the hub of this user is on its way to another node")
	}
	return Admission{}, errors.New("Invalid token")
}

func (r *rig) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/extension", opened(r.relay.Extension()))
	mux.Handle("/mcp", r.relay.Client())
	mux.Handle("/relay", r.relay.Legacy())
	return mux
}

func newRelay(t *testing.T, l Limits) *rig {
	r := &rig{t: t, logs: &bytes.Buffer{}, timeout: 10 * time.Second}
	r.relay = New(Options{Verify: verify, Limits: l, Log: slog.New(slog.NewTextHandler(r.logs, nil))})
	return r
}

// bubble runs f with a relay in memory, in a synctest bubble.
func bubble(t *testing.T, l Limits, f func(t *testing.T, r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{conns: make(chan net.Conn), closed: make(chan struct{})}
		r := newRelay(t, l)
		r.base = "ws://relay"
		r.dial = websocket.Dialer{NetDialContext: m.dial}
		srv := &http.Server{Handler: r.handler()}
		go srv.Serve(m)
		defer srv.Close()
		defer r.relay.Close()
		f(t, r)
	})
}

// socketed runs a relay behind a real loopback listener.
func socketed(t *testing.T, l Limits) *rig {
	r := newRelay(t, l)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: r.handler()}
	go srv.Serve(ln)
	t.Cleanup(func() { r.relay.Close(); srv.Close() })
	r.base = "ws://" + ln.Addr().String()
	r.dial = websocket.Dialer{}
	r.timeout = 5 * time.Minute // of the machine's time
	return r
}

// holds returns what there is of a user.
func (r *rig) holds(user spec.UserID) (clients, connections, pending int) {
	synctest.Wait()
	t := r.relay.tenant(user)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, ext := range t.extensions {
		connections += len(ext.connections)
		for _, c := range ext.connections {
			pending += len(c.pending.byID)
		}
	}
	return len(t.clients), connections, pending
}

// peer is one side of a test: a socket whose frames are read all the time.
type peer struct {
	t      *testing.T
	name   string
	ws     *websocket.Conn
	frames chan string // closed when the socket ends
	mu     sync.Mutex
	end    error

	timeout time.Duration
}

func (r *rig) open(t *testing.T, name, path string) *peer {
	t.Helper()
	ws, res, err := r.dial.DialContext(t.Context(), r.base+path, nil)
	if err != nil {
		t.Fatalf("%s: open %s: %v %v", name, path, err, res)
	}
	p := &peer{t: t, name: name, ws: ws, frames: make(chan string, 100_000), timeout: r.timeout}
	go func() {
		defer close(p.frames)
		for {
			_, b, err := ws.ReadMessage()
			if err != nil {
				p.mu.Lock()
				p.end = err
				p.mu.Unlock()
				return
			}
			p.frames <- string(b)
		}
	}()
	t.Cleanup(func() { ws.Close() })
	return p
}

func (p *peer) send(frame string) {
	p.t.Helper()
	if err := p.ws.WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
		p.t.Fatalf("%s: send %s: %v", p.name, frame, err)
	}
}

// isStatus reports whether a frame only tells numbers.
func isStatus(frame string) bool {
	var m struct{ Method, Type string }
	json.Unmarshal([]byte(frame), &m)
	return strings.HasSuffix(m.Method, "status") || strings.HasSuffix(m.Type, "status")
}

// next returns the next frame that is not a status, or "closed CODE".
func (p *peer) next() string { return p.nextOf(false) }

func (p *peer) nextOf(status bool) string {
	p.t.Helper()
	timeout := time.After(p.timeout)
	for {
		select {
		case f, ok := <-p.frames:
			if !ok {
				return p.ending()
			}
			if status || !isStatus(f) {
				return f
			}
		case <-timeout:
			p.t.Fatalf("%s: nothing came", p.name)
		}
	}
}

func (p *peer) ending() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c, ok := errors.AsType[*websocket.CloseError](p.end); ok {
		return fmt.Sprintf("closed %d", c.Code)
	}
	return "closed"
}

// quiet fails if a frame comes within d that does more than tell numbers.
func (p *peer) quiet(d time.Duration) {
	p.t.Helper()
	timeout := time.After(d)
	for {
		select {
		case f, ok := <-p.frames:
			if !ok {
				p.t.Fatalf("%s: %s", p.name, p.ending())
			}
			if !isStatus(f) {
				p.t.Fatalf("%s: unexpected %s", p.name, f)
			}
		case <-timeout:
			return
		}
	}
}

func (p *peer) expect(want string) {
	p.t.Helper()
	if got := p.next(); got != want {
		p.t.Fatalf("%s:\n got %s\nwant %s", p.name, got, want)
	}
}

// message is any frame.
type message struct {
	JSONRPC      string          `json:"jsonrpc"`
	ID           json.RawMessage `json:"id"`
	Method       string          `json:"method"`
	Params       json.RawMessage `json:"params"`
	Result       json.RawMessage `json:"result"`
	Error        *spec.Error     `json:"error"`
	ConnectionID string          `json:"connectionId"`
}

func (p *peer) message() message {
	p.t.Helper()
	f := p.next()
	var m message
	if err := json.Unmarshal([]byte(f), &m); err != nil {
		p.t.Fatalf("%s: %v: %s", p.name, err, f)
	}
	return m
}

// field returns the string at a member of a JSON object.
func field(t *testing.T, object json.RawMessage, name string) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(object, &m); err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	s, _ := m[name].(string)
	return s
}

// extension connects an extension of 1.0 and returns it with its id.
func (r *rig) extension(t *testing.T, token, clientID string) (*peer, string) {
	t.Helper()
	p := r.open(t, "extension "+clientID, "/extension")
	p.expect(`{"jsonrpc":"2.0","id":"proxy:1","method":"authenticate","params":{}}`)
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"proxy:1","result":{"name":"Chrome 141","accessToken":%q,"client_id":%q}}`, token, clientID))
	return p, field(t, p.message().Params, "extension_id")
}

// client connects a client of 1.0.
func (r *rig) client(t *testing.T, token string) *peer {
	t.Helper()
	p := r.open(t, "client", "/mcp")
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"mcp_handshake","params":{"accessToken":%q}}`, token))
	if m := p.message(); m.Error != nil {
		t.Fatal(m.Error)
	}
	return p
}

// connected connects a client of 1.0 and has it connect to an extension. It returns
// the connection's id, too.
func (r *rig) connected(t *testing.T, token, extensionID string) (*peer, string) {
	t.Helper()
	p := r.client(t, token)
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"connect","params":{"extension_id":%q}}`, extensionID))
	m := p.message()
	if m.Error != nil {
		t.Fatal(m.Error)
	}
	return p, field(t, m.Result, "connection_id")
}
