package httpd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub"
	"tabhub/hub/demo"
	"tabhub/hub/mcpserver"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// door is a Server over a real hub with the demo's tab, on a real listener, and on a
// socket for its owner.
type door struct {
	t       *testing.T
	server  *Server
	world   World
	peers   *tabtransport.Peers // how further tabs join
	addr    string
	socket  string // path of a Unix socket
	token   *Token
	log     *lockedBuffer
	stopped chan string
	served  chan error
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

func open(t *testing.T, change func(*GuardOptions, *Options)) *door {
	t.Helper()
	d := &door{t: t, token: NewToken(secret), log: new(lockedBuffer), stopped: make(chan string, 4), served: make(chan error, 2)}
	log := slog.New(slog.NewTextHandler(d.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	transport, store := tabtransport.NewMemory(), new(storage.Memory)
	h, err := hub.Open(t.Context(), hub.Options{User: spec.LocalUser, Transport: transport, Store: store, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	tab, err := demo.Join(t.Context(), transport)
	if err != nil {
		t.Fatal(err)
	}
	own := []mcpserver.Tool{{
		Definition: json.RawMessage(`{"name":"own","inputSchema":{"type":"object"}}`),
		Call: func(context.Context, json.RawMessage, string, func(spec.Progress)) json.RawMessage {
			return json.RawMessage(`{"content":[{"type":"text","text":"own"}]}`)
		},
	}}
	d.peers = transport
	d.world = World{Hub: h, MCP: mcpserver.New(h, mcpserver.Options{Own: own, Log: log}), Own: own}
	g := GuardOptions{Verifier: d.token, AllowOrigins: []string{"https://app.example.com"}}
	o := Options{
		World: func(context.Context, spec.UserID) (World, error) { return d.world, nil },
		Info:  func() Info { return Info{Version: "v1", Started: time.Now()} },
		Stop:  func(why string) { d.stopped <- why },
		Log:   log,
	}
	if change != nil {
		change(&g, &o)
	}
	o.Guard = newGuard(t, g)
	d.server = New(o)
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
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := d.server.Shutdown(ctx, "stop", []World{d.world}); err != nil {
			t.Error(err)
		}
		tab.Close()
		h.Close(ctx)
	})
	return d
}

// ask sends a request with the token, unless a header says otherwise.
func (d *door) ask(method, path, body string, headers ...string) (int, string, http.Header) {
	d.t.Helper()
	return d.askVia(http.DefaultTransport, method, path, body, append([]string{"Authorization", "Bearer " + secret}, headers...)...)
}

// askOwner sends a request over the owner's socket, without a token.
func (d *door) askOwner(method, path, body string, headers ...string) (int, string) {
	d.t.Helper()
	via := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", d.socket)
	}}
	status, answer, _ := d.askVia(via, method, path, body, headers...)
	return status, answer
}

func (d *door) askVia(via http.RoundTripper, method, path, body string, headers ...string) (int, string, http.Header) {
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

func TestAdminAPI(t *testing.T) {
	d := open(t, nil)
	search := "website_tool_demo_tabhub__search_products"
	for _, c := range []struct {
		method, path, body string
		status             int
		has                string
	}{
		{"GET", "/api/status", "", 200, `"tabs":1`},
		{"GET", "/api/tabs", "", 200, `"demo.tabhub"`},
		{"GET", "/api/browsers", "", 200, `[`},
		{"GET", "/api/tools", "", 200, `{"name":"own",`},
		{"GET", "/api/tools", "", 200, `"name":"` + search + `","domain":"demo.tabhub"`},
		{"GET", "/api/explain?name=" + search, "", 200, `"reason":`},
		{"GET", "/api/explain?name=nonsense", "", 404, `"nearest":[`},
		{"GET", "/api/explain?name=own", "", 400, `own is a tool of the hub itself`},
		{"GET", "/api/explain", "", 400, `name is missing`},
		{"POST", "/api/call", `{"name":"` + search + `","arguments":{"query":"mug"}}`, 200, `"content":[`},
		{"POST", "/api/call", `{"name":"own"}`, 200, `"text":"own"`},
		{"POST", "/api/call", `{"name":"website_tool_demo_tabhub__search_product"}`, 404, `"nearest":["` + search},
		{"POST", "/api/call", `{"name":"` + search + `","arguments":{"query":1}}`, 200, `INVALID_ARGUMENTS`},
		{"POST", "/api/call", `{}`, 400, `name is missing`},
		{"POST", "/api/call", `{"NAME":"own"}`, 400, `name is missing`},
		{"POST", "/api/call", `[]`, 400, `not what is expected`},
		{"POST", "/api/call", `[`, 400, `not what is expected`},
		{"GET", "/api/log?event=call", "", 200, `"tool":"search_products"`},
		{"GET", "/api/log?limit=0", "", 400, `1 to 10000`},
		{"GET", "/api/log?since=yesterday", "", 400, `write it as`},
		{"GET", "/api/log?event=x", "", 400, `may be`},
		{"PUT", "/api/site", `{"domain":"demo.tabhub","cache":true,"callTimeoutMs":1500}`, 200, ``},
		{"GET", "/api/site", "", 200, `{"domain":"demo.tabhub","cache":true,"callTimeoutMs":1500}`},
		{"PUT", "/api/site", `{"domain":"demo.tabhub","callTimeoutMs":-1}`, 400, `callTimeoutMs`},
		{"PUT", "/api/site", `{}`, 400, `domain is \"\"`},
		{"PUT", "/api/site", `{"domain":"not a domain"}`, 400, `such as example.com`},
		{"GET", "/api/log?event=proxy", "", 200, `[]`},
		{"GET", "/api/rejected", "", 200, `[]`},
		{"POST", "/api/stop", `{"reason":"upgrade"}`, 202, `stopping`},
		{"POST", "/api/stop", `{"reason":"why not"}`, 400, `reason`},
		{"POST", "/api/token", ``, 403, `no token of its own`},
		{"GET", "/api/nothing", "", 404, `/api/nothing`},
		{"GET", "/healthz", "", 200, `"service":"tabhub"`},
		{"GET", "/readyz", "", 200, `ready`},
		{"GET", "/nothing", "", 404, `nothing at this path`},
		{"POST", "/", "", 405, `/mcp`},
		{"GET", "/attach", "", 404, `tabhub stdio`},
	} {
		status, body, h := d.ask(c.method, c.path, c.body)
		if status != c.status || !strings.Contains(body, c.has) {
			t.Errorf("%s %s %s: %d %s; want %d with %s", c.method, c.path, c.body, status, body, c.status, c.has)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: a browser may guess what this is", c.method, c.path)
		}
	}
	if why := <-d.stopped; why != "upgrade" {
		t.Errorf("stopped because of %q", why)
	}
	if status, body, _ := d.ask("POST", "/api/call", `{"name":"x"}`, "Content-Type", "text/plain"); status != http.StatusUnsupportedMediaType {
		t.Errorf("a body that a form can send was taken: %d %s", status, body)
	}
	if status, _, _ := d.ask("PUT", "/api/site", `{"domain":"`+strings.Repeat("x", 70<<10)+`"}`); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a body of 70 KiB: %d", status)
	}
}

func TestRotate(t *testing.T) {
	d := open(t, func(_ *GuardOptions, o *Options) { o.Rotate = func() error { return nil } })
	d.server.o.Rotate = func() error { d.token.Set("the next one"); return nil }
	_, bridge := d.attach("Authorization: Bearer " + secret + "\r\n")
	_, other := d.attach("")
	req, _ := http.NewRequestWithContext(t.Context(), "GET", "http://"+d.addr+"/sse?token="+secret, nil)
	events, err := http.DefaultClient.Do(req)
	if err != nil || events.StatusCode != 200 {
		t.Fatalf("%v, %v", events, err)
	}
	defer events.Body.Close()
	if status, body, _ := d.ask("POST", "/api/token", ""); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	// Whoever came in with the old token is out.
	for name, r := range map[string]io.Reader{"bridge": bridge, "events": events.Body} {
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if status, _, _ := d.ask("GET", "/api/tabs", ""); status != 401 {
		t.Errorf("the old token is still good: %d", status)
	}
	if line, err := other.ReadString('\n'); err != nil || !strings.Contains(line, `"id":1,"result"`) {
		t.Errorf("a bridge that showed no token is out: %q, %v", line, err)
	}
}

func TestCORS(t *testing.T) {
	d := open(t, nil)
	const app = "https://app.example.com"
	status, _, h := d.ask("OPTIONS", "/mcp", "", "Origin", app, "Authorization", "", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,mcp-session-id", "Access-Control-Request-Private-Network", "true")
	if status != 204 || h.Get("Access-Control-Allow-Origin") != app || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "mcp-session-id") || h.Get("Access-Control-Allow-Private-Network") != "true" {
		t.Errorf("preflight: %d %v", status, h)
	}
	init := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"0"}}}`
	status, body, h := d.ask("POST", "/mcp", init, "Origin", app, "Accept", "application/json, text/event-stream")
	if status != 200 || h.Get("Access-Control-Allow-Origin") != app || !strings.Contains(h.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id") {
		t.Errorf("a page of an allowed origin cannot use /mcp: %d %s %v", status, body, h)
	}
	for _, origin := range []string{"https://evil.example", "http://localhost:3000"} {
		for _, method := range []string{"OPTIONS", "POST"} {
			if status, _, h := d.ask(method, "/mcp", init, "Origin", origin, "Access-Control-Request-Method", "POST"); status != 403 || h.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s from %s: %d %v", method, origin, status, h)
			}
		}
	}
	if status, _, h := d.ask("OPTIONS", "/api/tabs", "", "Origin", app, "Access-Control-Request-Method", "PUT"); status != 403 || h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("the admin API answers the preflight of a page: %d %v", status, h)
	}
	if status, _, _ := d.ask("OPTIONS", "/mcp", "", "Authorization", "", "Access-Control-Request-Method", "POST"); status != 401 {
		t.Errorf("a program that claims to be a preflight: %d", status)
	}
}

// attach opens a bridge's stream by hand. headers are lines of the request.
func (d *door) attach(headers string) (net.Conn, *bufio.Reader) {
	d.t.Helper()
	conn, err := net.Dial("unix", d.socket)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { conn.Close() })
	// The first message comes in the same segment as the request.
	fmt.Fprintf(conn, "GET /attach HTTP/1.1\r\nHost: hub.sock\r\nConnection: Upgrade\r\nUpgrade: %s\r\n%s\r\n"+
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n", AttachProtocol, headers)
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != 101 {
		d.t.Fatalf("%v, %v", resp, err)
	}
	return conn, r
}

// A bridge that goes on writing reads all that the hub said, to the last line.
func TestFarewellToABusyBridge(t *testing.T) {
	d := open(t, nil)
	conn, r := d.attach("")
	if _, err := r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	line := []byte(`{"jsonrpc":"2.0","method":"notifications/x","params":"` + strings.Repeat("x", 1<<20) + `"}` + "\n")
	busy := make(chan struct{}, 1)
	go func() {
		for {
			if _, err := conn.Write(line); err != nil {
				return
			}
			select {
			case busy <- struct{}{}:
			default:
			}
		}
	}()
	<-busy
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	go d.server.Shutdown(ctx, "upgrade", []World{d.world})
	rest, err := io.ReadAll(r)
	if err != nil || !strings.Contains(string(rest), `"tabhub/farewell"`) {
		t.Errorf("the bridge has read %q, %v", rest, err)
	}
	conn.Close()
	if err := <-d.served; err != nil {
		t.Error(err)
	}
}

func TestAttach(t *testing.T) {
	d := open(t, nil)
	conn, r := d.attach("")
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, `"id":1,"result"`) {
		t.Fatalf("%q, %v", line, err)
	}
	_, body, _ := d.ask("GET", "/api/status", "")
	if !strings.Contains(body, `"clients":1`) {
		t.Errorf("the bridge is not counted: %s", body)
	}
	fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"website_tool_demo_tabhub__search_products","arguments":{"query":"mug"}}}`)
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, `"id":2,"result"`) {
		t.Fatalf("%q, %v", line, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := d.server.Shutdown(ctx, "upgrade", []World{d.world}); err != nil {
		t.Error(err)
	}
	rest, err := io.ReadAll(r)
	if err != nil || !strings.HasSuffix(string(rest), `{"jsonrpc":"2.0","method":"tabhub/farewell","params":{"reason":"upgrade","settled":true}}`+"\n") {
		t.Errorf("the bridge cannot know why its hub ended: %q, %v", rest, err)
	}
	if err := <-d.served; err != nil {
		t.Error(err)
	}
}

// Over the socket that only the hub's own user can reach nothing is asked for, and a
// page has no business there.
func TestOwner(t *testing.T) {
	d := open(t, nil)
	call := `{"name":"website_tool_demo_tabhub__search_products","arguments":{"query":"mug"}}`
	for _, c := range []struct {
		method, path, body string
		headers            []string
		status             int
		has                string
	}{
		{"GET", "/api/status", "", nil, 200, `"user":"local"`},
		{"GET", "/api/tabs", "", nil, 200, `"demo.tabhub"`},
		{"GET", "/api/tabs", "", []string{"Host", "evil.example"}, 200, `"demo.tabhub"`},
		{"POST", "/api/call", call, nil, 200, `"content":[`},
		{"POST", "/api/stop", `{"reason":"stop"}`, nil, 202, `stopping`},
		{"GET", "/readyz", "", nil, 200, `ready`},
		{"GET", "/healthz", "", nil, 200, `tabhub`},
		{"GET", "/attach", "", nil, 426, `tabhub stdio`},
		// A credential that is shown must be good.
		{"GET", "/api/tabs", "", []string{"Authorization", "Bearer " + secret}, 200, `"demo.tabhub"`},
		{"GET", "/api/tabs", "", []string{"Authorization", "Bearer wrong"}, 401, `not this hub's`},
		{"POST", "/api/stop", `{"reason":"stop"}`, []string{"Authorization", "Bearer wrong"}, 401, `not this hub's`},
		// What is for others is not here.
		{"POST", "/mcp", `{}`, nil, 404, `tabhub status`},
		{"GET", "/sse", "", nil, 404, `tabhub status`},
		{"GET", "/tabs", "", nil, 404, `tabhub status`},
		// A page's request that something passes on.
		{"GET", "/api/tabs", "", []string{"Origin", "https://evil.example"}, 403, `not for web pages`},
		{"GET", "/api/tabs", "", []string{"Origin", "http://hub.sock"}, 403, `not for web pages`},
		{"GET", "/api/tabs", "", []string{"Origin", "https://app.example.com"}, 403, `not for web pages`},
		{"POST", "/api/stop", `{"reason":"stop"}`, []string{"Origin", "null", "Authorization", "Bearer " + secret}, 403, `not for web pages`},
		{"GET", "/healthz", "", []string{"Origin", "null"}, 403, `not for web pages`},
	} {
		if status, body := d.askOwner(c.method, c.path, c.body, c.headers...); status != c.status || !strings.Contains(body, c.has) {
			t.Errorf("%s %s %q: %d %s; want %d with %s", c.method, c.path, c.headers, status, body, c.status, c.has)
		}
	}
	// Nothing that a request says of itself makes it the owner's.
	if status, body, _ := d.ask("GET", "/api/tabs", "", "Authorization", "", "Host", "hub.sock"); status != 403 {
		t.Errorf("over the network: %d %s", status, body)
	}
}

// On a hub with accounts the owner may look after the process, and has no tabs.
func TestOwnerOfAccounts(t *testing.T) {
	d := open(t, func(g *GuardOptions, _ *Options) { g.Accounts = true })
	d.server.o.World = func(_ context.Context, user spec.UserID) (World, error) {
		if user == "" {
			t.Error("a hub of nobody was opened")
		}
		return d.world, nil
	}
	for _, c := range []struct {
		method, path, body, token string
		status                    int
		has                       string
	}{
		{"GET", "/api/status", "", "", 200, `"user":""`},
		{"GET", "/api/status", "", "", 200, `"version":"v1"`},
		{"GET", "/api/status", "", secret, 200, `"tabs":1`},
		{"GET", "/api/tabs", "", "", 401, `tabhub token mint`},
		{"GET", "/api/tabs", "", secret, 200, `"demo.tabhub"`},
		{"POST", "/api/call", `{"name":"own"}`, "", 401, `tabhub token mint`},
		{"POST", "/api/token", "", "", 401, `tabhub token mint`},
		{"GET", "/attach", "", "", 401, `tabhub token mint`},
		{"GET", "/attach", "", secret, 426, ``},
		{"GET", "/readyz", "", "", 401, `tabhub token mint`},
		{"POST", "/api/stop", `{"reason":"stop"}`, "", 202, `stopping`},
	} {
		var headers []string
		if c.token != "" {
			headers = []string{"Authorization", "Bearer " + c.token}
		}
		if status, body := d.askOwner(c.method, c.path, c.body, headers...); status != c.status || !strings.Contains(body, c.has) {
			t.Errorf("%s %s, token %q: %d %s; want %d with %s", c.method, c.path, c.token, status, body, c.status, c.has)
		}
	}
	if why := <-d.stopped; why != "stop" {
		t.Errorf("stopped because of %q", why)
	}
	if status, body, _ := d.ask("POST", "/api/stop", `{"reason":"stop"}`); status != 403 {
		t.Errorf("a user has stopped the hub of others: %d %s", status, body)
	}
}

// Whatever a request holds, the log does not get its token.
func TestTokenIsNeverLogged(t *testing.T) {
	d := open(t, nil)
	const wrong = "almost-the-secret-of-this-hub"
	for _, path := range []string{"/", "/sse", "/mcp", "/api/tabs", "/api/session", "/attach", "/tabs", "/nothing"} {
		for _, token := range []string{secret, wrong} {
			if path == "/sse" && token == secret {
				continue // it would stream
			}
			d.ask("GET", path+"?token="+token, "", "Authorization", "")
			d.ask("GET", path+"?token="+token, "", "Authorization", "Bearer "+token, "Origin", "https://evil.example")
			d.ask("POST", path, `{"token":"`+token+`"}`, "Authorization", "Bearer "+token)
			d.ask("POST", path, `{"code":"`+token+`"}`, "Authorization", "", "Origin", "http://"+d.addr)
			d.ask("GET", path, "", "Authorization", "", "Cookie", "tabhub-3300="+token)
		}
	}
	if log := d.log.String(); strings.Contains(log, secret) || strings.Contains(log, wrong) {
		t.Errorf("the log holds a token: %s", log)
	}
}

func TestHugeHeadersAreRefused(t *testing.T) {
	d := open(t, nil)
	if status, _, _ := d.ask("GET", "/healthz", "", "X-Large", strings.Repeat("x", 64<<10)); status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("%d", status)
	}
}

// An auto-started hub must not stay for ever, nor leave a client that is only quiet.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var expired time.Time
		start := time.Now()
		c := &clients{idle: 15 * time.Minute, expired: func() { expired = time.Now() }}
		c.start()
		time.Sleep(10 * time.Minute)
		leave := c.enter()
		time.Sleep(time.Hour)
		c.enter()()
		time.Sleep(time.Hour)
		synctest.Wait()
		if !expired.IsZero() {
			t.Fatal("it ended under a client")
		}
		leave()
		time.Sleep(15*time.Minute + time.Second)
		synctest.Wait()
		if want := start.Add(10*time.Minute + 2*time.Hour + 15*time.Minute); !expired.Equal(want) {
			t.Errorf("it ended at %v, want %v", expired.Sub(start), want.Sub(start))
		}
	})
}

// A client that announces a body and does not send it must not hold its connection for
// good, least of all one that shows no token.
func TestBodiesThatDoNotCome(t *testing.T) {
	d := open(t, func(_ *GuardOptions, o *Options) { o.BodyTimeout = 50 * time.Millisecond })
	for _, head := range []string{
		"POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\n",
		"POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer " + secret + "\r\n",
		"POST /message?sessionId=x HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer " + secret + "\r\n",
		"POST /api/call HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer " + secret + "\r\n",
		"GET /healthz HTTP/1.1\r\n",
		"GET / HTTP/1.1\r\nAuthorization: Bearer wrong\r\n",
	} {
		conn, err := net.Dial("tcp", d.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "%sHost: %s\r\nContent-Length: 100\r\n\r\n{", head, d.addr)
		conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.ReadAll(conn); err != nil {
			t.Errorf("%q: the connection stays: %v", head, err)
		}
	}
	// What takes long after its body has come is not cut off.
	if code, body, _ := d.ask("POST", "/api/call", `{"name":"own"}`); code != http.StatusOK {
		t.Errorf("%d %s", code, body)
	}
}

// A user of a shared hub learns nothing of its process and of the others.
func TestStatusOfAccounts(t *testing.T) {
	d := open(t, func(g *GuardOptions, o *Options) {
		g.Accounts = true
		o.Info = func() Info {
			return Info{Version: "v1", PID: 4711, DataDir: "/srv/tabhub", Addrs: []string{"10.0.0.7:3300"}, Sockets: map[string]int{"connections": 987654}}
		}
	})
	code, body, _ := d.ask("GET", "/api/status", "")
	if code != http.StatusOK || !strings.Contains(body, `"v1"`) {
		t.Fatalf("%d %s", code, body)
	}
	for _, secret := range []string{"4711", "/srv/tabhub", "10.0.0.7", "987654"} {
		if strings.Contains(body, secret) {
			t.Errorf("the status tells %s: %s", secret, body)
		}
	}
}
