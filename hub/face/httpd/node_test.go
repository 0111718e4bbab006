package httpd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tabhub/hub/cluster/forward"
	"tabhub/hub/face/admin"
	"tabhub/hub/face/endpoint"
	"tabhub/hub/tenant"
	"tabhub/hub/trust/auth"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// located is a Locator that knows where each user is.
type located struct {
	mu    sync.Mutex
	to    http.Handler                 // where all others are; may be nil
	of    map[string]spec.UserID       // credentials
	at    map[spec.UserID]http.Handler // users that are elsewhere
	err   error
	left  bool // in the moment after
	asked []spec.UserID
}

func (l *located) UserOf(_ context.Context, credential string) (spec.UserID, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of[credential], nil
}

func (l *located) Locate(_ context.Context, user spec.UserID) (http.Handler, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, user)
	if at, ok := l.at[user]; ok {
		return at, l.err
	}
	return l.to, l.err
}

func (l *located) Take(ctx context.Context, user spec.UserID) error {
	at, err := l.Locate(ctx, user)
	if err == nil && at != nil {
		err = storage.ErrOwned
	}
	return err
}

func (l *located) Has(spec.UserID) bool { return !l.left }

func (l *located) set(user spec.UserID, at http.Handler, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at[user], l.err = at, err
}

// entranceServer is a node that clients come to, in front of one that has the users.
type entranceServer struct {
	*testServer // asks the entrance
	front       *Server
	owner       *testServer
	where       *located
	forwarder   *forward.Forwarder
	node        net.Listener // of the owner
}

// notOwners is the Verifier of a node that does not have the credentials.
type notOwners struct{}

func (notOwners) Verify(string) (auth.Identity, error) {
	return auth.Identity{}, errors.New("the node that has not the user has checked the credential")
}

// openEntrance serves a hub on a node, and has another in front of it, which has no user.
func openEntrance(t testing.TB, change func(*GuardOptions, *Options)) *entranceServer {
	t.Helper()
	d := newTestServer(t, func(g *GuardOptions, o *Options) {
		o.Locator = &located{at: map[spec.UserID]http.Handler{}}
		if change != nil {
			change(g, o)
		}
	})
	return d.entrance(t, change)
}

func (d *testServer) entrance(t testing.TB, change func(*GuardOptions, *Options)) *entranceServer {
	t.Helper()
	e := &entranceServer{owner: d, where: &located{of: map[string]spec.UserID{}, at: map[spec.UserID]http.Handler{}}}
	var err error
	if e.node, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	node := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.server.ServeForwarded(w, r) != nil {
			w.Header()[forward.OwnerHeader] = []string{""}
			w.WriteHeader(http.StatusMisdirectedRequest)
		}
	})}
	go node.Serve(e.node)
	t.Cleanup(func() { node.Close() })
	e.forwarder = forward.New(forward.Options{Dial: func(ctx context.Context, node string) (net.Conn, error) {
		if node != "owner/1" {
			return nil, fmt.Errorf("there is no node %s", node)
		}
		return new(net.Dialer).DialContext(ctx, "tcp", e.node.Addr().String())
	}})
	to := e.forwarder.To("owner/1", func(_ context.Context, node, owner string) (string, error) { return "owner/1", nil })
	e.where.to = to

	g := GuardOptions{Verifier: notOwners{}, AllowOrigins: []string{"https://app.example.com"}}
	o := Options{
		Tenants: tenant.New(func(context.Context, spec.UserID) (*tenant.Tenant, error) {
			return nil, errors.New("a user's hub was opened on the wrong node")
		}, slog.New(slog.DiscardHandler)),
		API: admin.Options{
			Info:   func() admin.Info { return admin.Info{Version: "entrance", Started: time.Now()} },
			Doctor: func(context.Context) []admin.Finding { return nil },
			Stop:   func(why string) { d.stopped <- why },
		},
		Log: slog.New(slog.NewTextHandler(d.log, nil)),
	}
	if change != nil {
		change(&g, &o)
	}
	o.Locator = e.where
	if g.Verifier != nil {
		g.Verifier = notOwners{}
	}
	o.Guard = newGuard(t, g)
	in := *d // what is asked goes to the entrance, what is looked at is the owner's
	e.front = New(o)
	e.testServer = &in
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "httpd-")
	if err != nil {
		t.Fatal(err)
	}
	in.addr, in.socket = ln.Addr().String(), filepath.Join(dir, "hub.sock")
	own, err := net.Listen("unix", in.socket)
	if err != nil {
		t.Fatal(err)
	}
	go e.front.Serve(ln)
	go e.front.ServeOwner(own)
	t.Cleanup(func() {
		e.forwarder.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := e.front.Shutdown(ctx, "stop"); err != nil {
			t.Error(err)
		}
		os.RemoveAll(dir)
	})
	return e
}

// A request gets the same answer at each node, from each client.
func TestEntranceAnswersAsTheOwner(t *testing.T) {
	d := openEntrance(t, nil)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go d.owner.server.Serve(ln)
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
	}{
		{"a page", "GET", "/api/tabs", "", nil},
		{"many tools", "GET", "/api/tools", "", nil},
		{"a wrong token", "GET", "/api/tabs", "", []string{"Authorization", "Bearer wrong"}},
		{"no token", "GET", "/api/tabs", "", []string{"Authorization", ""}},
		{"no token at /sse", "GET", "/sse", "", []string{"Authorization", ""}},
		{"a token in the query", "GET", "/message?token=wrong", "", []string{"Authorization", ""}},
		{"a strange query", "GET", "/api/log?limit=1;x=%zz", "", nil},
		{"a foreign origin", "POST", "/mcp", "{}", []string{"Origin", "https://evil.example"}},
		{"an allowed origin", "POST", "/mcp", "{}", []string{"Origin", "https://app.example.com"}},
		{"a preflight", "OPTIONS", "/mcp", "", []string{"Origin", "https://app.example.com", "Access-Control-Request-Method", "POST", "Authorization", ""}},
		{"a method", "PUT", "/api/tabs", "", nil},
		{"no such path", "GET", "/api/nothing", "", nil},
		{"a foreign host", "GET", "/api/tabs", "", []string{"Host", "evil.example"}},
		{"a body that is not kept", "POST", "/api/call", `{"name":"` + strings.Repeat("x", 1<<20) + `"}`, nil},
		{"what is no JSON", "POST", "/api/call", "what", nil},
		{"an unknown tool", "POST", "/api/call", `{"name":"website_tool_none"}`, nil},
		{"MCP", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, []string{"Accept", "application/json, text/event-stream"}},
		{"an unknown session", "GET", "/mcp", "", []string{"Mcp-Session-Id", "none", "Accept", "text/event-stream"}},
		{"the wrong protocol", "GET", "/attach", "", []string{"Connection", "Upgrade", "Upgrade", "other"}},
		{"an upgrade that is none", "GET", "/tabs", "", nil},
		{"HTTP/2 over plain text", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, []string{"Accept", "application/json, text/event-stream", "Connection", "Upgrade, HTTP2-Settings", "Upgrade", "h2c", "Http2-Settings", "AAMAAABkAAQCAAAAAAIAAAAA"}},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			direct := *d.owner
			direct.addr = ln.Addr().String()
			direct.t = t
			via := *d.testServer
			via.t = t
			wantStatus, want, wantHeader := direct.ask(c.method, c.path, c.body, c.headers...)
			status, body, header := via.ask(c.method, c.path, c.body, c.headers...)
			body = strings.ReplaceAll(body, via.addr, direct.addr)
			if status != wantStatus || body != want {
				t.Errorf("%d %.300s, want %d %.300s", status, body, wantStatus, want)
			}
			for name, values := range wantHeader {
				got := strings.ReplaceAll(strings.Join(header[name], ","), via.addr, direct.addr)
				if name != "Date" && name != "Mcp-Session-Id" && got != strings.Join(values, ",") {
					t.Errorf("%s is %q, want %q", name, got, values)
				}
			}
			if len(header) != len(wantHeader) {
				t.Errorf("headers %v, want %v", header, wantHeader)
			}
		})
	}
}

// What only the entrance can know of a connection, nobody else can say.
func TestEntranceHeaderIsBelievedNobody(t *testing.T) {
	d := openEntrance(t, nil)
	claim, _ := json.Marshal(entrance{User: spec.LocalUser, Owner: true, SameMachine: true, SameAccount: true, Remote: "127.0.0.1:1", Local: "127.0.0.1:3300"})
	for name, headers := range map[string][]string{
		"it":             {"Tabhub-Entrance", string(claim)},
		"in small":       {"tabhub-entrance", string(claim)},
		"as hop-by-hop":  {"Tabhub-Entrance", string(claim), "Connection", "Tabhub-Entrance"},
		"as the trailer": {"Trailer", "Tabhub-Entrance", "Tabhub-Entrance", string(claim)},
		"a proxy":        {"X-Forwarded-For", "127.0.0.1", "Connection", "X-Forwarded-For, Origin, Authorization"},
	} {
		// A wrong token is wrong, and what is the owner's alone is not for who has the token.
		if status, body, _ := d.ask("GET", "/api/tabs", "", append(headers, "Authorization", "")...); status != 401 {
			t.Errorf("%s: %d %s", name, status, body)
		}
		if status, body, _ := d.ask("POST", "/api/clients", `{"name":"x"}`, headers...); status != 403 {
			t.Errorf("%s: %d %s", name, status, body)
		}
		if status, _, _ := d.ask("GET", "/attach", "", headers...); status != 404 {
			t.Errorf("%s: %d", name, status)
		}
	}
	// Without it, or with two, the nodes' own listener serves nothing.
	for name, lines := range map[string]string{
		"none": "", "two": "Tabhub-Entrance: " + string(claim) + "\r\nTabhub-Entrance: " + string(claim) + "\r\n",
		"no JSON": "Tabhub-Entrance: what\r\n", "nobody": "Tabhub-Entrance: {}\r\n",
	} {
		conn, err := net.Dial("tcp", d.node.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "GET /api/tabs HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s\r\n", d.addr, secret, lines)
		if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || resp.StatusCode != 400 {
			t.Errorf("%s: %v %v", name, resp, err)
		}
	}
}

// The commands of the hub's owner reach the hub wherever it is, and know which node they ask.
func TestEntranceForItsOwner(t *testing.T) {
	d := openEntrance(t, nil)
	status, body := d.askOwner("GET", "/api/status", "")
	var report admin.StatusReport
	if err := json.Unmarshal([]byte(body), &report); err != nil || status != 200 || report.Version != "entrance" || report.User != spec.LocalUser || report.Hub.Tabs != 1 {
		t.Errorf("%d %+v %v", status, report, err)
	}
	if status, body := d.askOwner("GET", "/api/doctor", ""); status != 200 || body != "[]\n" {
		t.Errorf("%d %s", status, body)
	}
	if status, body := d.askOwner("GET", "/api/tabs", ""); status != 200 || !strings.Contains(body, "demo.tabhub") {
		t.Errorf("%d %s", status, body)
	}
	if status, body := d.askOwner("POST", "/api/stop", `{"reason":"stop"}`); status != 202 || <-d.stopped != "stop" {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := d.askOwner("GET", "/api/tabs", "", "Origin", "http://"+d.addr); status != 403 {
		t.Errorf("a page came by the owner's socket: %d", status)
	}
	// A dashboard's page, whose session only the owner of the user knows.
	d.owner.server.o.URL = "http://" + d.addr
	session := d.signIn()
	for path, want := range map[string]int{"/api/status": 200, "/api/tabs": 200, "/api/doctor": 200} {
		if got := d.as(session, "GET", path, ""); got != want {
			t.Errorf("%s: %d", path, got)
		}
	}
	var watched admin.WatchEvent
	if _, watched = d.startWatch(); len(watched.Changed) == 0 {
		t.Errorf("watched is %+v", watched)
	}
}

// A stdio bridge works through another node, to the farewell.
func TestBridgeThroughEntrance(t *testing.T) {
	d := openEntrance(t, nil)
	conn, r := d.attach("")
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, `"id":1,"result"`) {
		t.Fatalf("%q, %v", line, err)
	}
	fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"website_tool_demo_tabhub__search_products","arguments":{"query":"mug"}}}`)
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, `"id":2,"result"`) {
		t.Fatalf("%q, %v", line, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := d.owner.server.Shutdown(ctx, "upgrade"); err != nil {
		t.Error(err)
	}
	rest, err := io.ReadAll(r)
	if err != nil || !strings.HasSuffix(string(rest), `{"jsonrpc":"2.0","method":"tabhub/farewell","params":{"reason":"upgrade","settled":true}}`+"\n") {
		t.Errorf("the bridge cannot know why its hub ended: %q, %v", rest, err)
	}
}

// A hub with accounts: each request goes to where its user is, and is not another's there.
func TestEntranceOfAccounts(t *testing.T) {
	change := func(g *GuardOptions, o *Options) {
		g.Accounts, g.Verifier = true, users{"ann's": {User: "ann"}, "bob's": {User: "bob"}}
	}
	d := openEntrance(t, change)
	d.where.of = map[string]spec.UserID{"ann's": "ann", "bob's": "bob", "forged": "ann"}
	for token, want := range map[string]int{"ann's": 200, "bob's": 200, "forged": 401, "unknown": 401} {
		status, body, _ := d.ask("GET", "/api/tabs", "", "Authorization", "Bearer "+token)
		if status != want {
			t.Errorf("%s: %d %s", token, status, body)
		}
	}
	// The node takes the request for another's than its credential is.
	d.where.of["ann's"] = "bob"
	if status, body, _ := d.ask("GET", "/api/tabs", "", "Authorization", "Bearer ann's"); status != 401 || !strings.Contains(body, "different users") {
		t.Errorf("%d %s", status, body)
	}
	d.where.set("bob", nil, errors.New("secret text"))
	if status, body, h := d.ask("GET", "/api/tabs", "", "Authorization", "Bearer bob's"); status != 503 || strings.Contains(body, "secret") || h.Get("Retry-After") != "1" {
		t.Errorf("%d %s", status, body)
	}
	// What a socket shows in its first message.
	r := ask("/tabs ws", "127.0.0.1:3300", "-")
	pass, err := d.front.guard.checkOrigin(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	r = r.WithContext(context.WithValue(r.Context(), passKey{}, pass))
	d.where.set("bob", nil, nil)
	d.where.of["ann's"] = "ann"
	for credential, elsewhere := range map[string]bool{"ann's": true, "bob's": false, "unknown": false, "": false} {
		err := d.front.LocateSocket(r, credential)
		if _, ok := errors.AsType[*tabtransport.RemoteError](err); ok != elsewhere || !ok && err != nil {
			t.Errorf("%s: %v", credential, err)
		}
	}
}

// lookups is a Locator that counts the credentials that are looked up.
type lookups struct {
	*located
	n int
}

func (l *lookups) UserOf(ctx context.Context, credential string) (spec.UserID, error) {
	l.n++
	return l.located.UserOf(ctx, credential)
}

// One request without a valid credential cannot have a thousand looked up in the nodes' store.
func TestWrongCredentialsAreLookedUpOnce(t *testing.T) {
	l := &lookups{located: &located{of: map[string]spec.UserID{"ann's": "ann"}, at: map[spec.UserID]http.Handler{"ann": nil}}}
	d := open(t, func(g *GuardOptions, o *Options) {
		g.Accounts, g.Verifier = true, users{"ann's": {User: "ann"}}
		o.Locator = l
	})
	for query, want := range map[string]int{
		"?token=wrong" + strings.Repeat("&token=wrong", 100): 401,
		"?token=wrong&token=ann's":                           401,
		"?token=&token=ann's":                                401,
		"?token=ann's&token=wrong":                           401,
		"?token=ann's&token=ann's":                           405,
	} {
		l.n = 0
		status, body, _ := d.ask("DELETE", "/sse"+query, "", "Authorization", "")
		if status != want || l.n > 1 {
			t.Errorf("%.40s: %d %s, after %d were looked up", query, status, body, l.n)
		}
	}
}

// unchecked is the Verifier of a node that has nothing to check tokens with.
type unchecked struct{}

func (unchecked) Verify(string) (auth.Identity, error) {
	return auth.Identity{}, fmt.Errorf("%w: the issuer is away", auth.ErrUnchecked)
}

// A credential that may be good is not refused: a client would have its user sign in again.
func TestCredentialThatCannotBeChecked(t *testing.T) {
	d := open(t, func(g *GuardOptions, o *Options) {
		g.Accounts, g.Verifier = true, unchecked{}
		o.Locator = &located{}
	})
	for _, path := range []string{"/mcp", "/sse", "/api/tabs", "/metrics"} {
		status, body, h := d.ask("GET", path, "")
		if status != http.StatusServiceUnavailable || h.Get("Retry-After") == "" || h.Get("WWW-Authenticate") != "" || !strings.Contains(body, "the issuer is away") {
			t.Errorf("%s: %d %v %s", path, status, h, body)
		}
	}
	r := ask("/tabs ws", "127.0.0.1:3300", "-")
	pass, err := d.server.guard.checkOrigin(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	r = r.WithContext(context.WithValue(r.Context(), passKey{}, pass))
	if _, err := d.server.guard.Admit(r, "token"); !errors.Is(err, auth.ErrUnchecked) {
		t.Errorf("in a first message: %v", err)
	}
}

// Users that move between two nodes while a request is under way end nowhere, but soon.
func TestEntranceFollowsAUser(t *testing.T) {
	d := openEntrance(t, nil)
	moved := 0
	d.where.set(spec.LocalUser, d.forwarder.To("gone/1", func(_ context.Context, node, owner string) (string, error) {
		moved++
		return map[string]string{"gone/1": "owner/1"}[node], nil
	}), nil)
	if status, body, _ := d.ask("POST", "/api/signin", "{}"); status != 200 || moved != 1 {
		t.Errorf("%d %s after %d", status, body, moved)
	}
	if status, body, _ := d.ask("POST", "/api/call", strings.Repeat(" ", 100<<10)+`{"name":"x"}`); status != 400 || !strings.Contains(body, "params") {
		t.Errorf("a large request whose first node is out of reach does not come whole: %d %s", status, body)
	}
	_, r := d.attach("")
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, `"id":1,"result"`) {
		t.Errorf("%q, %v", line, err)
	}
	// The owner believes that the entrance has it, and so on.
	d.owner.server.o.Locator.(*located).set(spec.LocalUser, d.forwarder.To("entrance/1", nil), nil)
	asked := 0
	d.where.set(spec.LocalUser, d.forwarder.To("owner/1", func(context.Context, string, string) (string, error) {
		asked++
		return "owner/1", nil
	}), nil)
	began := time.Now()
	status, body, h := d.ask("GET", "/api/tabs", "")
	if status != 503 || h.Get("Retry-After") != "1" || asked == 0 || asked > 10 || time.Since(began) > 9*time.Second {
		t.Errorf("%d %s, asked after %d", status, body, asked)
	}
	if h.Get(forward.OwnerHeader) != "" {
		t.Error("the client is told the nodes' names")
	}
}

// A user whose own node has lost the cluster waits at another node until the lease of that node is over.
func TestUserOfAnIsolatedNode(t *testing.T) {
	d := openEntrance(t, nil)
	owner := d.owner.server.o.Locator.(*located)
	owner.set(spec.LocalUser, nil, storage.ErrOwned)
	d.where.set(spec.LocalUser, d.forwarder.To("owner/1", func(context.Context, string, string) (string, error) {
		owner.set(spec.LocalUser, nil, nil)
		return "owner/1", nil
	}), nil)
	if status, body, _ := d.ask("POST", "/api/signin", "{}"); status != 200 {
		t.Errorf("%d %s", status, body)
	}
}

// A client that leaves ends what its request has begun on another node, and a node that ends
// takes the requests along that it has not answered.
func TestEndsThroughEntrance(t *testing.T) {
	began, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	d := openEntrance(t, nil)
	d.join("Chrome", "https://slow.example/", "Slow", func(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
		began <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return spec.Response{}, ctx.Err()
	}, `{"name":"wait","description":"Waits.","inputSchema":{"type":"object"}}`)
	call := `{"name":"website_tool_slow_example__wait","arguments":{}}`
	ctx, cancel := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "POST", "http://"+d.addr+"/api/call", strings.NewReader(call))
	req.Header.Set("Authorization", "Bearer "+secret)
	req.Header.Set("Content-Type", "application/json")
	done := make(chan error, 1)
	go func() { _, err := http.DefaultTransport.RoundTrip(req); done <- err }()
	<-began
	cancel()
	<-ended
	<-done
	type answer struct {
		status int
		body   string
	}
	got := make(chan answer, 1)
	go func() {
		status, body, _ := d.ask("POST", "/api/call", call)
		got <- answer{status, body}
	}()
	<-began
	d.forwarder.CloseMember("owner/1")
	if a := <-got; a.status != 502 || !strings.Contains(a.body, "may have been done") {
		t.Errorf("%+v", a)
	}
	<-ended
	if n := d.forwarder.Len(); n != 0 {
		t.Errorf("%d connections are left", n)
	}
}

// A node that ends says so of all users, also of those whose credentials it has let go of.
func TestEndingNodeRefusesNoCredential(t *testing.T) {
	d := openEntrance(t, nil)
	if status, body, _ := d.ask("GET", "/api/tabs", ""); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	d.front.draining.Store(true)
	if status, body, _ := d.ask("GET", "/api/tabs", ""); status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", status, body)
	}
}

// A credential that nobody knows any more, as its user has just left the node, is not refused.
func TestCredentialOfWhoHasLeft(t *testing.T) {
	for left, want := range map[bool]int{false: http.StatusUnauthorized, true: http.StatusServiceUnavailable} {
		d := open(t, func(g *GuardOptions, o *Options) {
			g.Accounts, g.Verifier = true, notOwners{}
			o.Locator = &located{of: map[string]spec.UserID{"token": "ann"}, at: map[spec.UserID]http.Handler{"ann": nil}, left: left}
		})
		status, body, header := d.askVia(http.DefaultTransport, "GET", "/api/tabs", "", "Authorization", "Bearer token")
		if status != want || left != (header.Get("Retry-After") != "") {
			t.Errorf("left %t: %d %s", left, status, body)
		}
		// Another node that has passed it on sends it again, to where the user is.
		r := ask("/api/tabs", "127.0.0.1:3300", "-")
		r.Header.Set("Authorization", "Bearer token")
		r.Header.Set(entranceHeader, `{"user":"ann","local":"127.0.0.1:3300"}`)
		w := httptest.NewRecorder()
		if err := d.server.ServeForwarded(w, r); errors.Is(err, storage.ErrOwned) != left {
			t.Errorf("left %t, by another node: %v, %d %s", left, err, w.Code, w.Body)
		}
	}
}

// What comes by another node in the moment in which this one ends is not lost: it is sent again.
func TestEndingNodeAnswersNobodyElses(t *testing.T) {
	d := newTestServer(t, func(_ *GuardOptions, o *Options) { o.Locator = &located{} })
	d.server.draining.Store(true)
	r := ask("/api/tabs", "127.0.0.1:3300", "-")
	r.Header.Set("Authorization", "Bearer "+secret)
	w := httptest.NewRecorder()
	if err := d.server.handle(w, r, &entrance{User: spec.LocalUser}); !errors.Is(err, storage.ErrOwned) || w.Body.Len() > 0 {
		t.Errorf("%v, %s", err, w.Body)
	}
}

// movesTo has another process take the user over in the moment in which the hub is to be opened.
func movesTo(there http.Handler) func(*GuardOptions, *Options) {
	where := &located{at: map[spec.UserID]http.Handler{}}
	return func(_ *GuardOptions, o *Options) {
		o.Locator = where
		o.Tenants = tenant.New(func(context.Context, spec.UserID) (*tenant.Tenant, error) {
			where.set(spec.LocalUser, there, nil)
			return nil, storage.ErrOwned
		}, slog.New(slog.DiscardHandler))
	}
}

// A user whom another node takes over in the moment of a request is served there, also where the
// request is about the process as well.
func TestUserMovesDuringRequest(t *testing.T) {
	there := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot) })
	for _, path := range []string{"/api/tabs", "/api/status"} {
		d := newTestServer(t, movesTo(there))
		r := ask(path, "127.0.0.1:3300", "-")
		r.Header.Set("Authorization", "Bearer "+secret)
		w := httptest.NewRecorder()
		d.server.ServeHTTP(w, r)
		if w.Code != http.StatusTeapot {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// A stream of a user whom another node takes over in the moment of the request does not keep the node
// from ending that it has come to; and the owner's commands know also then which node they ask.
func TestUserMovesDuringRequestOfAStream(t *testing.T) {
	came := make(chan struct{})
	there := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/status" {
			endpoint.WriteJSON(w, http.StatusOK, admin.StatusReport{Info: admin.Info{Version: "other"}})
			return
		}
		close(came)
		<-r.Context().Done()
	})
	d := open(t, movesTo(there))
	if status, body := d.askOwner("GET", "/api/status", ""); status != 200 || !strings.Contains(body, `"version":"v1"`) {
		t.Errorf("%d %s", status, body)
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+d.addr+"/sse", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	go func() {
		if resp, err := http.DefaultTransport.RoundTrip(req); err == nil {
			resp.Body.Close()
		}
	}()
	<-came
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := d.server.Shutdown(ctx, "stop"); err != nil {
		t.Error(err)
	}
}
