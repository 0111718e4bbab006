package httpd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

func TestRotate(t *testing.T) {
	var d *testServer
	d = open(t, func(_ *GuardOptions, o *Options) {
		o.API.Rotate = func() error { d.token.Set("the next one"); return nil }
	})
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
	// Connections with the old token end.
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

// attach opens a bridge's stream by hand. headers are lines of the request.
func (d *testServer) attach(headers string) (net.Conn, *bufio.Reader) {
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
	go d.server.Shutdown(ctx, "upgrade")
	rest, err := io.ReadAll(r)
	if err != nil || !strings.Contains(string(rest), `"tabhub/farewell"`) {
		t.Errorf("the bridge has read %q, %v", rest, err)
	}
	conn.Close()
	if err := <-d.served; err != nil {
		t.Error(err)
	}
}

// A bridge whose user's hub ends, while the process goes on, is told so.
func TestFarewellOfAMovedUser(t *testing.T) {
	d := open(t, nil)
	_, r := d.attach("")
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, `"id":1,"result"`) {
		t.Fatalf("%q, %v", line, err)
	}
	if err := d.server.o.Tenants.LetGo(t.Context(), spec.LocalUser); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(r)
	if err != nil || !strings.HasSuffix(string(rest), `{"jsonrpc":"2.0","method":"tabhub/farewell","params":{"reason":"moved","settled":true}}`+"\n") {
		t.Errorf("the bridge is told %q, %v", rest, err)
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
	if err := d.server.Shutdown(ctx, "upgrade"); err != nil {
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

// The session of a bridge is that of its calls, on the next hub as well.
func TestBridgeCallsForItsSession(t *testing.T) {
	d := open(t, nil)
	id := strings.Repeat("0a", 16)
	conn, r := d.attach(SessionHeader + ": " + id + "\r\n" + BeganHeader + ": " + time.Now().Format(time.RFC3339Nano) + "\r\n")
	fmt.Fprintln(conn, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"website_tool_demo_tabhub__search_products","arguments":{"query":"lamp"}}}`)
	for range 2 {
		if _, err := r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := d.tenant.Record.Read(t.Context(), record.Query{Event: record.Call})
	if err != nil || len(lines) != 1 || lines[0].Session != id || lines[0].Client != policy.UnnamedID {
		t.Errorf("recorded is %+v, %v", lines, err)
	}
}

// What the owner has answered for a session is good for that session, on the next hub as
// well; a bridge that invents one gets a new one.
func TestBridgedSession(t *testing.T) {
	id := strings.Repeat("0a", 16)
	began := time.Now().Add(-time.Hour)
	for _, tt := range []struct {
		session, began string
		kept           bool
	}{
		{id, began.Format(time.RFC3339Nano), true},
		{"", "", false},
		{id, "", false},
		{"short", began.Format(time.RFC3339Nano), false},
		{id + "00", began.Format(time.RFC3339Nano), false},
		{strings.Repeat("x", 32), began.Format(time.RFC3339Nano), false},
		{id, time.Now().Add(time.Hour).Format(time.RFC3339Nano), false},
	} {
		got := bridged(http.Header{SessionHeader: {tt.session}, BeganHeader: {tt.began}})
		if kept := got.Session == id && got.Began.Equal(began); kept != tt.kept || got.Session == "" || got.Began.IsZero() {
			t.Errorf("%s since %s is %+v", tt.session, tt.began, got)
		}
	}
}
