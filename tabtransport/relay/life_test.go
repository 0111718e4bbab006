package relay

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
)

// A client that is killed must not keep its extension busy, nor must what the
// extension still answers reach another client.
func TestClientKilledMidCall(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		ext, id := r.extension(t, "token of ann", "chrome")
		doomed, doomedConn := r.connected(t, "token of ann", id)
		other, otherConn := r.connected(t, "token of ann", id)
		doomed.send(`{"jsonrpc":"2.0","id":1,"method":"createTab"}`)
		ext.expect(`{"jsonrpc":"2.0","id":"` + doomedConn + `:1","method":"createTab"}`)
		other.send(`{"jsonrpc":"2.0","id":1,"method":"getTabs"}`)
		ext.expect(`{"jsonrpc":"2.0","id":"` + otherConn + `:1","method":"getTabs"}`)
		doomed.ws.NetConn().Close()
		ext.expect(`{"jsonrpc":"2.0","method":"disconnected","params":{"connection_id":"` + doomedConn + `","reason":"MCP client disconnected"}}`)
		ext.send(`{"jsonrpc":"2.0","id":"` + doomedConn + `:1","result":"for the dead"}`)
		ext.send(`{"jsonrpc":"2.0","id":"` + otherConn + `:1","result":"for the living"}`)
		other.expect(`{"jsonrpc":"2.0","id":1,"result":"for the living"}`)
		if clients, connections, pending := r.holds("ann"); clients != 1 || connections != 1 || pending != 0 {
			t.Errorf("%d clients, %d connections and %d requests are left", clients, connections, pending)
		}
	})
}

// An extension that reconnects replaces its old socket: clients keep their connection, and
// requests that the old socket had not answered end at once.
func TestExtensionReplacedMidCall(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		old, id := r.extension(t, "token of ann", "chrome")
		mcp, conn := r.connected(t, "token of ann", id)
		mcp.send(`{"jsonrpc":"2.0","id":1,"method":"createTab"}`)
		old.expect(`{"jsonrpc":"2.0","id":"` + conn + `:1","method":"createTab"}`)
		ext, again := r.extension(t, "token of ann", "chrome")
		if again != id {
			t.Fatalf("another id: %s, %s", id, again)
		}
		if ann, bob := r.relay.Extensions("ann"), r.relay.Extensions("bob"); ann != 1 || bob != 0 {
			t.Errorf("ann has %d extensions, bob %d", ann, bob)
		}
		if m := mcp.message(); m.Error == nil || !strings.Contains(string(m.Error.Data), string(spec.FailTabClosed)) {
			t.Fatalf("%+v", m)
		}
		if got := old.next(); got != "closed 4001" {
			t.Errorf("the old socket: %s", got)
		}
		mcp.send(`{"jsonrpc":"2.0","id":2,"method":"getTabs"}`)
		ext.expect(`{"jsonrpc":"2.0","id":"` + conn + `:2","method":"getTabs"}`)
		ext.send(`{"jsonrpc":"2.0","id":"` + conn + `:2","result":{}}`)
		mcp.expect(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		time.Sleep(time.Hour)
		mcp.quiet(time.Second)
	})
}

// When the hub is restarted, clients learn what became of their calls and that they
// should come back, and find their extension under the id that they remember.
func TestHubRestarted(t *testing.T) {
	var id string
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		var ext *peer
		ext, id = r.extension(t, "token of ann", "chrome")
		mcp, conn := r.connected(t, "token of ann", id)
		mcp.send(`{"jsonrpc":"2.0","id":1,"method":"createTab"}`)
		ext.expect(`{"jsonrpc":"2.0","id":"` + conn + `:1","method":"createTab"}`)
		r.relay.Close()
		mcp.expect(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"The hub was shut down before it answered: the request may have taken effect","data":{"code":"TAB_CLOSED"}}}`)
		for _, p := range []*peer{ext, mcp} {
			if got := p.next(); got != "closed 1001" {
				t.Errorf("%s: %s", p.name, got)
			}
		}
		r.relay.Close()
		late := r.open(t, "late", "/mcp")
		if got := late.next(); got != "closed 1001" {
			t.Errorf("late: %s", got)
		}
	})
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		if _, again := r.extension(t, "token of ann", "chrome"); again != id {
			t.Errorf("after the restart the extension is %s, not %s", again, id)
		}
	})
}

// A client that does not read must not hold up the others, and hears why it is closed.
func TestSlowClient(t *testing.T) {
	bubble(t, Limits{MaxQueueFrames: 10}, func(t *testing.T, r *rig) {
		ext, id := r.extension(t, "token of ann", "chrome")
		good, _ := r.connected(t, "token of ann", id)
		ws, _, err := r.dial.Dial(r.base+"/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer ws.Close()
		for _, f := range []string{`{"id":1,"method":"mcp_handshake","params":{"accessToken":"token of ann"}}`, `{"id":2,"method":"connect","params":{"extension_id":"` + id + `"}}`} {
			ws.WriteMessage(websocket.TextMessage, []byte(f))
			for {
				if _, b, err := ws.ReadMessage(); err != nil || !isStatus(string(b)) {
					break
				}
			}
		}
		for i := range 40 {
			event := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/tab_info_update","params":{"n":%d}}`, i)
			ext.send(event)
			good.expect(event)
		}
		for err = nil; err == nil; {
			_, _, err = ws.ReadMessage()
		}
		if !websocket.IsCloseError(err, int(spec.CloseSlow)) {
			t.Errorf("the slow client: %v", err)
		}
		time.Sleep(time.Second) // until the hub has seen its end, too
		good.send(`{"jsonrpc":"2.0","id":9,"method":"getTabs"}`)
		if m := ext.message(); m.Method != "disconnected" {
			t.Errorf("%+v", m)
		}
		if m := ext.message(); m.Method != "getTabs" {
			t.Errorf("%+v", m)
		}
	})
}

// An extension that does not read costs its clients an error that says so, at once,
// and its place when it has not read for too long.
func TestSlowExtension(t *testing.T) {
	bubble(t, Limits{MaxQueue: 6000}, func(t *testing.T, r *rig) {
		ws, _, err := r.dial.Dial(r.base+"/extension", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer ws.Close()
		ws.ReadMessage()
		ws.WriteMessage(websocket.TextMessage, []byte(`{"id":"proxy:1","result":{"name":"Chrome","accessToken":"token of ann","client_id":"x"}}`))
		ws.ReadMessage()
		mcp, _ := r.connected(t, "token of ann", extensionID("ann", "x"))
		busy := 0
		for i := range 20 {
			mcp.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"getTabs","params":[%q]}`, 100+i, strings.Repeat("x", 1000)))
		}
		time.Sleep(time.Second)
		refused := len(mcp.frames)
		time.Sleep(writeTimeout)
		for range 20 {
			m := mcp.message()
			if m.Error == nil {
				t.Fatalf("%+v", m)
			}
			if strings.Contains(string(m.Error.Data), string(spec.FailQueueFull)) {
				busy++
			} else if !strings.Contains(string(m.Error.Data), string(spec.FailTabClosed)) {
				t.Errorf("%+v", m.Error)
			}
		}
		if busy < 14 || refused < busy {
			t.Errorf("%d calls were refused, %d at once", busy, refused)
		}
	})
}

// A peer that does not read does not keep the hub from ending.
func TestCloseDoesNotWaitForASlowPeer(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		ws, _, err := r.dial.Dial(r.base+"/extension", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer ws.Close()
		start := time.Now()
		r.relay.Close()
		if d := time.Since(start); d > closeTimeout {
			t.Errorf("it took %v", d)
		}
	})
}

// A peer that vanishes without a word is noticed.
func TestSilentPeer(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		ws, _, err := r.dial.Dial(r.base+"/extension", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer ws.Close()
		ws.SetPingHandler(func(string) error { return nil })
		ws.ReadMessage()
		ws.WriteMessage(websocket.TextMessage, []byte(`{"id":"proxy:1","result":{"name":"Chrome","accessToken":"token of ann"}}`))
		silent := make(chan error, 1)
		go func() {
			for {
				if _, _, err := ws.ReadMessage(); err != nil {
					silent <- err
					return
				}
			}
		}()
		time.Sleep(time.Second)
		mcp, _ := r.connected(t, "token of ann", r.relay.tenant("ann").list().Extensions[0].ID)
		time.Sleep(80 * time.Second)
		if err := <-silent; !websocket.IsCloseError(err, int(spec.CloseSlow)) {
			t.Errorf("the silent extension: %v", err)
		}
		if m := mcp.message(); m.Method != "disconnected" {
			t.Errorf("%+v", m)
		}
		mcp.quiet(time.Hour)
	})
}

// A peer that sends WebSocket pings is not silent. The writer answers with the payload of
// the last one.
func TestPingedByPeer(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		mcp := r.client(t, "token of ann")
		pongs := make(chan string, 10)
		mcp.ws.SetPongHandler(func(data string) error { pongs <- data; return nil })
		mcp.ws.SetPingHandler(func(string) error { return nil })
		for i := range 10 {
			data := fmt.Sprint("ping ", i)
			if err := mcp.ws.WriteControl(websocket.PingMessage, []byte(data), time.Now().Add(time.Second)); err != nil {
				t.Fatal(err)
			}
			if got := <-pongs; got != data {
				t.Errorf("%q was answered with %q", data, got)
			}
			time.Sleep(10 * time.Second)
		}
		mcp.quiet(time.Second)
	})
}

// A token that is taken back ends what it opened, and nothing that a newer one did.
func TestTokenTakenBack(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		good, revoke := context.WithCancel(t.Context())
		r.relay.verify = func(h Handshake) (Admission, error) {
			a := Admission{Gate: Open{}}
			a.User = "ann"
			if h.Token == "old" {
				a.Revoked = good
			}
			return a, nil
		}
		ext, _ := r.extension(t, "old", "chrome")
		old, renewed := r.client(t, "old"), r.client(t, "old")
		renewed.send(`{"jsonrpc":"2.0","id":2,"method":"mcp_handshake","params":{"accessToken":"new"}}`)
		renewed.message()
		revoke()
		for _, p := range []*peer{ext, old} {
			for range p.frames { // until it ends
			}
			if how := p.ending(); how != fmt.Sprintf("closed %d", spec.CloseRefused) {
				t.Errorf("%s: %s", p.name, how)
			}
		}
		renewed.send(`{"jsonrpc":"2.0","id":3,"method":"list_extensions"}`)
		if m := renewed.message(); m.Error != nil {
			t.Error(m.Error)
		}
	})
}
