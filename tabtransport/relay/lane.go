package relay

import (
	"bytes"
	"context"

	"tabhub/spec"
)

// A message about which the owner has to be asked waits for the answer in a lane, and with it
// what the client sends to extensions after it: they get its messages in their order. Nothing
// else waits for them.

// lane is the messages of one client that wait, and the goroutine that serves them. It begins
// with one about which the owner is asked, and ends when none is left.
type lane struct {
	ctx    context.Context // ends with the connection that they are for
	cancel context.CancelFunc
	frames [][]byte // oldest first; the first is being served. Guarded by tenant.mu
}

// waitsBehind has the message wait for those before it that do already, if there are any.
func (p *clientPeer) waitsBehind() bool {
	c := p.client
	if c.waiting.Load() == 0 {
		return false
	}
	c.tenant.mu.Lock()
	defer c.tenant.mu.Unlock()
	if c.lane == nil {
		return false
	}
	if err := c.addLocked(c.lane, p.last); err != nil {
		p.deny(err)
	}
	return true
}

// wait begins a lane with the message.
func (p *clientPeer) wait() {
	l := &lane{}
	l.ctx, l.cancel = context.WithCancel(p.request.Context())
	if err := p.client.openLane(l, p.last); err != nil {
		l.cancel()
		p.deny(err)
		return
	}
	serving := &clientPeer{
		remote:  &remote{relay: p.relay, out: p.out, request: p.request.WithContext(l.ctx)},
		dialect: p.dialect, client: p.client,
	}
	p.lanes.Go(func() { serving.serveLane(l) })
}

// serveLane serves the messages of the lane until none is left.
func (p *clientPeer) serveLane(l *lane) {
	defer l.cancel()
	for frame := p.client.first(l); frame != nil; frame = p.client.next(l) {
		p.env.parse(frame) // without an error, as the reader has done before
		p.serveHeld(l.ctx)
	}
}

// serveHeld serves a message of a lane, if that is allowed now.
func (p *clientPeer) serveHeld(ctx context.Context) {
	inFlight, ask, err := p.client.gate.Admit(p.env.method, p.env.params, p.wantsAnswer())
	if ask != nil {
		if lost := p.client.leads(&p.env); lost != nil {
			p.deny(lost)
			return
		}
		inFlight, err = ask(ctx)
	}
	gone := ctx.Err() != nil
	if gone && err == nil {
		inFlight.End()
	}
	switch {
	case gone:
		p.deny(errGivenUp())
	case err != nil:
		p.deny(refusedBy(err))
	default:
		p.serve(inFlight)
	}
}

// leads returns why a message leads to no extension, nil if it does, or connects to one.
func (c *client) leads(e *envelope) *spec.Error {
	if e.method == connectMethod {
		return nil
	}
	c.tenant.mu.Lock()
	defer c.tenant.mu.Unlock()
	_, err := c.connectionLocked(e.connectionID)
	return err
}

// openLane makes a lane the client's, which begins with a message.
func (c *client) openLane(l *lane, frame []byte) *spec.Error {
	c.tenant.mu.Lock()
	defer c.tenant.mu.Unlock()
	if err := c.addLocked(l, frame); err != nil {
		return err
	}
	c.lane = l
	return nil
}

// addLocked adds a message to a lane.
func (c *client) addLocked(l *lane, frame []byte) *spec.Error {
	n, limits := int(c.waiting.Load()), &c.tenant.limits
	if n >= limits.MaxInFlight || int64(c.waitingSize+len(frame)) > limits.MaxFrame {
		return failed(spec.FailQueueFull, "%d messages wait until the owner has allowed one of them: nothing was sent; wait for that", n)
	}
	l.frames = append(l.frames, bytes.Clone(frame))
	c.waiting.Add(1)
	c.waitingSize += len(frame)
	return nil
}

// first returns the first message of a lane.
func (c *client) first(l *lane) []byte {
	c.tenant.mu.Lock()
	defer c.tenant.mu.Unlock()
	return l.frames[0]
}

// next removes the first message of a lane, which was served, and returns the one after it.
// Without one the lane is no more.
func (c *client) next(l *lane) []byte {
	c.tenant.mu.Lock()
	defer c.tenant.mu.Unlock()
	c.waiting.Add(-1)
	c.waitingSize -= len(l.frames[0])
	l.frames = l.frames[1:]
	if len(l.frames) > 0 {
		return l.frames[0]
	}
	if c.lane == l {
		c.lane = nil
	}
	return nil
}

// endLaneLocked gives up what waits for the owner when the client has no connection any more.
func (c *client) endLaneLocked() {
	if c.lane != nil && len(c.connections) == 0 {
		c.lane.cancel()
		c.lane = nil
	}
}
