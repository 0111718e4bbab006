package wsserver_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
	"tabhub/tabtransport/wsserver"
)

// port serves /tabs on a real socket.
func port(t *testing.T) (*wsserver.Server, net.Addr) {
	srv := wsserver.New(wsserver.Options{})
	srv.Transport(spec.LocalUser).Handle(&hub{})
	web := httptest.NewServer(srv.Tabs())
	t.Cleanup(func() {
		srv.Close(t.Context())
		web.Close()
	})
	return srv, web.Listener.Addr()
}

// silent opens a WebSocket as cheaply as it can be done and says nothing over it.
func silent(t *testing.T, addr net.Addr) net.Conn {
	t.Helper()
	c, err := net.Dial(addr.Network(), addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: %s\r\n\r\n", spec.Subprotocol)
	// The answer ends the response: the hub speaks second.
	head := make([]byte, 0, 512)
	for b := make([]byte, 1); !strings.HasSuffix(string(head), "\r\n\r\n"); head = append(head, b[0]) {
		if _, err := c.Read(b); err != nil {
			t.Fatalf("after %q: %v", head, err)
		}
	}
	return c
}

// heap is what is allocated now.
func heap() int {
	runtime.GC()
	runtime.GC() // what pools hold goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapInuse + m.StackInuse)
}

// joins fails the test if a tab and a browser do not get in at once.
func joins(t *testing.T, addr net.Addr) {
	t.Helper()
	for _, who := range []string{`"tabKey":"k"`, `"browserId":"b"`, `"tabKey":"t","token":"` + strings.Repeat("x", 8000) + `"`} {
		d := websocket.Dialer{Subprotocols: []string{spec.Subprotocol}}
		ws, _, err := d.Dial("ws://"+addr.String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer ws.Close()
		ws.SetReadDeadline(time.Now().Add(time.Minute)) // one that is locked out is closed before
		send(t, ws, `{"jsonrpc":"2.0","id":1,"method":"browser/hello","params":{"protocolVersion":"tabhub.v1",`+who+`}}`)
		if _, got, err := ws.ReadMessage(); err != nil || !strings.Contains(string(got), `"result"`) {
			t.Errorf("%.20s: %s %v", who, got, err)
		}
	}
}

// Any program that reaches the port may open connections and send part of a first frame. That
// must neither use up the memory nor lock out other peers.
func TestHalfHellosShareMemory(t *testing.T) {
	_, addr := port(t)
	const size = 4<<20 - 1
	half := make([]byte, 14+size-1)
	half[0], half[1] = 0x81, 0x80|127 // text, masked, 8 bytes of length
	binary.BigEndian.PutUint64(half[2:], size)
	before := heap()
	var sent sync.WaitGroup
	refused := make(chan string, 150)
	for range cap(refused) {
		c := silent(t, addr)
		sent.Go(func() {
			for rest := half; len(rest) > 0; rest = rest[min(len(rest), 64<<10):] {
				if _, err := c.Write(rest[:min(len(rest), 64<<10)]); err != nil {
					break
				}
			}
			c.SetReadDeadline(time.Now().Add(time.Second))
			got, _ := bufio.NewReader(c).ReadString(0)
			if strings.Contains(got, "use all the memory") {
				refused <- got
			}
		})
	}
	sent.Wait()
	grown := heap() - before
	if t.Logf("%d half hellos: %d MiB", cap(refused), grown>>20); grown > 64<<20 {
		t.Error("that is too much")
	}
	if len(refused) < 10 { // on a busy machine the others are cut off before they look
		t.Errorf("only %d got the reason that there is no memory", len(refused))
	}
	joins(t, addr)
}

// Pings are no hello.
func TestPingsDoNotPutOffTheHello(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, l := start(t, wsserver.Options{})
		ws := l.WebSocket(t, "/", nil, spec.Subprotocol)
		code := readAll(ws)
		begin := time.Now()
		for time.Since(begin) < time.Minute {
			// Once the hub has closed the connection these fail.
			_ = ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second))
			_ = ws.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","id":1,"method":"browser/ping"}`))
			time.Sleep(100 * time.Millisecond)
			select {
			case got := <-code:
				if took := time.Since(begin); got != int(spec.CloseSlow) || took > spec.HelloTimeout+time.Second {
					t.Errorf("closed with %d after %v", got, took)
				}
				return
			default:
			}
		}
		t.Error("still there after a minute")
	})
}

// A peer that asks and does not read must not have its answers pile up.
func TestAnswersBeforeHelloAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, _, l := start(t, wsserver.Options{})
		ws := l.WebSocket(t, "/", nil, spec.Subprotocol)
		long := strings.Repeat("x", 1000)
		send(t, ws, `{"jsonrpc":"2.0","id":"`+long+`","method":"browser/ping"}`)
		synctest.Wait()
		if got := srv.Stats().Malformed; got != 1 {
			t.Errorf("an id of 1,000 bytes: %d malformed frames", got)
		}
		n := 0
		for ; n < 1000 && srv.Stats().Slow == 0; n++ {
			send(t, ws, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"browser/ping"}`, n))
			synctest.Wait()
		}
		if n == 1000 {
			t.Errorf("the hub has stored the answers to %d pings", n)
		}
		time.Sleep(10 * time.Second)
		if got := srv.Stats(); got.Connections != 0 || got.Slow != 1 {
			t.Errorf("%+v", got)
		}
	})
}
