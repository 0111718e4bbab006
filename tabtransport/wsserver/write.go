package wsserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// Bounds of what waits to be written to one peer.
const (
	maxQueuedFrames = 1024
	maxQueuedBytes  = 64 << 20
	// maxUnknownAnswers is how many answers may wait for a peer that was not admitted.
	maxUnknownAnswers = 64
	// maxDirect is the largest frame that a caller writes itself: what a healthy
	// socket takes without blocking, see stream.
	maxDirect = 128 << 10
	// writeTimeout is how long one frame may take, besides a second for each MiB.
	writeTimeout = 10 * time.Second
)

// writer is the sending half of a connection. At any moment at most one goroutine
// has the right to write to the socket: the one that set busy. A request that finds
// nobody else there is written by its caller, which saves a change of goroutine on
// the way of a call; everything else goes through the queue, which one goroutine
// drains while there is something in it.
type writer struct {
	draining sync.WaitGroup

	mu     sync.Mutex
	known  bool // the peer was admitted
	queue  []outgoing
	bytes  int    // in queue
	busy   bool   // a goroutine is writing
	closed error  // why nothing more is taken, nil while open
	final  []byte // the close frame to send when the queue is empty
}

// outgoing is a frame to be written. For a request the frame is only sent if it is
// still wanted by then.
type outgoing struct {
	frame   *buffer
	request tabtransport.Claim // nil for anything else
}

// buffer is a frame under construction; the pool keeps small ones.
type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return &buffer{make([]byte, 0, 1<<10)} }}

func (b *buffer) free() {
	if cap(b.b) <= maxDirect {
		b.b = b.b[:0]
		buffers.Put(b)
	}
}

// Send implements tabtransport.Link.
func (c *conn) Send(out tabtransport.Outgoing) error {
	buf := buffers.Get().(*buffer)
	var err error
	if buf.b, err = c.dialect.appendRequest(buf.b, out.Tab, out.ID, out.Request, 0); err != nil {
		buf.free()
		return err
	}
	w := &c.out
	w.mu.Lock()
	switch {
	case w.closed != nil:
		w.mu.Unlock()
		buf.free()
		return tabtransport.ErrNotConnected
	case !w.busy && len(buf.b) <= maxDirect && c.stream != nil:
		w.busy = true
		w.mu.Unlock()
		c.putNow(outgoing{buf, out.Claim})
		return nil
	case len(w.queue) >= maxQueuedFrames || w.bytes+len(buf.b) > maxQueuedBytes:
		w.mu.Unlock()
		buf.free()
		return tabtransport.ErrBusy
	}
	c.enqueueLocked(outgoing{buf, out.Claim})
	w.mu.Unlock()
	return nil
}

// Resend implements tabtransport.Resender.
func (c *conn) Resend(out tabtransport.Outgoing, ago time.Duration) {
	// It was encoded before, so it can be.
	frame, _ := c.dialect.appendRequest(nil, out.Tab, out.ID, out.Request, max(ago, 1))
	c.control(frame)
}

// Cancel implements tabtransport.Link.
func (c *conn) Cancel(tab int64, id, reason string) {
	c.control(c.dialect.appendCancel(nil, tab, spec.Cancel{RequestID: id, Reason: reason}))
}

// Respond implements tabtransport.Link.
func (c *conn) Respond(tab int64, id json.RawMessage, result any, err *spec.Error) {
	c.control(c.dialect.appendResponse(nil, tab, id, result, err))
}

// control queues a frame that is no request, or one that is sent again; nil is none.
// Such frames are few: a peer that lets them pile up is closed rather than left without
// one.
func (c *conn) control(frame []byte) {
	if frame == nil {
		return
	}
	w := &c.out
	w.mu.Lock()
	full := false
	if w.closed == nil {
		most := 2 * maxQueuedFrames
		if !w.known {
			most = maxUnknownAnswers
		}
		if full = len(w.queue) >= most; !full {
			c.enqueueLocked(outgoing{frame: &buffer{frame}})
		}
	}
	w.mu.Unlock()
	if full {
		c.slow(errors.New("the peer does not read its messages"))
	}
}

// admitted says that the peer is known from now on.
func (w *writer) admitted() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known = true
}

func (c *conn) enqueueLocked(o outgoing) {
	w := &c.out
	w.queue = append(w.queue, o)
	w.bytes += len(o.frame.b)
	c.drainLocked()
}

// drainLocked makes sure that somebody empties the queue.
func (c *conn) drainLocked() {
	if !c.out.busy {
		c.out.busy = true
		c.out.draining.Go(c.drain)
	}
}

// putNow writes a caller's frame, and then ends its right to write. If the socket
// does not take the frame at once, another goroutine goes on.
func (c *conn) putNow(o outgoing) {
	c.stream.lend()
	c.put(o, time.Now().Add(patience))
	owes := c.stream.recall()
	w := &c.out
	w.mu.Lock()
	defer w.mu.Unlock()
	switch ended := w.closed != nil && w.final == nil; {
	case owes && !ended:
		w.draining.Go(func() {
			if err := c.stream.settle(); err != nil {
				c.writeFailed(err)
			}
			c.drain()
		})
	default:
		w.busy = false
		if len(w.queue) > 0 || w.final != nil {
			c.drainLocked()
		}
	}
}

// drain writes the queue until it is empty, and then the close frame if there is one.
func (c *conn) drain() {
	for {
		o, final, ok := c.out.next()
		switch {
		case ok:
			c.put(o, writeDeadline(len(o.frame.b)))
		case final != nil:
			c.finish(final)
			return
		default:
			return
		}
	}
}

// next takes the first frame of the queue. If there is none it ends the caller's
// right to write, unless it returns the close frame, which nothing may follow.
func (w *writer) next() (o outgoing, final []byte, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		w.queue = nil
		final, w.final = w.final, nil
		w.busy = final != nil
		return outgoing{}, final, false
	}
	o = w.queue[0]
	w.queue[0] = outgoing{}
	w.queue = w.queue[1:]
	w.bytes -= len(o.frame.b)
	return o, nil, true
}

// writeDeadline is until when a frame of n bytes must have been written.
func writeDeadline(n int) time.Time {
	return time.Now().Add(writeTimeout + time.Duration(n>>20)*time.Second)
}

// put writes one frame.
func (c *conn) put(o outgoing, deadline time.Time) {
	if o.request != nil && (c.closing() || !o.request.Sending()) {
		o.request.Unsent()
		o.frame.free()
		return
	}
	c.ws.SetWriteDeadline(deadline)
	err := c.ws.WriteMessage(websocket.TextMessage, o.frame.b)
	o.frame.free()
	if err != nil {
		c.writeFailed(err)
	}
}

func (c *conn) writeFailed(err error) {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.slow(fmt.Errorf("write: %w", err))
	} else {
		c.fail(fmt.Errorf("write: %w", err))
	}
}

// finish writes the close frame and leaves the peer a moment to answer it.
func (c *conn) finish(frame []byte) {
	c.ws.WriteControl(websocket.CloseMessage, frame, time.Now().Add(lingerTimeout))
	c.ws.SetReadDeadline(time.Now().Add(lingerTimeout))
}

// Close implements tabtransport.Link. What is queued is still sent, except for
// requests: they end as unsent.
func (c *conn) Close(code spec.CloseCode, reason string) {
	w := &c.out
	w.mu.Lock()
	if w.closed != nil {
		w.mu.Unlock()
		return
	}
	w.closed = fmt.Errorf("closed by the hub: %s (%d)", reason, code)
	w.final = websocket.FormatCloseMessage(int(code), clip(reason, maxReason))
	for _, o := range w.queue {
		if o.request != nil {
			o.request.Unsent()
		}
	}
	c.drainLocked()
	w.mu.Unlock()
}

// fail ends the connection at once, without a close frame.
func (c *conn) fail(cause error) {
	w := &c.out
	w.mu.Lock()
	if w.closed == nil {
		w.closed = cause
	}
	w.final = nil
	queue := w.queue
	w.queue, w.bytes = nil, 0
	w.mu.Unlock()
	for _, o := range queue {
		if o.request != nil {
			o.request.Unsent()
		}
	}
	c.ws.Close()
}

// slow ends a connection whose peer does not keep up. There is no point in a close
// frame: it would wait behind what the peer does not read.
func (c *conn) slow(cause error) {
	c.srv.stats.slow.Add(1)
	c.fail(cause)
}

// stop ends the sending half after the reader has ended.
func (c *conn) stop(cause error) {
	c.live.stop()
	c.fail(cause)
	c.out.draining.Wait()
}

// closing reports whether the connection is being closed: what the peer still
// sends is not for us.
func (c *conn) closing() bool {
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	return c.out.closed != nil
}

func (w *writer) cause() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

// maxReason is how many bytes of reason fit a close frame.
const maxReason = 123

// clip shortens a text to at most limit bytes of UTF-8.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	n := limit - len("…")
	for n > 0 && text[n]&0xc0 == 0x80 {
		n--
	}
	return text[:n] + "…"
}
