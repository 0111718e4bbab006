package relay

import (
	"context"
	"errors"
	"net/http"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/wsconn"
)

// remote is the peer of a WebSocket. It belongs to its reader.
type remote struct {
	relay   *Relay
	ws      *wsconn.Conn
	out     outbox // ws
	request *http.Request
	role    role // of the peer; on /relay its first message changes it

	last      []byte   // the frame; valid while it is handled
	env       envelope // of it
	early     int      // messages before it has authenticated
	malformed int      // frames in a row that could not be read
}

// role is what a peer is: a client, an extension, or not known yet.
type role interface {
	// handle takes the message in remote.env.
	handle()
	// unreadable takes a frame that is not a message.
	unreadable(*spec.Error)
	// ended is called when the connection has ended.
	ended(error)
}

// outbox is how a peer is sent frames: a *wsconn.Conn, or the queue of a test.
type outbox interface {
	Send(frame []byte) error
	MustSend(frame []byte)
	Close(code spec.CloseCode, reason string)
}

// handler returns the handler of an endpoint. Its peers must have authenticated within
// timeout; start says what they are at first.
func (r *Relay) handler(timeout time.Duration, start func(*remote) role) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		// An error has been answered.
		_ = r.conns.Serve(w, req, wsconn.Options{Detachable: r.detachable}, func(ws *wsconn.Conn, req *http.Request) {
			ws.CloseAt(time.Now().Add(timeout), spec.CloseRefused, "no handshake in time")
			ws.KeepAlive(nil)
			p := &remote{relay: r, ws: ws, out: ws, request: req}
			p.role = start(p)
			err := ws.Read(p.read)
			p.role.ended(err)
		})
	})
}

func (p *remote) read(kind wsconn.Kind, frame []byte) {
	if kind == wsconn.Binary {
		p.out.Close(closeUnsupportedData, "only text frames are taken")
		return
	}
	p.frame(frame)
}

func (p *remote) frame(frame []byte) {
	p.last = frame
	if err := p.env.parse(frame); err != nil {
		p.role.unreadable(err)
		return
	}
	p.malformed = 0
	p.role.handle()
}

// countMalformed closes the connection of a peer that sends too much that is no message.
func (p *remote) countMalformed() {
	if p.malformed++; p.malformed > p.relay.limits.MaxMalformed {
		p.out.Close(spec.CloseTooFast, "too many frames that are not messages")
	}
}

// countEarly closes the connection of a peer that says too much before it authenticates
// with a message that is named, and reports whether it has.
func (p *remote) countEarly(before string) bool {
	p.early++
	if p.early > maxEarly {
		p.out.Close(spec.CloseTooFast, "too many messages before "+before)
	}
	return p.early > maxEarly
}

// detach lets another process serve the peer, if that is what err says, and reports whether it
// is. Of what the relay has said nothing but openings is not said again there.
func (p *remote) detach(err error, openings int) bool {
	e, ok := errors.AsType[*tabtransport.RemoteError](err)
	if ok {
		p.ws.Detach(e.Handler, p.request, openings)
	}
	return ok
}

// accept lets the peer stay as long as its token is good. ping is as for
// wsconn.Conn.KeepAlive.
func (p *remote) accept(a tabtransport.Admission, ping func() []byte) {
	p.ws.Admit()
	p.ws.KeepAlive(ping)
	p.ws.CloseAt(a.Expires, spec.CloseRefused, "the token has expired: reconnect with a new one")
	p.ws.CloseWhen(a.Revoked, spec.CloseRefused, "the token was replaced: reconnect with the new one")
	if ending := tabtransport.Ending(p.request.Context()); ending != nil {
		context.AfterFunc(ending, func() { p.ws.Close(spec.CloseGoingAway, "this connection's server shuts down: connect again") })
	}
}
