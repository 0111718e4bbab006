package wsserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
)

// clientSubprotocol is how one relay asks another for its tools.
const clientSubprotocol = "webmcp-relay.v1"

// greetingWait is how long a client may take to answer the ping after the hub's hello.
const greetingWait = time.Second

// maxClientCalls is how many calls of one webmcp-relay.v1 client may be under way.
const maxClientCalls = 256

// Toolset is a hub's tools, as webmcp-relay.v1 clients list and call them. All
// methods are safe for concurrent use.
type Toolset interface {
	// Tools returns the tools and where they run. It does not block on I/O.
	Tools() ([]Tool, []Source)
	// Call blocks until it has a raw MCP CallToolResult, or ctx is done. The error is
	// told to the client.
	Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error)
	// Watch calls f after each change of the tools until stop is called.
	Watch(f func()) (stop func())
}

// Tool is one tool of a Toolset.
type Tool struct {
	Name       string
	Definition json.RawMessage // the MCP Tool
	Sources    []string        // ids of the tabs that may run it, best first
}

// Source is a tab of a Toolset, as the wire has it.
type Source struct {
	ID          string `json:"sourceId"`
	Tab         string `json:"tabId"` // people see it before the descriptions of its tools
	Origin      string `json:"origin,omitempty"`
	URL         string `json:"url,omitempty"`
	Title       string `json:"title,omitempty"`
	ConnectedAt int64  `json:"connectedAt"` // Unix time in ms
	LastSeenAt  int64  `json:"lastSeenAt"`  // Unix time in ms
	ToolCount   int    `json:"toolCount"`
}

// isClient reports whether a request is of a relay that has found this hub on its
// port. It offers webmcp.v1, too, but does not offer tools.
func isClient(r *http.Request) bool {
	return slices.Contains(websocket.Subprotocols(r), clientSubprotocol)
}

// serveClient serves a webmcp-relay.v1 client. What it is refused with makes the
// client take another port.
func (s *Server) serveClient(w http.ResponseWriter, r *http.Request) {
	refuse := func(sentence string) {
		s.stats.refused.Add(1)
		if s.logsRefusal(clientSubprotocol) {
			s.log.Warn("webmcp-relay.v1 client refused", "err", sentence, "remote", r.RemoteAddr)
		}
		http.Error(w, sentence, http.StatusForbidden)
	}
	if s.opts.Clients == nil {
		refuse("webmcp-relay.v1 clients show no credential, so only a hub without credentials (--auth none) serves them; use /mcp or `tabhub stdio` instead")
		return
	}
	adm, err := s.opts.Authenticate(r, nil, nil)
	if err != nil {
		refuse(err.Error())
		return
	}
	if adm.User == "" {
		adm.User = spec.LocalUser
	}
	tools, err := s.opts.Clients(r.Context(), adm.User)
	if err != nil {
		refuse(err.Error())
		return
	}
	up := s.upgrader
	up.Subprotocols = []string{clientSubprotocol}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		s.log.Debug("websocket handshake failed", "err", err)
		return
	}
	ws.SetReadLimit(s.opts.MaxFrame)
	c := &client{
		srv: s, ws: ws, tools: tools,
		answers: make(chan []byte),
		asked:   make(chan struct{}, 1),
		changed: make(chan struct{}, 1),
		greeted: make(chan struct{}),
		slots:   make(chan struct{}, maxClientCalls),
	}
	c.ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(r.Context()))
	if !s.add(c) {
		ws.Close()
		return
	}
	go func() {
		defer s.wg.Done()
		c.run()
		s.remove(c)
	}()
}

// client is the connection of a webmcp-relay.v1 client. The goroutine of run reads,
// one other writes, and each call has its own.
type client struct {
	srv   *Server
	ws    *websocket.Conn
	tools Toolset

	ctx    context.Context // of the connection, and of its calls
	cancel context.CancelCauseFunc

	answers chan []byte   // frames for the writer
	asked   chan struct{} // capacity 1: the client wants the list
	changed chan struct{} // capacity 1: the list has changed
	greeted chan struct{} // closed once the client has read the hub's hello
	slots   chan struct{} // held by the calls under way
	calls   sync.WaitGroup

	unwatch func() // owned by the reader; nil until the client has said hello

	once  sync.Once
	final []byte // the close frame; set before ctx ends, nil if there is no point in one
}

// run serves the connection until it ends, and cleans up.
func (c *client) run() {
	var writing sync.WaitGroup
	gone := make(chan struct{})
	writing.Go(func() { c.write(gone) })
	cause := c.read()
	if c.unwatch != nil {
		c.unwatch()
	}
	close(gone)
	c.end(nil, cause)
	c.calls.Wait()
	writing.Wait()
}

// read handles frames until the connection fails.
func (c *client) read() error {
	heard := func(string) error {
		return c.ws.SetReadDeadline(time.Now().Add((maxMissed + 1) * c.srv.opts.KeepAlive))
	}
	greeted := sync.OnceFunc(func() { close(c.greeted) })
	c.ws.SetPongHandler(func(string) error {
		greeted()
		return heard("")
	})
	for {
		heard("")
		kind, frame, err := c.ws.ReadMessage()
		if errors.Is(err, websocket.ErrReadLimit) {
			c.srv.stats.tooBig.Add(1)
		}
		if err != nil {
			return err
		}
		var f clientFrame
		if kind != websocket.TextMessage || f.read(frame) != nil {
			c.srv.stats.malformed.Add(1)
			continue
		}
		switch f.kind {
		case "relay/hello":
			if c.unwatch == nil {
				c.unwatch = c.tools.Watch(func() { signal(c.changed) })
			}
		case "relay/list-tools":
			signal(c.asked)
		case "relay/invoke":
			c.invoke(&f)
		}
	}
}

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// invoke starts a call. The frame is its own memory, which the call keeps.
func (c *client) invoke(f *clientFrame) {
	if f.callID == nil {
		c.srv.stats.malformed.Add(1)
		return
	}
	if f.args != nil && f.args[0] != '{' {
		c.answer(f.callID, clientFailure("args must be an object"))
		return
	}
	select {
	case c.slots <- struct{}{}:
	default:
		c.answer(f.callID, clientFailure("too many calls are under way over this connection; wait for some to end"))
		return
	}
	c.calls.Go(func() {
		defer func() { <-c.slots }()
		result, err := c.tools.Call(c.ctx, f.tool, f.args)
		if err != nil {
			result = clientFailure(err.Error())
		}
		c.answer(f.callID, result)
	})
}

// answer sends a call's result, unless the connection ends before.
func (c *client) answer(callID, result json.RawMessage) {
	select {
	case c.answers <- appendClientResult(nil, callID, result):
	case <-c.ctx.Done():
	}
}

// write sends what there is to send until the connection ends.
func (c *client) write(gone <-chan struct{}) {
	defer c.ws.Close()
	ping := time.NewTicker(c.srv.opts.KeepAlive)
	defer ping.Stop()
	greeted := false
	for frame := newWebMCP(c.srv, c.ws).appendOpening(nil); frame != nil; frame = c.next(ping.C) {
		c.ws.SetWriteDeadline(writeDeadline(len(frame)))
		if err := c.ws.WriteMessage(websocket.TextMessage, frame); err != nil {
			c.end(nil, err)
			return
		}
		if !greeted {
			greeted = true
			c.awaitGreeted()
		}
	}
	if c.final != nil {
		c.ws.WriteControl(websocket.CloseMessage, c.final, time.Now().Add(lingerTimeout))
		select {
		case <-gone:
		case <-time.After(lingerTimeout):
		}
	}
}

// awaitGreeted waits until the client has read the hub's hello. The published client
// loses what comes along with it: its tools, and then shows none until they change.
func (c *client) awaitGreeted() {
	c.ping()
	timer := time.NewTimer(greetingWait)
	defer timer.Stop()
	select {
	case <-c.greeted:
	case <-timer.C:
	case <-c.ctx.Done():
	}
}

// ping sends the WebSocket's own: that of the protocol is for pages.
func (c *client) ping() {
	c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(lingerTimeout))
}

// next waits for a frame to send; nil is the end. However often the list changes
// while the client does not read, it is sent once.
func (c *client) next(ping <-chan time.Time) []byte {
	for {
		select {
		case frame := <-c.answers:
			return frame
		case <-c.asked:
			return appendClientTools(nil, "relay/tools", c.tools)
		case <-c.changed:
			return appendClientTools(nil, "relay/tools-changed", c.tools)
		case <-ping:
			c.ping()
		case <-c.ctx.Done():
			return nil
		}
	}
}

// end gives the connection up, with a close frame if final is not nil.
func (c *client) end(final []byte, cause error) {
	c.once.Do(func() {
		c.final = final
		c.cancel(cause)
	})
}

// Close implements connection.
func (c *client) Close(code spec.CloseCode, reason string) {
	c.end(websocket.FormatCloseMessage(int(code), clip(reason, maxReason)), errors.New(reason))
}

// fail implements connection.
func (c *client) fail(cause error) {
	c.end(nil, cause)
	c.ws.Close()
}
