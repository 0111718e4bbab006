package wsconn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// How long the end of a connection may take.
const (
	// drainTimeout is for the queued frames, besides a second for each MiB of them.
	drainTimeout = 5 * time.Second
	// lingerTimeout is for the close frame, and then for the peer's answer: closing a
	// connection with unread bytes may lose the last frames.
	lingerTimeout = time.Second
	// yieldTimeout is the same for the oldest of too many.
	yieldTimeout = 100 * time.Millisecond
)

// maxMissed is how many pings in a row a peer may leave without any sign of life.
const maxMissed = 2

// Conn is one WebSocket. Methods are safe for concurrent use unless they say that they
// are for the reader, the goroutine that calls Read.
type Conn struct {
	// static after construction
	srv    *Server
	ws     *websocket.Conn
	opts   Options
	remote string
	ctx    context.Context
	cancel context.CancelCauseFunc

	// owned by the reader
	limit    int64       // of a frame, in bytes
	unrevoke func() bool // ends what CloseWhen began; may be nil
	buffered int         // bytes of the buffer of a frame, while not admitted
	recorder *recorder   // nil: it cannot be detached
	handOver func()      // once detached; called when the reader has ended

	place   unadmittedPlace // guarded by srv.unadmitted.mu
	missed  atomic.Int32    // pings in a row without any sign of life
	writing sync.WaitGroup  // the goroutine that writes, if there is one

	// guarded by mu; admitted is changed by the reader alone, which reads it without
	mu        sync.Mutex
	admitted  bool
	early     int // frames that were queued before it was admitted
	queue     []queuedFrame
	size      int           // bytes of queue and of the frame being written
	inWriting int           // bytes of the latter
	pong      *string       // the peer's last ping, if it was not answered
	pingDue   bool          // a WebSocket ping is to be sent
	busy      bool          // the writer runs, or must not run again
	yields    bool          // it is closed for newer ones, which wait for its memory
	closed    error         // why nothing more is taken; nil while open
	final     []byte        // the close frame that follows the queue; nil: none
	expiry    *time.Timer   // of CloseAt, and once closed of Abort; may be nil
	ticker    *time.Timer   // of KeepAlive; may be nil
	message   func() []byte // of KeepAlive; may be nil
}

func newConn(s *Server, ws *websocket.Conn, r *http.Request, o Options) *Conn {
	c := &Conn{srv: s, ws: ws, opts: o, remote: r.RemoteAddr}
	// The request's own context ends with its handler, which returns.
	c.ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(r.Context()))
	ws.SetPongHandler(func(string) error {
		c.heard()
		if o.Pong != nil {
			o.Pong()
		}
		return nil
	})
	ws.SetPingHandler(func(data string) error {
		c.heard()
		c.mu.Lock()
		c.pong = &data
		c.wakeLocked()
		c.mu.Unlock()
		return nil
	})
	c.limit = s.config.MaxFirstFrame
	ws.SetReadLimit(c.limit)
	if o.Admitted {
		c.Admit()
	}
	return c
}

// Context ends with the connection.
func (c *Conn) Context() context.Context { return c.ctx }

// Remote returns the network address of the peer.
func (c *Conn) Remote() string { return c.remote }

// LocalAddr returns the network address of this end.
func (c *Conn) LocalAddr() net.Addr { return c.ws.LocalAddr() }

// Admit lifts the limits of a peer that nothing is known of. It is for the reader.
func (c *Conn) Admit() {
	c.srv.unadmitted.remove(c)
	c.mu.Lock()
	c.admitted = true
	c.mu.Unlock()
	if c.recorder != nil {
		c.recorder.stop()
	}
	c.limit = c.srv.config.MaxFrame
	if c.opts.SkipTooBig {
		c.ws.SetReadLimit(maxSkipped * c.limit)
	} else {
		c.ws.SetReadLimit(c.limit)
	}
}

// CloseAt closes the connection at a time, instead of one that was given before. The
// zero time means never.
func (c *Conn) CloseAt(t time.Time, code spec.CloseCode, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed != nil {
		return // expiry bounds the end now
	}
	if c.expiry != nil {
		c.expiry.Stop()
	}
	if !t.IsZero() {
		c.expiry = time.AfterFunc(time.Until(t), func() { c.Close(code, reason) })
	}
}

// CloseWhen closes the connection when ctx, which replaces the ctx of an earlier call, is
// done. Nil means never. With cause tabtransport.ErrGoingAway the code is
// spec.CloseGoingAway, so that the peer reconnects. Only the reader calls it.
func (c *Conn) CloseWhen(ctx context.Context, code spec.CloseCode, reason string) {
	if c.unrevoke != nil {
		c.unrevoke()
	}
	if ctx != nil {
		c.unrevoke = context.AfterFunc(ctx, func() {
			code, reason := code, reason // those of CloseWhen stay on its stack
			if cause := context.Cause(ctx); errors.Is(cause, tabtransport.ErrGoingAway) {
				code, reason = spec.CloseGoingAway, cause.Error()
			}
			c.Close(code, reason)
		})
	}
}

// KeepAlive pings the peer from now on, and closes it with spec.CloseSlow if it says
// nothing at all for three times Config.KeepAlive. message is called for each ping and
// returns a frame to send instead of a WebSocket ping, or nil; it must not block. If it
// is nil, all are WebSocket pings. KeepAlive may be called again, with another message.
func (c *Conn) KeepAlive(message func() []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.message = message
	if c.ticker == nil && c.closed == nil {
		c.missed.Store(0)
		c.ticker = time.AfterFunc(c.srv.config.KeepAlive, c.tick)
	}
}

func (c *Conn) tick() {
	if c.missed.Add(1) > maxMissed {
		c.Close(spec.CloseSlow, fmt.Sprintf("no answer to %d pings", maxMissed))
		return
	}
	c.mu.Lock()
	message := c.message
	c.mu.Unlock()
	var frame []byte
	if message != nil {
		frame = message()
	}
	if frame != nil {
		c.MustSend(frame)
	} else {
		c.Ping()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed == nil {
		c.ticker.Reset(c.srv.config.KeepAlive)
	}
}

// heard says that there was a sign of life.
func (c *Conn) heard() { c.missed.Store(0) }

// Close ends the connection in good order: see the package's doc. Requests in the queue
// end as unsent. It does not wait, and only the first call counts.
func (c *Conn) Close(code spec.CloseCode, reason string) { c.close(code, reason, false) }

func (c *Conn) close(code spec.CloseCode, reason string, drop bool) {
	c.mu.Lock()
	if c.closed != nil {
		c.mu.Unlock()
		return
	}
	if code == spec.CloseSlow {
		c.srv.slow.Add(1)
	}
	c.closed = fmt.Errorf("closed by the hub: %s (%d)", reason, code)
	c.final = websocket.FormatCloseMessage(int(code), Clip(reason, maxReason))
	var sent, unsent []queuedFrame
	for _, it := range c.queue {
		if drop || it.claim != nil {
			unsent = append(unsent, it)
		} else {
			sent = append(sent, it)
		}
	}
	c.queue = sent
	for _, it := range unsent {
		c.size -= len(it.frame)
	}
	c.stopTimersLocked()
	c.expiry = time.AfterFunc(drainTimeout+time.Duration(c.size>>20)*time.Second, func() { c.Abort(nil) })
	c.wakeLocked()
	c.mu.Unlock()
	dropAll(unsent)
}

// Abort ends the connection at once, without a close frame. The cause, which may be nil
// only after Close, counts unless there was one before. It does not wait, and may be
// called twice.
func (c *Conn) Abort(cause error) {
	c.mu.Lock()
	if c.closed == nil {
		c.closed = cause
	}
	cause = c.closed
	unsent := c.queue
	c.queue, c.size, c.inWriting, c.final = nil, 0, 0, nil
	c.stopTimersLocked()
	c.mu.Unlock()
	dropAll(unsent)
	c.cancel(cause)
	c.ws.Close()
}

func (c *Conn) stopTimersLocked() {
	if c.expiry != nil {
		c.expiry.Stop()
	}
	if c.ticker != nil {
		c.ticker.Stop()
	}
}

// yield ends a connection that is not admitted in favour of newer ones.
func (c *Conn) yield() {
	c.mu.Lock()
	c.yields = true
	c.mu.Unlock()
	c.Close(spec.CloseTooFast, "too many connections have not "+c.srv.config.Awaited+", and this one is the oldest")
	if f := c.srv.config.Yielded; f != nil {
		f(c)
	}
}

// Closing reports whether the connection is being closed: further frames of the peer are
// dropped.
func (c *Conn) Closing() bool { return c.cause() != nil }

func (c *Conn) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// end waits until nothing is left of the connection, whose reader has ended with err. It
// returns why the connection has ended.
func (c *Conn) end(err error) error {
	switch {
	case errors.Is(err, websocket.ErrReadLimit):
		c.srv.tooBig.Add(1)
		// gorilla has sent the close frame; the peer reads it only after it has sent its frame.
		c.ws.NetConn().SetReadDeadline(time.Now().Add(lingerTimeout))
		io.CopyN(io.Discard, c.ws.NetConn(), maxSkipped*c.srv.config.MaxFrame)
		err = &TooBigError{c.limit}
	case errors.Is(err, io.EOF), websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway, websocket.CloseNoStatusReceived):
		err = errors.New("closed by the peer")
	}
	c.srv.unadmitted.remove(c)
	if c.unrevoke != nil {
		c.unrevoke()
	}
	if !c.Closing() {
		c.Abort(err)
	}
	c.writing.Wait()
	if c.handOver != nil {
		c.cancel(errDetached)
		return errDetached
	}
	c.Abort(nil)
	return c.cause()
}

// TooBigError says that a connection has ended because a frame was much larger than Limit,
// in bytes.
type TooBigError struct{ Limit int64 }

func (e *TooBigError) Error() string { return fmt.Sprintf("frame much larger than %d bytes", e.Limit) }

// maxReason is how many bytes of reason fit a close frame.
const maxReason = 123

// Clip shortens a text to at most limit bytes of UTF-8.
func Clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	n := limit - len("…")
	for n > 0 && text[n]&0xc0 == 0x80 {
		n--
	}
	return text[:n] + "…"
}
