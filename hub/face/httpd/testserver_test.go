package httpd

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tabhub/hub"
	"tabhub/hub/broadcast"
	"tabhub/hub/builtin"
	"tabhub/hub/demo"
	"tabhub/hub/face/admin"
	"tabhub/hub/face/mcpserver"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/tenant"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport"
)

// testServer is a Server over a real hub with the demo's tab, on a real listener, and on a
// socket for its owner.
type testServer struct {
	t       testing.TB
	server  *Server
	tenants *tenant.Registry
	tenant  *tenant.Tenant      // every user's
	peers   *tabtransport.Peers // how further tabs join
	addr    string
	socket  string // path of a Unix socket
	token   *auth.Token
	log     *lockedBuffer

	ownTakes time.Duration // how long a call of the builtin tool takes; only in a bubble
	stopped  chan string
	served   chan error
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// open serves on a port of this machine and on a socket.
func open(t testing.TB, change func(*GuardOptions, *Options)) *testServer {
	t.Helper()
	d := newTestServer(t, change)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d.addr = ln.Addr().String()
	go func() { d.served <- d.server.Serve(ln) }()
	dir, err := os.MkdirTemp("", "httpd-") // t.TempDir may be too long for the address of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	d.socket = filepath.Join(dir, "hub.sock")
	owner, err := net.Listen("unix", d.socket)
	if err != nil {
		t.Fatal(err)
	}
	go func() { d.served <- d.server.ServeOwner(owner) }()
	return d
}

// openPipes serves on pipes, for a test in a bubble, which the function dials.
func openPipes(t *testing.T) (*testServer, func() net.Conn) {
	t.Helper()
	d := newTestServer(t, nil)
	ln := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	d.addr = ln.Addr().String()
	go func() { d.served <- d.server.Serve(ln) }()
	return d, func() net.Conn {
		near, far := net.Pipe()
		ln.conns <- pipe{far}
		return near
	}
}

// pipes is a listener whose connections are pipes, with addresses of this machine.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 3300} }

type pipe struct{ net.Conn }

func (pipe) LocalAddr() net.Addr  { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 3300} }
func (pipe) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 50000} }

// signInURL is SignInURL, which cannot fail where there is no directory.
func (d *testServer) signInURL(id auth.Identity) string {
	d.t.Helper()
	url, err := d.server.SignInURL(id)
	if err != nil {
		d.t.Fatal(err)
	}
	return url
}

// newTestServer returns a Server that serves nothing yet.
func newTestServer(t testing.TB, change func(*GuardOptions, *Options)) *testServer {
	t.Helper()
	d := &testServer{t: t, token: auth.NewToken(secret), log: new(lockedBuffer), stopped: make(chan string, 4), served: make(chan error, 2)}
	log := slog.New(slog.NewTextHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	changed := new(broadcast.Signal)
	transport, store, recorded := tabtransport.NewPeers(), new(storagetest.Memory), record.Open(t.TempDir()+"/record", record.Options{Payloads: true, Changed: changed})
	h, err := hub.Open(t.Context(), hub.Options{User: spec.LocalUser, Transport: transport, Store: store, Log: log, Record: recorded, Changed: changed})
	if err != nil {
		t.Fatal(err)
	}
	tab, err := demo.Join(t.Context(), transport)
	if err != nil {
		t.Fatal(err)
	}
	own := []builtin.Tool{{
		Name:  "own",
		Input: json.RawMessage(`{"type":"object"}`),
		Class: func(action string) policy.Class {
			return map[string]policy.Class{"": policy.Read, "text": policy.Read, "goto": policy.Write, "click": policy.Act, "fill": policy.Act}[action]
		},
		Call: func(context.Context, *consent.Caller, json.RawMessage) (json.RawMessage, error) {
			time.Sleep(d.ownTakes)
			return json.RawMessage(`{"content":[{"type":"text","text":"own"}]}`), nil
		},
	}}
	d.peers = transport
	d.tenant = &tenant.Tenant{Hub: h, Record: recorded, Changed: changed, MCP: mcpserver.New(h.ClientView(), mcpserver.Options{Options: methods.Options{Builtin: own, Log: log}}), Builtin: own, Demo: tab}
	d.tenants = tenant.New(func(context.Context, spec.UserID) (*tenant.Tenant, error) { return d.tenant, nil }, log)
	g := GuardOptions{Verifier: d.token, AllowOrigins: []string{"https://app.example.com"}}
	o := Options{
		Tenants: d.tenants,
		API: admin.Options{
			Info:   func() admin.Info { return admin.Info{Version: "v1", Started: time.Now()} },
			Doctor: func(context.Context) []admin.Finding { return nil },
			Stop:   func(why string) { d.stopped <- why },
		},
		Token: d.token,
		Log:   log,
	}
	if change != nil {
		change(&g, &o)
	}
	o.Guard = newGuard(t, g)
	d.server = New(o)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := d.server.Shutdown(ctx, "stop"); err != nil {
			t.Error(err)
		}
		if err := d.tenants.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := d.tenant.Close(ctx); err != nil { // of which nobody may have asked for anything
			t.Error(err)
		}
	})
	return d
}

// serve is what a page does with what it is asked.
type serve = func(context.Context, tabtransport.Incoming) (spec.Response, error)

// answering is a page that answers each request the same.
func answering(result string) serve {
	return func(context.Context, tabtransport.Incoming) (spec.Response, error) {
		return spec.Response{Result: json.RawMessage(result)}, nil
	}
}

// join joins a page that offers tools to a hub: by itself, as its tab 0, or as tab 1 of a
// browser of that name, which vouches for its address. Without serve nothing is asked of it.
func join(t testing.TB, peers *tabtransport.Peers, browser, address, title string, serve serve, tools ...string) *tabtransport.Local {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	conn, tab := tabtransport.Conn{Origin: at.Scheme + "://" + at.Host}, int64(0)
	if browser != "" {
		conn, tab = tabtransport.Conn{Attested: true, Dialect: "tabhub.v1", Hello: &spec.Hello{
			ProtocolVersion: spec.ProtocolVersion, BrowserID: spec.BrowserID(address), BrowserName: browser, Capabilities: []spec.Capability{spec.CapHold},
		}}, 1
	}
	local, err := peers.Join(t.Context(), conn, serve)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(local.Close)
	m := &spec.Register{Kind: spec.KindTool, Title: title, TabURL: address}
	for _, tool := range tools {
		m.Items = append(m.Items, json.RawMessage(tool))
	}
	if _, err := local.Ask(t.Context(), tab, m); err != nil {
		t.Fatal(err)
	}
	return local
}

func (d *testServer) join(browser, address, title string, serve serve, tools ...string) *tabtransport.Local {
	d.t.Helper()
	return join(d.t, d.peers, browser, address, title, serve, tools...)
}

// setMode has the policy begin with a mode.
func (d *testServer) setMode(mode policy.Mode) {
	d.t.Helper()
	if err := d.tenant.Hub.Rules.EditPolicy("test", func(doc *policy.Document) error { doc.Mode = mode; return nil }); err != nil {
		d.t.Fatal(err)
	}
}

// ask sends a request with the token, unless a header says otherwise.
func (d *testServer) ask(method, path, body string, headers ...string) (int, string, http.Header) {
	d.t.Helper()
	return d.askVia(http.DefaultTransport, method, path, body, append([]string{"Authorization", "Bearer " + secret}, headers...)...)
}

// askOwner sends a request over the owner's socket, without a token.
func (d *testServer) askOwner(method, path, body string, headers ...string) (int, string) {
	d.t.Helper()
	status, answer, _ := d.askVia(d.ownersSocket(), method, path, body, headers...)
	return status, answer
}

func (d *testServer) ownersSocket() http.RoundTripper {
	return &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", d.socket)
	}}
}

func (d *testServer) askVia(via http.RoundTripper, method, path, body string, headers ...string) (int, string, http.Header) {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), method, "http://"+d.addr+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		} else if headers[i+1] == "" {
			req.Header.Del(headers[i])
		} else {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	resp, err := via.RoundTrip(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return resp.StatusCode, string(b), resp.Header
}
