package mcpserver

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// pipes is a listener without a network, so that a bubble can hold both ends.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 3300} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p <- there
	return here, nil
}

// web is a Server behind net/http, and a client.
type web struct {
	t      *testing.T
	http   *http.Client
	url    string
	header http.Header // sent with each request
}

// asTester returns a context in which requests are the owner's.
func asTester(ctx context.Context) context.Context {
	return methods.WithIdentity(ctx, &auth.Identity{User: spec.LocalUser, Principal: policy.Owner})
}

// mux serves s to whom each request's Authorization names: "USER" or "USER CLIENT".
func (s *Server) mux() http.Handler {
	return s.muxFor(func(r *http.Request) *auth.Identity {
		user, client, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		return &auth.Identity{User: spec.UserID(user), Principal: &policy.Principal{ID: cmp.Or(client, "test")}}
	})
}

func (s *Server) muxFor(identify func(*http.Request) *auth.Identity) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.MCP())
	mux.Handle("/sse", s.SSE())
	mux.Handle("/message", s.Message())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := identify(r)
		ctx, cancel := id.Context(methods.WithIdentity(r.Context(), id)) // as httpd has it
		defer cancel()
		mux.ServeHTTP(w, r.WithContext(ctx))
	})
}

// overTCP serves s on a real socket.
func overTCP(t *testing.T, s *Server) *web { return handlerOverTCP(t, s, s.mux()) }

func handlerOverTCP(t *testing.T, s *Server, h http.Handler) *web {
	ts := httptest.NewServer(h)
	t.Cleanup(ts.Close)
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	return &web{t, ts.Client(), ts.URL, http.Header{}}
}

// inBubble serves s over pipes.
func inBubble(t *testing.T, s *Server) *web {
	l := make(pipes)
	srv := &http.Server{Handler: s.mux()}
	go srv.Serve(l)
	tr := &http.Transport{DialContext: l.dial}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		_ = s.Close(context.Background())
		srv.Close()
	})
	return &web{t, &http.Client{Transport: tr}, "http://hub.test:3300", http.Header{}}
}

func (c *web) do(method, path, body string, header ...string) *http.Response {
	c.t.Helper()
	return c.doContext(c.t.Context(), method, path, body, header...)
}

func (c *web) doContext(ctx context.Context, method, path, body string, header ...string) *http.Response {
	c.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header = c.header.Clone()
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i+1] == "" {
			r.Header.Del(header[i])
		}
	}
	resp, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp
}

// post returns the status and the body of a POST to /mcp.
func (c *web) post(body string, header ...string) (int, string) {
	c.t.Helper()
	resp := c.do("POST", "/mcp", body, header...)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode, uncalled(string(b))
}

// initialize begins a session and uses it from then on.
func (c *web) initialize(version string) {
	c.t.Helper()
	resp := c.do("POST", "/mcp", initializeLine(version))
	resp.Body.Close()
	if resp.StatusCode != 200 || resp.Header.Get("Mcp-Session-Id") == "" {
		c.t.Fatalf("initialize: %s, session %q", resp.Status, resp.Header.Get("Mcp-Session-Id"))
	}
	c.header.Set("Mcp-Session-Id", resp.Header.Get("Mcp-Session-Id"))
	c.header.Set("Mcp-Protocol-Version", version)
	if status, body := c.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); status != 202 || body != "" {
		c.t.Fatalf("initialized: %d %q", status, body)
	}
}

// events reads an event stream.
type events struct {
	t    *testing.T
	body io.ReadCloser
	r    *bufio.Reader
	id   string // of the latest event
}

func readEvents(t *testing.T, resp *http.Response) *events {
	t.Helper()
	if ct := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || ct != "text/event-stream" {
		t.Fatalf("%s, %s", resp.Status, ct)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return &events{t: t, body: resp.Body, r: bufio.NewReader(resp.Body)}
}

// next returns the name and data of the next event, io.EOF at the end, and notes its id. Of a
// comment it returns ":", of an event without data "id".
func (e *events) next() (name, data string, err error) {
	for {
		line, err := e.r.ReadString('\n')
		if err != nil {
			return "", "", err
		}
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "":
			return name, data, nil
		case strings.HasPrefix(line, ":"):
			return ":", "", nil
		case strings.HasPrefix(line, "id: "):
			e.id, name = line[len("id: "):], "id"
		case strings.HasPrefix(line, "event: "):
			name = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			data = uncalled(line[len("data: "):])
		default:
			e.t.Errorf("line %q", line)
		}
	}
}

// want reads the next message, which must be that.
func (e *events) want(data string) {
	e.t.Helper()
	name, got, err := e.next()
	for (name == ":" || name == "id") && err == nil {
		name, got, err = e.next()
	}
	if err != nil || name != "message" || got != data {
		e.t.Fatalf("%v %s\n got %s\nwant %s", err, name, got, data)
	}
}

func (e *events) wantEnd() {
	e.t.Helper()
	name, data, err := e.next()
	for (name == ":" || name == "id") && err == nil {
		name, data, err = e.next()
	}
	if err != io.EOF {
		e.t.Fatalf("%v: %s %s", err, name, data)
	}
}
