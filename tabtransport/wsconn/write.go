package wsconn

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// maxUnadmittedFrames is how many frames may wait for a peer that is not admitted.
const maxUnadmittedFrames = 64

// queuedFrame is a frame in the queue.
type queuedFrame struct {
	frame   []byte
	buffer  *Buffer            // that frame is in; nil if it has memory of its own
	claim   tabtransport.Claim // nil: the frame is written in any case
	written chan<- struct{}    // closed when the frame has left the queue, if not nil
}

// drop says that the frame will not be written.
func (it queuedFrame) drop() {
	if it.claim != nil {
		it.claim.Unsent()
	}
	it.free()
}

func (it queuedFrame) free() {
	if it.buffer != nil {
		it.buffer.Free()
	}
	if it.written != nil {
		close(it.written)
	}
}

func dropAll(items []queuedFrame) {
	for _, it := range items {
		it.drop()
	}
}

// Send queues a text frame, which must not change any more. It does not block. The error
// is tabtransport.ErrNotConnected or tabtransport.ErrBusy, and means that it was not
// queued.
func (c *Conn) Send(frame []byte) error { return c.push(queuedFrame{frame: frame}, false) }

// SendRequest is Send for a frame that is written only if its claim allows it then.
// Without an error the connection frees the buffer.
func (c *Conn) SendRequest(b *Buffer, claim tabtransport.Claim) error {
	return c.push(queuedFrame{frame: b.B, buffer: b, claim: claim}, false)
}

// MustSend is Send for frames that a peer must not miss: if its queue is full, the peer reads
// too slowly, and the connection is closed.
func (c *Conn) MustSend(frame []byte) {
	if c.push(queuedFrame{frame: frame}, true) == tabtransport.ErrBusy {
		c.overflow()
	}
}

// Write is MustSend that blocks until the frame is written or the connection ends.
func (c *Conn) Write(frame []byte) {
	written := make(chan struct{})
	if err := c.push(queuedFrame{frame: frame, written: written}, true); err == nil {
		<-written
	} else if err == tabtransport.ErrBusy {
		c.overflow()
	}
}

func (c *Conn) overflow() { c.close(spec.CloseSlow, "the peer reads too slowly", true) }

// Ping sends a WebSocket ping. It does not block.
func (c *Conn) Ping() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed == nil {
		c.pingDue = true
		c.wakeLocked()
	}
}

func (c *Conn) push(it queuedFrame, must bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed != nil:
		return tabtransport.ErrNotConnected
	case !c.hasRoomLocked(len(it.frame), must):
		return tabtransport.ErrBusy
	}
	if cap(c.queue) == 0 {
		c.queue = make([]queuedFrame, 0, 4) // fewer allocations than one at a time
	}
	if !c.admitted {
		c.early++
	}
	c.queue = append(c.queue, it)
	c.size += len(it.frame)
	c.wakeLocked()
	return nil
}

func (c *Conn) hasRoomLocked(size int, must bool) bool {
	config := &c.srv.config
	switch n := len(c.queue); {
	case !c.admitted && n >= maxUnadmittedFrames:
		return false
	case must && config.Reserve > 0:
		return n < config.MaxQueueFrames+config.Reserve
	default:
		return n < config.MaxQueueFrames && (c.size == 0 || c.size+size <= config.MaxQueue)
	}
}

// wakeLocked makes sure that a writer runs. It does not block.
func (c *Conn) wakeLocked() {
	if !c.busy {
		c.busy = true
		c.writing.Add(1)
		select {
		case c.srv.ready <- c:
		default:
			go c.srv.write(c)
		}
	}
}

// write writes what there is for c until there is no more, and then for others.
func (s *Server) write(c *Conn) {
	for c != nil {
		for c.writeNext() {
		}
		c.writing.Done()
		c = s.next()
	}
}

// next waits for a connection that has something to write. It returns nil if enough
// others wait, or the Server is closed.
func (s *Server) next() *Conn {
	select {
	case s.idle <- struct{}{}:
		defer func() { <-s.idle }()
	default:
		return nil
	}
	select {
	case c := <-s.ready:
		return c
	case <-s.done:
		return nil
	}
}

// writeNext writes one frame. It reports false, and the writer has to end, if there is
// none, or if it was the close frame, which nothing may follow.
func (c *Conn) writeNext() bool {
	c.mu.Lock()
	c.size -= c.inWriting
	c.inWriting = 0
	var control int
	var data []byte
	var next queuedFrame
	switch {
	case c.pong != nil:
		control, data, c.pong = websocket.PongMessage, []byte(*c.pong), nil
	case c.pingDue:
		control, c.pingDue = websocket.PingMessage, false
	case len(c.queue) > 0:
		next = c.queue[0]
		c.queue[0] = queuedFrame{}
		c.queue = c.queue[1:]
		c.inWriting = len(next.frame)
	case c.final != nil:
		control, data, c.final = websocket.CloseMessage, c.final, nil
	default:
		c.busy = false
		c.mu.Unlock()
		return false
	}
	c.mu.Unlock()
	switch control {
	case 0:
		c.writeFrame(next)
	case websocket.CloseMessage:
		c.ws.WriteControl(control, data, time.Now().Add(lingerTimeout))
		c.linger()
		return false
	default:
		c.wrote(c.ws.WriteControl(control, data, c.writeDeadline(0)))
	}
	return true
}

func (c *Conn) writeFrame(it queuedFrame) {
	if it.claim != nil && !it.claim.Sending() {
		it.drop()
		return
	}
	c.ws.SetWriteDeadline(c.writeDeadline(len(it.frame)))
	err := c.ws.WriteMessage(websocket.TextMessage, it.frame)
	it.free()
	c.wrote(err)
}

// writeDeadline is until when a frame of n bytes must have been written.
func (c *Conn) writeDeadline(n int) time.Time {
	return time.Now().Add(c.srv.config.WriteTimeout + time.Duration(n>>20)*time.Second)
}

// wrote ends the connection if a write has failed.
func (c *Conn) wrote(err error) {
	if err == nil {
		return
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.srv.slow.Add(1)
	}
	c.Abort(fmt.Errorf("write: %w", err))
}

// linger leaves the peer a moment to answer the close frame.
func (c *Conn) linger() {
	c.mu.Lock()
	defer c.mu.Unlock()
	timeout := lingerTimeout
	if c.yields {
		timeout = yieldTimeout
	}
	if c.expiry.Stop() {
		c.expiry.Reset(timeout)
	}
}
