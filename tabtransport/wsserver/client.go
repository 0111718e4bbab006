package wsserver

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"tabhub/tabtransport/wsconn"
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
	return slices.Contains(wsconn.Subprotocols(r), clientSubprotocol)
}

// serveClient serves a webmcp-relay.v1 client. What it is refused with makes the
// client take another port.
func (s *Server) serveClient(w http.ResponseWriter, r *http.Request) {
	refuse := func(sentence string) {
		s.stats.refused.Add(1)
		if s.logsRefusal(clientSubprotocol) {
			s.opts.Log.Warn("webmcp-relay.v1 client refused", "err", sentence, "remote", r.RemoteAddr)
		}
		http.Error(w, sentence, http.StatusForbidden)
	}
	if s.opts.Clients == nil {
		refuse("webmcp-relay.v1 clients show no credential, so only a hub without credentials (--auth none) serves them; use /mcp or `tabhub stdio` instead")
		return
	}
	adm, err := s.authenticate(r, nil, nil)
	if err != nil {
		refuse(err.Error())
		return
	}
	tools, err := s.opts.Clients(r.Context(), adm.User)
	if err != nil {
		refuse(err.Error())
		return
	}
	c := &client{
		srv: s, tools: tools,
		asked:   make(chan struct{}, 1),
		changed: make(chan struct{}, 1),
		greeted: make(chan struct{}),
		slots:   make(chan struct{}, maxClientCalls),
	}
	c.greet = sync.OnceFunc(func() { close(c.greeted) })
	o := wsconn.Options{Subprotocols: []string{clientSubprotocol}, Admitted: true, Pong: c.greet}
	err = s.conns.Serve(w, r, o, func(ws *wsconn.Conn, _ *http.Request) {
		s.stats.accepted.Add(1)
		c.ws = ws
		c.run()
	})
	if err != nil {
		s.opts.Log.Debug("websocket handshake failed", "err", err)
	}
}

// client is the connection of a webmcp-relay.v1 client. The goroutine of run reads,
// another sends the lists of tools, and each call has its own.
type client struct {
	// static after construction
	srv   *Server
	ws    *wsconn.Conn
	tools Toolset

	asked   chan struct{} // capacity 1: the client wants the list
	changed chan struct{} // capacity 1: the list has changed
	greeted chan struct{} // closed once the client has read the hub's hello
	greet   func()        // closes greeted
	slots   chan struct{} // held by the calls under way
	calls   sync.WaitGroup

	unwatch func() // owned by the reader; nil until the client has said hello
}

// run serves the connection until it ends, and cleans up.
func (c *client) run() {
	var lists sync.WaitGroup
	lists.Go(c.sendLists)
	c.ws.KeepAlive(nil) // the message ping of the protocol is for pages
	c.ws.Read(c.handle)
	if c.unwatch != nil {
		c.unwatch()
	}
	c.calls.Wait()
	lists.Wait()
}

func (c *client) handle(kind wsconn.Kind, frame []byte) {
	var f members
	// A call keeps its frame.
	if kind != wsconn.Text || f.read(bytes.Clone(frame)) != nil || str(f.kind) == "" {
		c.srv.stats.malformed.Add(1)
		return
	}
	switch str(f.kind) {
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

func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// invoke starts a call.
func (c *client) invoke(f *members) {
	if str(f.callID) == "" {
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
		result, err := c.tools.Call(c.ws.Context(), str(f.toolName), f.args)
		if err != nil {
			result = clientFailure(err.Error())
		}
		c.answer(f.callID, result)
	})
}

// answer blocks until it has sent a call's result, or the connection ends.
func (c *client) answer(callID, result json.RawMessage) {
	select {
	case <-c.greeted:
		c.ws.Write(clientResult(callID, result))
	case <-c.ws.Context().Done():
	}
}

// sendLists sends the hub's hello, and then the list of tools when it is asked for or
// has changed. However often it changes while the client does not read, it is sent once.
func (c *client) sendLists() {
	ended := c.ws.Context().Done()
	c.ws.Write(newWebMCP(c.srv, c.ws).appendOpening(nil))
	// The published client loses what comes along with the hello: its tools, and then
	// shows none until they change.
	c.ws.Ping()
	select {
	case <-c.greeted:
	case <-time.After(greetingWait):
		c.greet()
	case <-ended:
	}
	for {
		select {
		case <-c.asked:
			c.ws.Write(clientTools("relay/tools", c.tools))
		case <-c.changed:
			c.ws.Write(clientTools("relay/tools-changed", c.tools))
		case <-ended:
			return
		}
	}
}
