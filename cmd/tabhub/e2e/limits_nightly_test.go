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
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport/wsserver/wstest"
)

// tabOf joins a tab of a user that offers the tools quick and stuck, of which the latter never
// answers.
func (p *place) tabOf(token string) {
	p.t.Helper()
	peer, _, err := wstest.Connect(p.within(), "ws://"+p.tabsAt()+"/tabs", http.Header{"Origin": {tabOrigin}}, spec.Subprotocol)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { peer.Close() })
	registered := make(chan struct{})
	go func() {
		for {
			frame, err := peer.Receive()
			if err != nil {
				return
			}
			id := string(rawjson.Get(frame, "id"))
			method, _ := rawjson.String(rawjson.Get(frame, "method"))
			name, _ := rawjson.String(rawjson.Get(frame, "params", "toolName"))
			switch {
			case method == spec.MethodExecuteTool && name == "quick":
				peer.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"success":true,"payload":{"content":[{"type":"text","text":"done"}]}}}`, id))
			case strings.HasPrefix(id, `"ping-`):
				peer.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{}}`, id))
			case id == "2":
				close(registered)
			}
		}
	}()
	peer.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"browser/hello","params":{"protocolVersion":"tabhub.v1","tabKey":"same","token":%q}}`, token))
	peer.Send([]byte(`{"jsonrpc":"2.0","id":2,"method":"browser/registerTools","params":{"tools":[{"name":"quick"},{"name":"stuck"}]}}`))
	select {
	case <-registered:
	case <-time.After(timeout):
		p.t.Fatal("the tab was not registered")
	}
}

// flooding is a user who takes all that there is.
type flooding struct {
	*place
	ctx    context.Context
	token  string
	going  sync.WaitGroup
	lastID atomic.Int64
	open   atomic.Int64 // streams and sockets
	ebb    sync.RWMutex // held to write while nothing new begins
	begun  atomic.Int64 // goroutines that wait for no ebb

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

// each has n goroutines do something again and again, but in an ebb.
func (f *flooding) each(n int, do func()) {
	for range n {
		f.begun.Add(1)
		f.going.Go(func() {
			for f.ctx.Err() == nil {
				f.begun.Add(-1)
				f.ebb.RLock()
				//lint:ignore SA2001 it waits for the end of the ebb
				f.ebb.RUnlock()
				f.begun.Add(1)
				do()
			}
		})
	}
}

// without calls do while nothing is under way but what lasts, which are most at a time.
func (f *flooding) without(most int, do func()) {
	f.t.Helper()
	f.ebb.Lock()
	defer f.ebb.Unlock()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for late := time.Now().Add(timeout); f.begun.Load() > int64(most); <-look.C {
		if time.Now().After(late) {
			f.t.Fatalf("%d of Alice's are under way: %s", f.begun.Load(), f)
		}
	}
	do()
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
	p.serve("--auth", "jwt", "--jwt-secret", secret, "--policy", "open", "--call-timeout", "2m", "--user-sockets", fmt.Sprint(sockets), "--user-calls", fmt.Sprint(calls))
	token := func(user string) string {
		return signed(t, secret, map[string]any{"user_id": user, "exp": time.Now().Add(time.Hour).Unix()})
	}
	alice, bob := token("alice"), token("bob")
	p.tabOf(alice)
	p.tabOf(bob)
	client := p.httpAs(bob)
	quick := listTools(t, client).named("_quick")
	// measure makes a hundred calls a second. It returns what half of them took at most, and what
	// nine of ten did.
	measure := func() (half, most time.Duration) {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		var all []time.Duration
		for range 30 {
			began := <-tick.C
			if a := client.ask("tools/call", fmt.Sprintf(`{"name":%q}`, quick)); a.outcome() != "ok" {
				t.Fatalf("Bob's call: %s%s", a.result, a.err)
			}
			all = append(all, time.Since(began))
		}
		slices.Sort(all)
		return all[len(all)/2], all[len(all)*9/10]
	}

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
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for late := time.Now().Add(timeout); min(f.requests.no.Load(), f.calls.no.Load(), f.streams.no.Load(), f.sockets.no.Load()) == 0; {
		if time.Now().After(late) {
			t.Fatal("not everything is refused that is too much: " + f.String())
		}
		<-look.C
		var tabs []json.RawMessage
		p.apiAs(alice, "/api/tabs", &tabs) // fails the test unless it is answered
	}
	// Bob's calls with Alice's flood and without it, in turns: what else the machine has to do is
	// beside both. A turn is compared with the one next to it, and the test is about the median
	// turn. The slowest calls are not the hub's alone: the flood is made by this process, too.
	var halves []float64
	for range 9 {
		late := time.Now().Add(timeout)
		for no := f.requests.no.Load(); f.requests.no.Load() < no+3; <-look.C { // her flood is there again
			if time.Now().After(late) {
				t.Fatal("nothing of Alice is refused any more: " + f.String())
			}
		}
		half, most := measure()
		var quietHalf, quietMost time.Duration
		f.without(2*sockets+2*calls, func() { quietHalf, quietMost = measure() })
		t.Logf("Bob's calls: half of them within %v, nine of ten %v; without Alice %v, %v", half, most, quietHalf, quietMost)
		halves = append(halves, float64(half)/float64(quietHalf+grace/2))
	}
	slices.Sort(halves)
	took := time.Since(began)
	t.Logf("beside Alice: half of them %.2f times that. In %v of hers %s", halves, took, f)
	if half := halves[len(halves)/2]; half > 2 {
		t.Errorf("half of Bob's calls take %.1f times as long beside Alice", half)
	}
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

// grace is what another's flood may add to a call that takes no time without it.
const grace = 3 * time.Millisecond
