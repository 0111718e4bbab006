package httpd

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"tabhub/hub/face/admin"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// streamed makes a call over the owner's socket, and returns what yields its events and what
// leaves it.
func (d *testServer) streamed(body string) (next func() admin.CallEvent, leave context.CancelFunc) {
	d.t.Helper()
	ctx, leave := context.WithCancel(d.t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", "http://hub/api/call", strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	resp, err := d.ownersSocket().RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		d.t.Fatal(resp, err)
	}
	d.t.Cleanup(func() { leave(); resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	return func() (e admin.CallEvent) {
		d.t.Helper()
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				if err := json.Unmarshal([]byte(data), &e); err != nil {
					d.t.Fatal(err)
				}
				return e
			}
		}
		d.t.Fatalf("the stream has ended: %v", lines.Err())
		return e
	}, leave
}

// The caller of a slow tool must get its progress while it runs, then its result, and
// a caller that leaves must not leave the page at work.
func TestCallIsStreamed(t *testing.T) {
	d := open(t, nil)
	answer, stopped := make(chan struct{}), make(chan error, 1)
	var tab *tabtransport.Local
	tab = d.join("", "https://e.com/", "", func(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
		tab.Progress(in.Tab, spec.Progress{RequestID: in.ID, Progress: 1, Total: new(2.0), Message: "half"})
		select {
		case <-answer:
			return spec.Response{Result: json.RawMessage(`{"content":[{"type":"text","text":"a\nb <c>"}]}`)}, nil
		case <-ctx.Done():
			stopped <- context.Cause(ctx)
			return spec.Response{}, context.Cause(ctx)
		}
	}, `{"name":"slow"}`)
	half := func(next func() admin.CallEvent) {
		t.Helper()
		if e := next(); len(e.Call) != 10 {
			t.Fatalf("the call's ID is %+v", e)
		}
		e := next()
		if p := e.Progress; p == nil || p.Progress != 1 || *p.Total != 2 || p.Message != "half" {
			t.Fatalf("%+v", e)
		}
	}

	next, _ := d.streamed(`{"name":"website_tool_e_com_slow"}`)
	half(next)
	close(answer)
	if e := next(); !strings.Contains(string(e.Result), `a\nb`) || e.ErrorReport != nil {
		t.Errorf("the result is %s", e.Result)
	}

	answer = make(chan struct{})
	next, leave := d.streamed(`{"name":"website_tool_e_com_slow"}`)
	half(next)
	leave()
	<-stopped

	next, _ = d.streamed(`{"name":"website_tool_e_com_slo"}`)
	if e := next(); e.ErrorReport == nil || len(e.Nearest) != 1 || e.Result != nil {
		t.Errorf("a name that is nobody's: %+v", e)
	}
	if status, body, _ := d.ask("POST", "/api/call", `{}`, "Accept", "text/event-stream"); status != http.StatusBadRequest {
		t.Errorf("a body without a name: %d %s", status, body)
	}
}

// What a page describes otherwise between the moment that it was looked at and the call is not
// called.
func TestCallOfWhatWasShown(t *testing.T) {
	d := open(t, nil)
	called := 0
	tab := d.join("", "https://e.com/", "", func(context.Context, tabtransport.Incoming) (spec.Response, error) {
		called++
		return spec.Response{Result: json.RawMessage(`{"content":[]}`)}, nil
	})
	d.setMode(policy.ModeOpen)
	describe := func(as string) {
		t.Helper()
		if _, err := tab.Ask(t.Context(), 0, &spec.Register{Kind: spec.KindTool, Items: []json.RawMessage{json.RawMessage(`{"name":"pay","description":"` + as + `"}`)}}); err != nil {
			t.Fatal(err)
		}
	}
	describe("Shows what there is to pay")
	var shown []admin.ToolReport
	status, body := d.askOwner("GET", "/api/tools?q=pay&limit=1", "")
	if err := json.Unmarshal([]byte(body), &shown); status != http.StatusOK || err != nil || len(shown) != 1 {
		t.Fatalf("%d %s", status, body)
	}
	in, _ := json.Marshal(admin.CallRequest{Name: shown[0].Name, Pin: shown[0].Pin})
	if status, body := d.askOwner("POST", "/api/call", string(in)); status != http.StatusOK || called != 1 {
		t.Errorf("as it was shown: %d %s", status, body)
	}
	describe("Pays")
	if _, body := d.askOwner("POST", "/api/call", string(in)); called != 1 || !strings.Contains(body, "DENIED") || !strings.Contains(body, "look at it again") {
		t.Errorf("described otherwise: called %d times, %s", called, body)
	}
	if status, body := d.askOwner("POST", "/api/call", `{"name":"x","pin":"0"}`); status != http.StatusBadRequest || !strings.Contains(body, "pin") {
		t.Errorf("%d %s", status, body)
	}
}
