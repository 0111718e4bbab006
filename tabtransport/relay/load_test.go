package relay

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// Three users whose extensions and clients all use the same ids, and sockets that are cut
// at random: each answer reaches the client and the request that asked for it, known by
// its content, and nobody sees a byte of another user.
//
// TABHUB_LONG=1 runs it for a minute with 20 extensions and 200 clients each, as .ci/run
// does.
func TestLoad(t *testing.T) {
	extensions, clients, length := 5, 50, time.Second
	if os.Getenv("TABHUB_LONG") != "" {
		extensions, clients, length = 20, 200, time.Minute
	}
	l := &load{rig: socketed(t, Limits{UserRate: 1e9, ClientRate: 1e9, MaxUnknown: 1e4, AuthTimeout: time.Hour, HandshakeTimeout: time.Hour}), t: t}
	var exts, mcps, ready sync.WaitGroup
	var over, stopExtensions atomic.Bool
	// However slow the machine is, enough happens for the test to say something.
	stopClients := func() bool {
		return over.Load() && l.answers.Load() >= int64(3*clients) && l.extensionCuts.Load() > 0 && l.clientCuts.Load() > 0
	}
	for _, user := range []string{"ann", "bob", "eve"} {
		for i := range extensions {
			ready.Add(1)
			exts.Go(func() { l.extension(user, fmt.Sprint("browser ", i), ready.Done, &stopExtensions) })
		}
	}
	ready.Wait()
	for _, user := range []string{"ann", "bob", "eve"} {
		for i := range clients {
			mcps.Go(func() { l.client(user, i, stopClients) })
		}
	}
	time.AfterFunc(length, func() { over.Store(true) })
	mcps.Wait()
	stopExtensions.Store(true)
	l.mu.Lock()
	for _, ws := range l.browsers {
		ws.Close()
	}
	l.mu.Unlock()
	exts.Wait()
	t.Logf("%d answers, %d errors, %d reconnects of clients, %d of extensions; %+v", l.answers.Load(), l.failures.Load(), l.clientCuts.Load(), l.extensionCuts.Load(), l.rig.relay.Stats())
}

type load struct {
	rig *rig
	t   *testing.T

	answers, failures, clientCuts, extensionCuts atomic.Int64

	mu       sync.Mutex
	browsers map[string]*websocket.Conn // of extensions, by user and name
}

func (l *load) dial(path string) *websocket.Conn {
	ws, _, err := l.rig.dial.Dial(l.rig.base+path, nil)
	if err != nil {
		l.t.Error(err)
		return nil
	}
	// The default handler gives a pong a second, and breaks the socket if this machine
	// has too much to do for that.
	ws.SetPingHandler(func(data string) error {
		ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Hour))
		return nil
	})
	return ws
}

// foreign fails the test if a frame for one user names another.
func (l *load) foreign(user string, frame []byte) {
	for _, other := range []string{"ann", "bob", "eve"} {
		if other != user && strings.Contains(string(frame), "mark of "+other) {
			l.t.Errorf("%s got what is %s's: %s", user, other, frame)
		}
	}
}

func (l *load) extension(user, name string, ready func(), stop *atomic.Bool) {
	for !stop.Load() {
		ws := l.dial("/extension")
		if ws == nil {
			return
		}
		l.mu.Lock()
		if l.browsers == nil {
			l.browsers = map[string]*websocket.Conn{}
		}
		l.browsers[user+name] = ws
		ended := stop.Load() // then nobody closes this one any more
		l.mu.Unlock()
		if ended {
			ws.Close()
			return
		}
		l.serve(ws, user, name, ready)
		ready = func() {}
		ws.Close()
		l.extensionCuts.Add(1)
	}
}

// serve answers as an extension does until its socket is cut.
func (l *load) serve(ws *websocket.Conn, user, name string, ready func()) {
	var write sync.Mutex
	send := func(frame []byte) {
		write.Lock()
		defer write.Unlock()
		ws.WriteMessage(websocket.TextMessage, frame)
	}
	var answering sync.WaitGroup
	defer answering.Wait()
	for {
		_, b, err := ws.ReadMessage()
		if err != nil {
			return
		}
		l.foreign(user, b)
		var m message
		if err := json.Unmarshal(b, &m); err != nil {
			l.t.Error(err)
			return
		}
		switch {
		case m.Method == "authenticate":
			send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"proxy:1","result":{"name":%q,"accessToken":"token of %s","client_id":%q}}`, name, user, name))
			continue
		case m.Method == "authenticated":
			ready()
			continue
		case m.ID == nil:
			continue
		case rand.IntN(2000) == 0:
			return
		}
		answering.Go(func() { // in any order
			out := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"echo":%s,"by":"mark of %s"}}`, m.ID, m.Params, user)
			send(out)
			switch rand.IntN(50) {
			case 0:
				send(out)
			case 1:
				send([]byte(`{"jsonrpc":"2.0","id":"conn-unknown:1","result":"mark of nobody"}`))
			case 2:
				send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/tab_info_update","params":{"by":"mark of %s"}}`, user))
			}
		})
	}
}

// ids are what all clients use, several at a time.
var ids = []string{`1`, `"1"`, `"550e8400-e29b-41d4-a716-446655440000"`, `2`, `"x:1"`}

func (l *load) client(user string, n int, stop func() bool) {
	for !stop() {
		ws := l.dial("/mcp")
		if ws == nil {
			return
		}
		c := &loadClient{load: l, ws: ws, user: user, n: n}
		c.run(stop)
		ws.Close()
		l.clientCuts.Add(1)
	}
}

type loadClient struct {
	*load
	ws    *websocket.Conn
	user  string
	n     int
	seq   int
	ended bool // the connection, not the socket
}

// run makes calls until it cuts its socket.
func (c *loadClient) run(stop func() bool) {
	if m := c.ask(`"mcp_handshake"`, fmt.Sprintf(`{"accessToken":"token of %s"}`, c.user)); m == nil || m.Error != nil {
		c.t.Errorf("handshake: %+v", m)
		return
	}
	c.ended = true
	for !stop() && rand.IntN(60) != 0 {
		if c.ended && !c.connect() {
			return
		}
		if !c.calls() {
			return
		}
	}
	if rand.IntN(2) == 0 { // cut in the middle of calls
		c.ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"echo","params":["mark of %s"]}`, c.user))
	}
}

func (c *loadClient) connect() bool {
	m := c.ask(`"list_extensions"`, `{}`)
	if m == nil {
		return false
	}
	var list listing
	if err := json.Unmarshal(m.Result, &list); err != nil {
		c.t.Errorf("%v: %+v", err, m)
		return false
	}
	if len(list.Extensions) == 0 { // all have been cut in this moment
		return true
	}
	m = c.ask(`"connect"`, fmt.Sprintf(`{"extension_id":%q}`, list.Extensions[rand.IntN(len(list.Extensions))].ID))
	if m == nil {
		return false
	}
	c.ended = m.Error != nil // it has been cut in this moment: try another
	return true
}

// ask makes one request of the relay itself.
func (c *loadClient) ask(method, params string) *message {
	c.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"ask","method":%s,"params":%s}`, method, params))
	for {
		m := c.read()
		if m == nil || string(m.ID) == `"ask"` {
			return m
		}
	}
}

// calls makes one call under each id and checks what comes back.
func (c *loadClient) calls() bool {
	want := map[string]string{}
	for _, id := range ids {
		c.seq++
		params := fmt.Sprintf(`{"call":%d,"id":%s,"client":%d,"of":"mark of %s","pad":%q}`, c.seq, id, c.n, c.user, strings.Repeat("x", rand.IntN(2000)))
		want[id] = params
		c.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"echo","params":%s}`, id, params))
	}
	for len(want) > 0 {
		m := c.read()
		switch {
		case m == nil:
			return false
		case m.ID == nil:
		case want[string(m.ID)] == "":
			c.t.Errorf("an answer under %s, which is not under way: %+v", m.ID, m)
			return false
		case m.Error != nil:
			c.failures.Add(1)
			delete(want, string(m.ID))
		default:
			if got, want := string(m.Result), fmt.Sprintf(`{"echo":%s,"by":"mark of %s"}`, want[string(m.ID)], c.user); got != want {
				c.t.Errorf("under %s:\n got %s\nwant %s", m.ID, got, want)
				return false
			}
			c.answers.Add(1)
			delete(want, string(m.ID))
		}
	}
	return true
}

func (c *loadClient) write(frame []byte) {
	if err := c.ws.WriteMessage(websocket.TextMessage, frame); err != nil {
		c.t.Errorf("a client was cut: %v", err)
	}
}

func (c *loadClient) read() *message {
	_, b, err := c.ws.ReadMessage()
	if err != nil {
		c.t.Errorf("a client was cut: %v", err)
		return nil
	}
	c.foreign(c.user, b)
	m := new(message)
	if err := json.Unmarshal(b, m); err != nil {
		c.t.Errorf("%v: %s", err, b)
		return nil
	}
	if m.Method == "disconnected" {
		c.ended = true
	}
	return m
}
