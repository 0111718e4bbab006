//go:build nightly

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport/wsserver/wstest"
)

// flooding is a user who takes all that there is.
type flooding struct {
	*place
	ctx    context.Context
	token  string
	going  sync.WaitGroup
	lastID atomic.Int64
	open   atomic.Int64 // streams and sockets

	requests, calls, streams, sockets counted
}

type counted struct{ yes, no atomic.Int64 }

func (c *counted) String() string {
	return fmt.Sprintf("%d pass and %d do not", c.yes.Load(), c.no.Load())
}

func (f *flooding) passed() int64 {
	return f.requests.yes.Load() + f.calls.yes.Load() + f.streams.yes.Load() + f.sockets.yes.Load()
}

func (f *flooding) String() string {
	return fmt.Sprintf("of requests %s, of calls %s, of streams %s, of sockets %s", &f.requests, &f.calls, &f.streams, &f.sockets)
}

// once sends a request and returns the status of the answer and its body, 0 if there is none.
func (f *flooding) once(ctx context.Context, method, path, body string, header http.Header) (int, string) {
	req, err := http.NewRequestWithContext(ctx, method, f.url()+path, strings.NewReader(body))
	if err != nil {
		f.t.Error(err)
		return 0, ""
	}
	req.Header = bearer(f.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for key, values := range header {
		req.Header[key] = values
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK && method == http.MethodGet {
		f.open.Add(1)
		defer f.open.Add(-1)
	}
	b, _ := io.ReadAll(resp.Body) // of a stream as long as it lasts
	if resp.StatusCode == http.StatusTooManyRequests && resp.Header.Get("Retry-After") == "" {
		f.t.Error("a refusal does not say when to try again")
	}
	return resp.StatusCode, string(b)
}

// count sends a request and counts whether it has passed.
func (f *flooding) count(c *counted, method, path, body string, header http.Header) {
	switch status, answer := f.once(f.ctx, method, path, body, header); {
	case status == 0: // the flood ends
	case status == http.StatusTooManyRequests || strings.Contains(answer, string(spec.FailQueueFull)):
		c.no.Add(1)
	case status == http.StatusOK:
		c.yes.Add(1)
	default:
		f.t.Errorf("%s %s: %d %s", method, path, status, answer)
	}
}

// each has n goroutines do something again and again.
func (f *flooding) each(n int, do func()) {
	for range n {
		f.going.Go(func() {
			for f.ctx.Err() == nil {
				do()
			}
		})
	}
}

// socket joins as one more tab, for as long as it may.
func (f *flooding) socket() {
	peer, _, err := wstest.Connect(f.ctx, "ws://"+f.tabsAt()+"/tabs", http.Header{"Origin": {tabOrigin}}, spec.Subprotocol)
	if err != nil {
		return
	}
	defer context.AfterFunc(f.ctx, func() { peer.Close() })()
	defer peer.Close()
	peer.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"browser/hello","params":{"protocolVersion":"tabhub.v1","token":%q}}`, f.token))
	for {
		frame, err := peer.Receive()
		switch {
		case err != nil:
			return
		case rawjson.Get(frame, "error") != nil:
			if code := string(rawjson.Get(frame, "error", "code")); code == fmt.Sprint(spec.CodeLimit) {
				f.sockets.no.Add(1)
			}
		case string(rawjson.Get(frame, "id")) == "1":
			f.sockets.yes.Add(1)
			f.open.Add(1)
			defer f.open.Add(-1)
		}
	}
}

// One user who takes all that there is, by requests, streams, sockets and calls, is held back.
// Another one notices nothing, and who it is can still look and decide.
func TestOneUserDoesNotStarveAnother(t *testing.T) {
	p := newPlace(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("0123456789abcdef", 4)), 0o600); err != nil {
		t.Fatal(err)
	}
	const sockets, calls = 24, 8
	p.serve("--auth", "jwt", "--jwt-secret", secret, "--policy", "open", "--set", "call-timeout=2m", "--set", "user-sockets="+fmt.Sprint(sockets), "--set", "user-calls="+fmt.Sprint(calls))
	token := func(user string) string {
		return signed(t, secret, map[string]any{"user_id": user, "exp": time.Now().Add(time.Hour).Unix()})
	}
	alice, bob := token("alice"), token("bob")
	for _, token := range []string{alice, bob} {
		left := make(chan struct{})
		p.open(&tab{key: "same", token: token, tools: `[{"name":"quick"},{"name":"stuck"}]`, run: func(tool string, args json.RawMessage) string {
			if tool == "stuck" {
				<-left
			}
			return echo(args)
		}})
		t.Cleanup(func() { close(left) })
	}
	client := p.httpAs(bob)
	quick := listTools(t, client).named("_quick")

	ctx, stop := context.WithCancel(t.Context())
	f := &flooding{place: p, ctx: ctx, token: alice}
	defer func() { stop(); f.going.Wait() }()
	agent := p.httpAs(alice)
	stuck := listTools(t, agent).named("_stuck")
	began := time.Now()
	f.each(2*calls, func() {
		f.count(&f.calls, "POST", "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}`, f.lastID.Add(1), stuck), agent.header)
	})
	f.each(2*sockets, func() { f.count(&f.streams, "GET", "/sse", "", nil) })
	f.each(2*sockets, f.socket)
	f.each(16, func() { f.count(&f.requests, "POST", "/mcp", toolsListBody, agent.header) })
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(timeout); min(f.requests.no.Load(), f.calls.no.Load(), f.streams.no.Load(), f.sockets.no.Load()) == 0; {
		if time.Now().After(late) {
			t.Fatal("not everything is refused that is too much: " + f.String())
		}
		<-tick.C
		var tabs []json.RawMessage
		p.apiAs(alice, "/api/tabs", &tabs) // fails the test unless it is answered
	}
	for n := range 300 { // a hundred a second
		<-tick.C
		if a := client.ask("tools/call", fmt.Sprintf(`{"name":%q}`, quick)); a.outcome() != "ok" {
			t.Fatalf("Bob's call %d: %s%s", n, a.result, a.err)
		}
	}
	took := time.Since(began)
	t.Logf("in %v of Alice's %s", took, f)
	if n := f.open.Load(); n > 2*sockets { // of clients, and of browsers and pages
		t.Errorf("Alice has %d sockets and streams", n)
	}
	if most := int64((took.Seconds() + 5) * 100); f.passed() > most {
		t.Errorf("%d requests of Alice have passed, want %d at most", f.passed(), most)
	}
	stop()
	f.going.Wait()
	for late := time.Now().Add(timeout); ; {
		if status, body := f.once(t.Context(), "POST", "/mcp", toolsListBody, agent.header); status == http.StatusOK {
			break
		} else if time.Now().After(late) {
			t.Fatalf("Alice is still held back: %d %s", status, body)
		}
	}
}
