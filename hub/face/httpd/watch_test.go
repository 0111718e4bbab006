package httpd

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"tabhub/hub/call"
	"tabhub/hub/face/admin"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// watcher reads the events of GET /api/watch.
type watcher struct {
	t  testing.TB
	in *bufio.Reader
}

// startWatch watches as the hub's owner, and returns when the first event is there.
func (d *testServer) startWatch() (*watcher, admin.WatchEvent) {
	d.t.Helper()
	w := &watcher{d.t, bufio.NewReader(d.startStream("/api/watch"))}
	return w, w.next()
}

// startStream returns a stream that the hub's owner asks for, which ends with the test.
func (d *testServer) startStream(path string) io.Reader {
	d.t.Helper()
	ctx, cancel := context.WithCancel(d.t.Context())
	req, _ := http.NewRequestWithContext(ctx, "GET", "http://hub"+path, nil)
	resp, err := d.ownersSocket().RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		d.t.Fatal(resp, err)
	}
	d.t.Cleanup(func() { cancel(); resp.Body.Close() })
	return resp.Body
}

func (w *watcher) next() (e admin.WatchEvent) {
	w.t.Helper()
	for {
		line, err := w.in.ReadString('\n')
		if err != nil {
			w.t.Fatal(err)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				w.t.Fatal(err)
			}
			return e
		}
	}
}

// until reads events up to one that fits.
func (w *watcher) until(fits func(admin.WatchEvent) bool) admin.WatchEvent {
	w.t.Helper()
	for {
		if e := w.next(); fits(e) {
			return e
		}
	}
}

// A user whose dashboard is open uses the hub, also if nothing else does.
func TestStreamsOfAUser(t *testing.T) {
	d := open(t, nil)
	reads := func(want int) {
		t.Helper()
		if n := d.server.Streams(d.tenant.User); n != want {
			t.Errorf("%d streams, want %d", n, want)
		}
	}
	reads(0)
	w, _ := d.startWatch()
	d.startWatch()
	d.startStream("/api/questions/watch")
	reads(3)
	if n := d.server.Streams("ann"); n != 0 {
		t.Errorf("%d streams of another user", n)
	}
	if err := d.tenants.LetGo(t.Context(), spec.LocalUser); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, w.in); err != nil {
		t.Error(err)
	}
}

// A watcher must see a call begin, get on, be stopped by its owner, and end, and the client
// must learn why.
func TestWatchCall(t *testing.T) {
	d := open(t, nil)
	reached := make(chan struct{})
	d.join("", "https://slow.example/", "", func(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
		total := 10.0
		in.Progress(3, &total, "at work\x1b[2J")
		close(reached)
		<-ctx.Done()
		return spec.Response{}, ctx.Err()
	}, `{"name":"grind","annotations":{"readOnlyHint":true}}`)
	d.setMode(policy.ModeOpen)
	w, first := d.startWatch()
	if len(first.Running) != 0 || !slices.Equal(first.Changed, []string{"tabs", "policy", "clients", "questions", "packs"}) {
		t.Fatalf("first %+v", first)
	}
	by := &consent.Caller{Principal: &policy.Principal{ID: "c-1", Name: "Claude"}, Said: "claude-code"}
	result := make(chan string, 1)
	go func() {
		raw, err := d.tenant.Hub.Calls.Call(t.Context(), call.Request{Name: "website_tool_slow_example__grind", By: by})
		if err != nil {
			raw = []byte(err.Error())
		}
		result <- string(raw)
	}()
	<-reached
	on := w.until(func(e admin.WatchEvent) bool { return len(e.Running) == 1 && e.Running[0].Progress != nil }).Running[0]
	if on.Name != "Claude" || on.Said != "claude-code" || on.Domain != "slow.example" || on.Tool != "grind" ||
		on.Phase != call.PhaseRunning || on.Decision != "allow" || on.Tab == "" || on.Progress.Progress != 3 || strings.Contains(on.Progress.Message, "\x1b") {
		t.Errorf("under way: %+v %+v", on, on.Progress)
	}
	if status, body := d.askOwner("DELETE", "/api/calls?id=other", ""); status != http.StatusNotFound {
		t.Errorf("%d %s", status, body)
	}
	if status, body := d.askOwner("DELETE", "/api/calls?id="+on.ID, ""); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	if got := <-result; !strings.Contains(got, "STOPPED") || !strings.Contains(got, "may have taken effect") {
		t.Errorf("the client gets %s", got)
	}
	end := w.until(func(e admin.WatchEvent) bool { return len(e.Entries) > 0 })
	if e := end.Entries[0]; e.Call != on.ID || e.Outcome != "STOPPED" || len(end.Running) != 0 {
		t.Errorf("at the end %+v", end)
	}
	if status, _ := d.askOwner("DELETE", "/api/calls?id="+on.ID, ""); status != http.StatusNotFound {
		t.Errorf("a call that has ended is stopped: %d", status)
	}
}

// A watcher must learn what has changed, so that it need not poll; and not more watchers than
// a hub can tell.
func TestWatchChanges(t *testing.T) {
	d := open(t, nil)
	w, _ := d.startWatch()
	d.join("Chromium 141", "https://shop.example.com/", "Shop", nil, offered...)
	w.until(func(e admin.WatchEvent) bool { return slices.Equal(e.Changed, []string{"tabs"}) })
	if err := d.tenant.Hub.Rules.Pause("command", true); err != nil {
		t.Fatal(err)
	}
	w.until(func(e admin.WatchEvent) bool { return slices.Contains(e.Changed, "policy") })
	gone := d.tenant.Hub.Owner.Connected(consent.As(policy.Owner))
	w.until(func(e admin.WatchEvent) bool { return slices.Equal(e.Changed, []string{"clients"}) })
	gone(true)
	w.until(func(e admin.WatchEvent) bool { return slices.Equal(e.Changed, []string{"clients"}) })
}

// Streams that are not read must not fill the memory of a hub, nor keep others from theirs.
func TestStreamsAreBounded(t *testing.T) {
	d := open(t, nil)
	for _, path := range []string{"/api/watch", "/api/questions/watch"} {
		for range 16 {
			d.startStream(path)
		}
		if status, body := d.askOwner("GET", path, ""); status != http.StatusTooManyRequests || !strings.Contains(body, "close some") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}
