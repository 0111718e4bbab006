package relay

import (
	"bytes"
	"context"

	"tabhub/spec"
)

// A message about which the owner has to be asked waits for the answer in a lane, and with it
// what the client sends after it to the same connection: an extension gets the messages of a
// connection in their order. Nothing else waits for them.

// lane is the messages of one connection that wait, and the goroutine that serves them. It
// begins with one about which the owner is asked, and ends when none is left.
type lane struct {
	ctx    context.Context // ends with the connection
	cancel context.CancelFunc

	// guarded by tenant.mu
	conn   *connection // nil until the owner has let it be made
	frames [][]byte    // oldest first; the first is being served
}

// waitsBehind has the message wait for those of its connection that do already, if there are
// any.
func (p *clientPeer) waitsBehind() bool {
	c := p.client
	if c.waiting.Load() == 0 || p.env.method == connectMethod {
		return false
	}
	t := c.tenant
	t.mu.Lock()
	defer t.mu.Unlock()
	l := c.laneLocked(p.env.connectionID)
	if l == nil {
		return false
	}
	if err := t.addLocked(c, l, p.last); err != nil {
		p.fail(err)
	}
	return true
}

// wait begins a lane with the message.
func (p *clientPeer) wait() {
	l, err := p.client.tenant.openLane(p.request.Context(), p.client, &p.env, p.last)
	if err != nil {
		p.deny(err)
		return
	}
	serving := &clientPeer{
		remote:  &remote{relay: p.relay, out: p.out, request: p.request.WithContext(l.ctx)},
		dialect: p.dialect, client: p.client, lane: l,
	}
	p.lanes.Go(serving.serveLane)
}

// serveLane serves the messages of the lane until none is left.
func (p *clientPeer) serveLane() {
	defer p.lane.cancel()
	for frame, conn := p.client.tenant.first(p.lane); frame != nil; frame, conn = p.client.tenant.next(p.client, p.lane) {
		p.env.parse(frame) // without an error, as the reader has done before
		if conn != nil {
			p.env.connectionID = conn.id
		}
		p.serveHeld(conn)
	}
}

// serveHeld serves a message of the lane, if that is allowed now.
func (p *clientPeer) serveHeld(conn *connection) {
	if conn == nil && p.env.method != connectMethod {
		p.deny(errNoConnection())
		return
	}
	passage, ask, err := p.client.gate.Admit(p.env.method, p.env.params, p.wantsAnswer())
	if ask != nil {
		passage, err = ask(p.lane.ctx)
	}
	gone := p.lane.ctx.Err() != nil
	if gone && err == nil {
		passage.End()
	}
	switch {
	case gone:
		p.deny(errGivenUp())
	case err != nil:
		p.deny(refusedBy(err))
	default:
		p.serve(passage)
	}
}

// openLane makes a lane that begins with a message.
func (t *tenant) openLane(ctx context.Context, c *client, e *envelope, frame []byte) (*lane, *spec.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &lane{}
	if e.method != connectMethod {
		var err *spec.Error
		if l.conn, err = c.connectionLocked(e.connectionID); err != nil {
			return nil, err
		}
	}
	if err := t.addLocked(c, l, frame); err != nil {
		return nil, err
	}
	l.ctx, l.cancel = context.WithCancel(ctx)
	if l.conn != nil {
		l.conn.lane = l
	} else {
		c.opening = l
	}
	if c.lanes == nil {
		c.lanes = map[*lane]struct{}{}
	}
	c.lanes[l] = struct{}{}
	return l, nil
}

// addLocked adds a message to a lane.
func (t *tenant) addLocked(c *client, l *lane, frame []byte) *spec.Error {
	n := int(c.waiting.Load())
	if n >= t.limits.MaxInFlight || int64(c.waitingSize+len(frame)) > t.limits.MaxFrame {
		return failed(spec.FailQueueFull, "%d messages wait until the owner has allowed one of them: nothing was sent; wait for that", n)
	}
	l.frames = append(l.frames, bytes.Clone(frame))
	c.waiting.Add(1)
	c.waitingSize += len(frame)
	if l.conn != nil {
		t.seq++
		l.conn.used = t.seq
	}
	return nil
}

// first returns the first message of a lane, and the connection that it is for.
func (t *tenant) first(l *lane) ([]byte, *connection) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return l.frames[0], l.conn
}

// next removes the first message of a lane, which was served, and returns the one after it,
// as first does. Without one the lane is no more.
func (t *tenant) next(c *client, l *lane) ([]byte, *connection) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.waiting.Add(-1)
	c.waitingSize -= len(l.frames[0])
	l.frames = l.frames[1:]
	if len(l.frames) > 0 {
		return l.frames[0], l.conn
	}
	delete(c.lanes, l)
	c.leaveOpening(l)
	if l.conn != nil {
		l.conn.lane = nil
	}
	return nil, nil
}

// leaveOpening is called when the connection of a lane was made, or will not be.
func (c *client) leaveOpening(l *lane) {
	if c.opening == l {
		c.opening = nil
	}
}

// laneLocked returns the lane of the connection that a message names, or else of the one that
// it would be for; nil if there is none.
func (c *client) laneLocked(connID string) *lane {
	if connID == "" && c.opening != nil {
		return c.opening
	}
	if conn, err := c.connectionLocked(connID); err == nil {
		return conn.lane
	}
	return nil
}
