package relay

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
)

func TestRateLimits(t *testing.T) {
	bubble(t, Limits{ClientRate: 1, ClientBurst: 5, UserRate: 100, UserBurst: 12}, func(t *testing.T, r *rig) {
		a, b, c := r.client(t, "token of ann"), r.client(t, "token of ann"), r.client(t, "token of ann")
		bob := r.client(t, "token of bob")
		ask := func(p *peer) *spec.Error {
			p.send(`{"jsonrpc":"2.0","id":5,"method":"list_extensions"}`)
			return p.message().Error
		}
		for range 5 {
			if err := ask(a); err != nil {
				t.Fatal(err)
			}
		}
		err := ask(a)
		var data struct {
			Code         string
			RetryAfterMs int
		}
		if err == nil || err.Code != spec.CodeLimit || json.Unmarshal(err.Data, &data) != nil || data.RetryAfterMs < 900 || data.RetryAfterMs > 1000 {
			t.Fatalf("%+v, %+v", err, data)
		}
		time.Sleep(time.Duration(data.RetryAfterMs) * time.Millisecond)
		if err := ask(a); err != nil {
			t.Errorf("after the wait: %v", err)
		}
		limited := 0
		for range 5 {
			for _, p := range []*peer{b, c} {
				if ask(p) != nil {
					limited++
				}
			}
		}
		if limited > 0 {
			t.Errorf("%d of other clients' calls were refused: the user's rate has recovered", limited)
		}
		for range 5 {
			if err := ask(bob); err != nil {
				t.Errorf("another user: %v", err)
			}
		}
	})
	bubble(t, Limits{UserRate: 1, UserBurst: 3}, func(t *testing.T, r *rig) {
		var refused int
		for range 4 {
			p := r.client(t, "token of ann")
			p.send(`{"jsonrpc":"2.0","id":5,"method":"list_extensions"}`)
			if err := p.message().Error; err != nil {
				refused++
			}
		}
		if refused != 1 {
			t.Errorf("%d of 4 refused: clients of one user share their rate", refused)
		}
	})
}

// An extension that sends too much is slowed down; nothing of it is lost.
func TestFastExtensionIsPaced(t *testing.T) {
	bubble(t, Limits{MessageRate: 10, MessageBurst: 10}, func(t *testing.T, r *rig) {
		ext, id := r.extension(t, "token of ann", "")
		mcp, _ := r.connected(t, "token of ann", id)
		start := time.Now()
		go func() {
			for i := range 50 {
				ext.ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"event","params":[%d]}`, i))
			}
		}()
		for i := range 50 {
			mcp.expect(fmt.Sprintf(`{"jsonrpc":"2.0","method":"event","params":[%d]}`, i))
		}
		if d := time.Since(start); d < 3*time.Second || d > 5*time.Second {
			t.Errorf("50 messages took %v", d)
		}
	})
}

func TestCaps(t *testing.T) {
	bubble(t, Limits{MaxExtensions: 2, MaxClients: 2, MaxInFlight: 2, MaxUnknown: 4, MaxConnections: 1}, func(t *testing.T, r *rig) {
		ext, id := r.extension(t, "token of ann", "a")
		r.extension(t, "token of ann", "b")
		third := r.open(t, "third", "/extension")
		third.next()
		third.send(`{"id":"proxy:1","result":{"name":"x","accessToken":"token of ann","client_id":"c"}}`)
		if got := third.next(); got != "closed 1013" {
			t.Errorf("a third extension: %s", got)
		}
		r.extension(t, "token of ann", "a") // one that comes back has its place
		if got := ext.next(); got != "closed 4001" {
			t.Errorf("%s", got)
		}

		mcp, _ := r.connected(t, "token of ann", id)
		for i := range 3 {
			mcp.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"getTabs"}`, i))
		}
		if m := mcp.message(); string(m.ID) != "2" || m.Error == nil || !strings.Contains(string(m.Error.Data), "QUEUE_FULL") {
			t.Errorf("a third request in flight: %+v", m)
		}
		r.client(t, "token of ann")
		full := r.open(t, "third client", "/mcp")
		full.send(`{"id":1,"method":"mcp_handshake","params":{"accessToken":"token of ann"}}`)
		if m := full.message(); m.Error == nil {
			t.Errorf("%+v", m)
		}
		if got := full.next(); got != "closed 1013" {
			t.Errorf("a third client: %s", got)
		}
		r.client(t, "token of bob")

		// Silent peers cannot keep later ones out.
		oldest := r.open(t, "silent", "/relay")
		synctest.Wait() // connections that come together may be counted in another order
		for range 3 {
			r.open(t, "silent", "/relay")
		}
		synctest.Wait()
		r.extension(t, "token of bob", "b")
		if got := oldest.next(); got != "closed 4002" {
			t.Errorf("the oldest silent peer: %s", got)
		}
	})
}

func TestMalformed(t *testing.T) {
	bubble(t, Limits{MaxMalformed: 3}, func(t *testing.T, r *rig) {
		ext, id := r.extension(t, "token of ann", "")
		mcp, conn := r.connected(t, "token of ann", id)
		for range 2 {
			for range 3 {
				ext.send(`{]`)
				mcp.send(`nonsense`)
				if m := mcp.message(); m.Error == nil || m.Error.Code != spec.CodeParseError {
					t.Fatalf("%+v", m)
				}
			}
			mcp.send(`{"jsonrpc":"2.0","id":3,"method":"getTabs"}`)
			m := ext.message()
			ext.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":1}`, m.ID))
			mcp.expect(`{"jsonrpc":"2.0","id":3,"result":1}`)
		}
		for range 4 {
			mcp.send(`[]`)
			mcp.message()
		}
		if got := mcp.next(); got != "closed 4002" {
			t.Errorf("the client: %s", got)
		}
		ext.expect(`{"jsonrpc":"2.0","method":"disconnected","params":{"connection_id":"` + conn + `","reason":"MCP client disconnected"}}`)
		for range 4 {
			ext.send(`"text"`)
		}
		if got := ext.next(); got != "closed 4002" {
			t.Errorf("the extension: %s", got)
		}
	})
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		for path, frame := range map[string]string{
			"/extension":  `{"method":"noise"}`,
			"/extension?": `{"method":"noise","id":1}`,
			"/relay":      `{"type":"noise"}`,
			"/mcp":        `{"method":"list_extensions","id":1}`,
		} {
			p := r.open(t, path, path)
			for range maxEarly + 1 {
				p.send(frame)
			}
			for got := ""; got != "closed 4002"; {
				if got = p.next(); got == "closed" {
					t.Fatal(path, got)
				}
			}
		}
	})
}

// A frame that is too big or binary closes the socket that sent it, with a code that says
// so, and no other.
func TestOversizedAndBinary(t *testing.T) {
	r := socketed(t, Limits{MaxFrame: 1 << 20})
	ext, id := r.extension(t, "token of ann", "")
	mcp, _ := r.connected(t, "token of ann", id)

	unauthenticated := r.open(t, "unauthenticated", "/mcp")
	unauthenticated.send(`{"id":1,"method":"mcp_handshake","params":{"accessToken":"` + strings.Repeat("x", maxFirstFrame) + `"}}`)
	if got := unauthenticated.next(); got != "closed 1009" {
		t.Errorf("64 KiB before authentication: %s", got)
	}
	big, _ := r.connected(t, "token of ann", id)
	big.send(`{"id":5,"method":"x","params":["` + strings.Repeat("x", 1<<20) + `"]}`)
	if got := big.next(); got != "closed 1009" {
		t.Errorf("over 1 MiB: %s", got)
	}
	binary := r.client(t, "token of ann")
	binary.ws.WriteMessage(websocket.BinaryMessage, []byte(`{"id":5,"method":"list_extensions"}`))
	if got := binary.next(); got != "closed 1003" {
		t.Errorf("binary: %s", got)
	}
	params := `{"text":"` + strings.Repeat("é", 400_000) + `"}`
	mcp.send(`{"jsonrpc":"2.0","id":7,"method":"echo","params":` + params + `}`)
	for {
		m := ext.message()
		if m.Method == "disconnected" {
			continue
		}
		if string(m.Params) != params {
			t.Error("800 KB came through changed")
		}
		break
	}
}

// A peer that the relay cannot serve at the moment is asked to try later, not refused.
func TestNotNow(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		ext := r.open(t, "extension", "/extension")
		ext.next()
		ext.send(`{"id":"proxy:1","result":{"name":"x","accessToken":"not now","client_id":"c"}}`)
		if got := ext.next(); got != "closed 1013" {
			t.Errorf("an extension: %s", got)
		}
		mcp := r.open(t, "client", "/mcp")
		mcp.send(`{"jsonrpc":"2.0","id":1,"method":"mcp_handshake","params":{"accessToken":"not now"}}`)
		if m := mcp.message(); m.Error == nil || m.Error.Code != spec.CodeInternal {
			t.Errorf("%+v", m)
		}
		if got := mcp.next(); got != "closed 1013" {
			t.Errorf("a client: %s", got)
		}
	})
}

// A refused peer may reconnect again and again; the log stays readable.
func TestRefusalsFillNoLog(t *testing.T) {
	bubble(t, Limits{}, func(t *testing.T, r *rig) {
		refused := func() {
			t.Helper()
			for range 20 {
				for path, frame := range map[string]string{
					"/extension": `{"jsonrpc":"2.0","id":"proxy:1","result":{"name":"Chrome 141","accessToken":"wrong"}}`,
					"/relay":     `{"method":"extension_handshake","params":{"name":"Chrome 141","accessToken":"wrong"}}`,
					"/mcp":       `{"jsonrpc":"2.0","id":1,"method":"mcp_handshake","params":{"accessToken":"wrong"}}`,
				} {
					p := r.open(t, "somebody", path)
					p.send(frame)
					for range p.frames {
					}
					if how := p.ending(); how != fmt.Sprintf("closed %d", spec.CloseRefused) {
						t.Errorf("%s: %s", path, how)
					}
				}
			}
		}
		for minute := 1; minute <= 2; minute++ {
			refused()
			for _, line := range []string{"extension refused", "client refused"} {
				if n := strings.Count(r.logs.String(), line); n != minute {
					t.Errorf("in minute %d the log says %q %d times", minute, line, n)
				}
			}
			time.Sleep(time.Minute)
		}
	})
}
