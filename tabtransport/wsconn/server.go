package wsconn

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
)

// Config bounds the connections of a Server. Every field but those of type string and
// func must be set.
type Config struct {
	MaxFrame      int64 // of an admitted peer, in bytes
	MaxFirstFrame int64 // of a peer that is not admitted, in bytes; at most MaxFrame counts
	MaxUnadmitted int   // connections that are not admitted

	// What may wait to be written to a peer: frames, and their bytes. A frame that
	// finds the queue empty may be larger.
	MaxQueueFrames, MaxQueue int
	// Reserve is how many frames more, of any size, may wait that are sent with
	// MustSend.
	Reserve int

	WriteTimeout time.Duration // for a frame, besides a second for each MiB of it
	KeepAlive    time.Duration // between two pings

	// Awaited is what a peer must do to be admitted, such as "said hello". The close
	// reason names it if the peer has not done it in time.
	Awaited string
	// Yielded, if not nil, is called for a connection that is closed in favour of newer
	// ones. It must not block.
	Yielded func(*Conn)
}

// Server accepts WebSockets. All methods are safe for concurrent use.
type Server struct {
	config       Config
	unadmitted   unadmitted
	slow, tooBig atomic.Uint64
	ready        chan *Conn     // to the writers that wait for a connection
	idle         chan struct{}  // has an element for each of them
	done         chan struct{}  // closed when they are to end
	serving      sync.WaitGroup // one for each of conns

	mu     sync.Mutex
	conns  map[*Conn]struct{}
	closed bool
}

// NewServer returns a Server without connections.
func NewServer(c Config) *Server {
	c.MaxFirstFrame = min(c.MaxFirstFrame, c.MaxFrame)
	return &Server{
		config:     c,
		unadmitted: unadmitted{max: c.MaxUnadmitted, shared: maxUnadmittedBytes},
		ready:      make(chan *Conn),
		idle:       make(chan struct{}, idleWriters),
		done:       make(chan struct{}),
		conns:      make(map[*Conn]struct{}),
	}
}

// idleWriters is how many idle writer goroutines are reused: a new one has to grow its
// stack for each frame.
const idleWriters = 16

// Options say how one connection differs from others of its Server.
type Options struct {
	Subprotocols []string // that may be chosen from the request's, the best first
	Admitted     bool     // from the start
	// SkipTooBig has frames over MaxFrame skipped, of which the handler of Read gets the
	// start. One of more than four times that, or without SkipTooBig any, ends the
	// connection.
	SkipTooBig bool
	Pong       func() // called by the reader for each pong, if not nil
	Detachable bool   // Conn.Detach may be called
}

// bufferPool holds gorilla's buffers of connections that write.
var bufferPool sync.Pool

// Serve upgrades a request and runs serve in a goroutine of the connection. It returns
// at once, so that the HTTP server's buffers and stack are freed: a tab stays for hours.
// The request that serve gets has a context that ends with the connection. serve calls
// Conn.Read once; the Server waits for its return. The error says why the request was
// not upgraded, which has been answered.
//
// The caller has checked the request's Host and Origin.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, o Options, serve func(*Conn, *http.Request)) error {
	upgrader := websocket.Upgrader{
		HandshakeTimeout: spec.ControlTimeout,
		Subprotocols:     o.Subprotocols,
		WriteBufferSize:  4 << 10,
		WriteBufferPool:  &bufferPool,
		CheckOrigin:      func(*http.Request) bool { return true },
	}
	var recorded *recorder
	if o.Detachable && !o.Admitted {
		recorded = new(recorder)
		w = recordedHijacker{w, recorded}
	}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return err
	}
	c := newConn(s, ws, r, o)
	if recorded != nil {
		c.recorder, recorded.conn = recorded, c
	}
	if !s.add(c) {
		c.Close(spec.CloseGoingAway, shuttingDown)
		c.Read(func(Kind, []byte) {})
		return nil
	}
	if !o.Admitted {
		if oldest := s.unadmitted.add(c); oldest != nil {
			oldest.yield()
		}
	}
	r = r.WithContext(c.ctx)
	// The goroutine's own frame is small: it stays on the stack of an idle connection.
	go func() {
		serve(c, r)
		s.remove(c)
		if c.handOver != nil {
			c.handOver()
		}
	}()
	return nil
}

const shuttingDown = "the hub is shutting down"

func (s *Server) add(c *Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns[c] = struct{}{}
	s.serving.Add(1)
	return true
}

func (s *Server) remove(c *Conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	s.serving.Done()
}

// Close closes all connections with a code to reconnect later, in good order until ctx is
// done, and waits for them. New connections are closed at once.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.done)
	}
	conns := slices.Collect(maps.Keys(s.conns))
	s.mu.Unlock()
	for _, c := range conns {
		c.Close(spec.CloseGoingAway, shuttingDown)
	}
	stop := context.AfterFunc(ctx, func() {
		for _, c := range conns {
			c.Abort(context.Cause(ctx))
		}
	})
	s.serving.Wait()
	if !stop() {
		return context.Cause(ctx)
	}
	return nil
}

// Len returns how many connections are open.
func (s *Server) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Slow returns how many connections were closed because their peer did not read or
// answer in time.
func (s *Server) Slow() uint64 { return s.slow.Load() }

// TooBig returns how many frames were over their limit.
func (s *Server) TooBig() uint64 { return s.tooBig.Load() }
