package e2e

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
)

// hurry is attempts to get in over connections whose owner can no longer be told: many
// kernels call a socket that is closed root's.
type hurry struct {
	Addr    string
	Request []byte // for a WebSocket
	Frames  []byte // what is sent at once when that is open; if empty, that is not waited for
	Times   int
	Abort   bool // the connection is reset, not closed in good order
}

func (h hurry) do() error {
	for range h.Times {
		conn, err := h.open()
		if err != nil {
			return err
		}
		conn.Close()
	}
	return nil
}

// open connects and sends everything.
func (h hurry) open() (net.Conn, error) {
	conn, err := net.Dial("tcp", h.Addr)
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(timeout))
	if h.Abort {
		conn.(*net.TCPConn).SetLinger(0)
	}
	_, err = conn.Write(h.Request)
	if err == nil && len(h.Frames) > 0 {
		var resp *http.Response
		resp, err = http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
			_, err = conn.Write(h.Frames)
		}
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func playHurried(in *json.Decoder, out *json.Encoder) error {
	var all []hurry
	if err := in.Decode(&all); err != nil {
		return err
	}
	for _, h := range all {
		if err := h.do(); err != nil {
			return err
		}
	}
	return out.Encode(len(all))
}

// upgrade is an attempt at a WebSocket of a hub, with the messages that follow.
func (p *place) upgrade(path, origin, subprotocol string, frames ...string) hurry {
	h := hurry{Addr: p.listen, Times: 50}
	h.Request = fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: %s\r\n\r\n",
		path, p.listen, origin, subprotocol)
	for _, frame := range frames {
		h.Frames = append(h.Frames, 0x81, 0x80|126) // a text frame, masked, with a length of two bytes
		h.Frames = binary.BigEndian.AppendUint16(h.Frames, uint16(len(frame)))
		h.Frames = append(append(h.Frames, 0, 0, 0, 0), frame...)
	}
	return h
}

// Whoever closes the connection at once, so that it cannot be told whose it was, does not
// get in either: not even where the hub runs as root, whose a closed socket seems to be.
func TestClosedBeforeItIsLookedAt(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	hub := p.serve("--extension-id", proxyExtensionID)
	const page = "http://localhost:5173"
	tab := func(key string) []string {
		return []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"browser/hello","params":{"protocolVersion":"tabhub.v1","tabKey":%q}}`, key), registerFrame}
	}
	listed := p.upgrade("/tabs", listedOrigin, spec.Subprotocol, registerAs("listed")...)
	loopback := p.upgrade("/tabs", page, spec.Subprotocol, tab("loopback")...)
	widget := p.upgrade("/", page, "webmcp.v1")
	abort := loopback
	abort.Abort = true
	play[int](t, asOther(t, "hurry"), []hurry{listed, loopback, abort, widget})

	// The same lets the user's own program in, as long as it stays.
	conn, err := p.upgrade("/tabs", page, spec.Subprotocol, tab("own")...).open()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	p.owner(hub).Stderr.Await(t, "peer connected")
	hub.Stop() // when it has served all that came
	if n := strings.Count(p.owner(hub).Stderr.String(), "peer connected"); n != 1 {
		t.Errorf("%d peers were let in, want the one of the user's own", n)
	}
}
