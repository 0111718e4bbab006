package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/cmd/tabhub/internal/setup"
	"tabhub/spec"
)

// nobody connects as another user of the machine, for which it needs root.
func nobody(t *testing.T) websocket.Dialer {
	t.Helper()
	if os.Geteuid() != 0 {
		const reason = "needs root, to be another user"
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	return websocket.Dialer{NetDialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := syscall.Setfsuid(65534); err != nil { // of this thread only: whose the socket is
			return nil, err
		}
		defer syscall.Setfsuid(0)
		return new(net.Dialer).DialContext(ctx, network, addr)
	}}
}

// A program of another user of the machine that says that it is the extension is told
// from the owner's own extension, which `tabhub doctor` would call a problem.
func TestExtensionOfAnotherUser(t *testing.T) {
	asNobody := nobody(t)
	p, _ := serve(t, io.Discard)
	sayAsExtension(t, asNobody, p.Info.Addrs[0], oldHello(""))
	if list := p.inform().Refused; len(list) != 1 || list[0].Own {
		t.Errorf("the hub remembers %+v", list)
	}
	wantExtension(t, p, setup.StateNote, "another user or machine said that it is the extension")
}

// What a hub of these tests believes by its origin: an extension, and pages.
const (
	listedID      = "abcdefghijklmnopabcdefghijklmnop"
	listedOrigin  = "chrome-extension://" + listedID
	allowedOrigin = "https://app.example.com"
	loopbackPage  = "http://localhost:5173"
)

// visit is an attempt to get in by a WebSocket, of a program that names an origin.
type visit struct {
	path, subprotocol, origin string
	hello                     string // is said at once
	welcome                   string // what the hub says when it admits the connection
}

func visits(path string, origins ...string) (all []visit) {
	for _, origin := range origins {
		v := visit{path: path, origin: origin}
		switch path {
		case "/tabs":
			whose := `"tabKey":"k"`
			if origin == listedOrigin {
				whose = `"browserId":"b","session":"s"`
			}
			v.subprotocol, v.hello, v.welcome = spec.Subprotocol, `{"jsonrpc":"2.0","id":1,"method":"browser/hello","params":{"protocolVersion":"tabhub.v1",`+whose+`}}`, `"result"`
		case "/":
			v.subprotocol, v.welcome = "webmcp.v1", "server-hello"
		case "/extension":
			v.welcome = `"authenticated"`
		}
		all = append(all, v)
	}
	return all
}

// open connects and says hello. It returns nil if the hub refuses that at once.
func (v visit) open(t *testing.T, d websocket.Dialer, addr string) *websocket.Conn {
	t.Helper()
	if v.subprotocol != "" {
		d.Subprotocols = []string{v.subprotocol}
	}
	ws, resp, err := d.DialContext(t.Context(), "ws://"+addr+v.path, http.Header{"Origin": {v.origin}})
	switch {
	case resp == nil:
		t.Fatal(err)
	case err != nil && resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden:
		t.Errorf("%s from %s: %s", v.path, v.origin, resp.Status)
	case err == nil && v.hello != "":
		ws.WriteMessage(websocket.TextMessage, []byte(v.hello)) // what becomes of it is read
	}
	return ws
}

// welcomed reports whether the hub lets it in. If not, it must say so.
func (v visit) welcomed(t *testing.T, d websocket.Dialer, addr string) bool {
	t.Helper()
	ws := v.open(t, d, addr)
	if ws == nil {
		return false
	}
	defer ws.Close()
	ws.SetReadDeadline(time.Now().Add(time.Minute))
	for {
		_, frame, err := ws.ReadMessage()
		if err != nil {
			end, ok := errors.AsType[*websocket.CloseError](err)
			if !ok || !slices.Contains([]spec.CloseCode{spec.CloseRefused, spec.CloseUnsupported}, spec.CloseCode(end.Code)) {
				t.Errorf("%s from %s ends with %v", v.path, v.origin, err)
			}
			return false
		}
		switch text := string(frame); {
		case strings.Contains(text, v.welcome):
			return true
		case strings.Contains(text, `"authenticate"`): // the first extensions show the token of the service that they were made for
			ws.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","id":"proxy:1","result":{"name":"Chrome 141","accessToken":"of another service"}}`))
		}
	}
}

// The Origin header is a browser's word only where a browser has sent it: a program of another
// user sends what it likes. Nothing tells the user's own programs from a browser. (PROTOCOL.md,
// "Connections")
func TestForgedOriginOfAnotherUser(t *testing.T) {
	asNobody := nobody(t)
	for _, auth := range []string{"token", "none"} {
		p, port := serve(t, io.Discard, "--auth", auth, "--set", "extension-id="+listedID, "--allow-origin", allowedOrigin)
		addr := p.Info.Addrs[0]
		all := append(visits("/tabs", listedOrigin), visits("/extension", listedOrigin)...)
		if auth == "token" { // else every page is let in
			pages := []string{loopbackPage, "http://" + addr, allowedOrigin}
			all = append(append(all, visits("/tabs", pages...)...), visits("/", pages...)...)
		}
		for _, v := range all {
			for _, at := range []string{addr, "[::ffff:127.0.0.1]:" + port} {
				if v.welcomed(t, asNobody, at) {
					t.Errorf("auth %s: another user gets in at %s with the origin %s", auth, v.path, v.origin)
				}
			}
			if !v.welcomed(t, websocket.Dialer{}, addr) {
				t.Errorf("auth %s: the user's own program is refused at %s with the origin %s", auth, v.path, v.origin)
			}
		}
	}
}

// The hub refuses a connection that closes at once, before the owner of its socket can be read: even a
// hub that runs as root, to whom a closed socket seems to belong.
func TestClosedBeforeItIsLookedAt(t *testing.T) {
	asNobody := nobody(t)
	var log bytes.Buffer
	t.Run("hub", func(t *testing.T) { // which has served all that came when this ends
		p, _ := serve(t, &log, "--set", "extension-id="+listedID, "--demo=false")
		addr := p.Info.Addrs[0]
		for i := range 50 {
			for _, v := range append(visits("/tabs", listedOrigin, loopbackPage), visits("/", loopbackPage)...) {
				if ws := v.open(t, asNobody, addr); ws != nil {
					if i%2 == 0 { // it is reset, not closed in good order
						ws.NetConn().(*net.TCPConn).SetLinger(0)
					}
					ws.NetConn().Close()
				}
			}
			conn, err := asNobody.NetDialContext(t.Context(), "tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: webmcp.v1\r\n\r\n", addr, loopbackPage)
			conn.Close()
		}
		// The same lets the user's own program in, as long as it stays.
		if !visits("/tabs", loopbackPage)[0].welcomed(t, websocket.Dialer{}, addr) {
			t.Error("the user's own program is refused")
		}
	})
	if n := strings.Count(log.String(), "peer connected"); n != 1 {
		t.Errorf("%d peers were let in, want the one of the user's own: %s", n, log.String())
	}
}
