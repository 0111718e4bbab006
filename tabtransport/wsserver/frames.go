package wsserver

import (
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/time/rate"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport/wsconn"
)

// Floods: what a peer may send over one connection, beyond answers to requests.
const (
	messagesPerSecond  = 1000
	messageBurst       = 5000
	malformedPerSecond = 1
	malformedBurst     = 50
)

// handle takes one frame, which is only valid during the call.
func (c *conn) handle(kind wsconn.Kind, frame []byte) {
	switch kind {
	case wsconn.Binary:
		c.bad(nil, errors.New("binary frame"))
		return
	case wsconn.TooBig:
		c.skip(frame, fmt.Sprintf("a frame may have at most %d bytes", c.srv.opts.MaxFrame))
		return
	}
	ev := &c.event
	*ev = event{}
	err := c.dialect.decode(frame, ev)
	if rawjson.TooDeep(err) {
		c.skip(frame, fmt.Sprintf("a frame may be nested at most %d deep", spec.MaxDepth))
		return
	} else if err != nil {
		c.bad(nil, err)
		return
	}
	if ev.kind != evAnswer && !c.messages.Allow() {
		c.srv.stats.tooFast.Add(1)
		c.Close(spec.CloseTooFast, fmt.Sprintf("more than %d messages a second", messagesPerSecond))
		return
	}
	if c.attachment == nil {
		c.handleFirst(ev)
		return
	}
	switch ev.kind {
	case evIgnored:
	case evPair, evHello:
		c.bad(ev.id, spec.Errorf(spec.CodeInvalidRequest, "hello was said before"))
	case evMessage:
		c.registrar.message(c, ev.tab, ev.id, ev.msg)
	case evAnswer:
		if !c.attachment.Answer(ev.tab, ev.requestID, ev.answer) && !isPing(ev.requestID) {
			c.srv.stats.stray.Add(1)
		}
	case evProgress:
		if !c.attachment.Progress(ev.tab, ev.progress) {
			c.srv.stats.stray.Add(1)
		}
	case evPing:
		c.Respond(ev.tab, ev.id, struct{}{}, nil)
	case evOwner:
		c.forOwner(ev)
	case evInvalid, evRefused:
		c.bad(ev.id, ev.err)
	}
}

// handleFirst takes a frame of a peer that was not admitted yet.
func (c *conn) handleFirst(ev *event) {
	switch ev.kind {
	case evPair:
		c.pair(ev)
	case evHello:
		c.admit(ev)
	case evMessage:
		if ev.early {
			return
		}
		tab, id, msg := ev.tab, ev.id, ev.msg
		*ev = event{kind: evHello, tab: tab}
		c.admit(ev)
		if c.attachment != nil {
			c.registrar.message(c, tab, id, msg)
		}
	case evPing:
		c.Respond(ev.tab, ev.id, struct{}{}, nil)
	case evRefused:
		c.refuse(ev.id, ev.err)
	case evInvalid:
		c.bad(ev.id, ev.err)
	case evAnswer, evProgress, evOwner:
		c.srv.stats.stray.Add(1)
	}
}

// forOwner answers a request for the owner of the hub, from a paired browser.
func (c *conn) forOwner(ev *event) {
	switch {
	case ev.id == nil:
		return
	case c.admission.Pairing == "":
		c.Respond(ev.tab, ev.id, nil, spec.Errorf(spec.CodeRefused, "only a browser that is paired with the hub may ask for this"))
		return
	case c.srv.opts.Owner == nil:
		c.Respond(ev.tab, ev.id, nil, spec.Errorf(spec.CodeInternal, "this hub has no owner to ask"))
		return
	}
	result, err := c.srv.opts.Owner(c.admission, spec.TabAddr{Peer: c.peer, Tab: ev.tab}, ev.asked)
	if err != nil {
		c.Respond(ev.tab, ev.id, nil, spec.Errorf(spec.CodeInternal, "%v", err))
		return
	}
	c.Respond(ev.tab, ev.id, result, nil)
}

// skip handles a frame that is skipped, of which only start was read. A request that waits
// for it fails at once.
func (c *conn) skip(start []byte, what string) {
	ev := &c.event
	*ev = event{}
	c.dialect.concerns(start, ev)
	problem := spec.Errorf(spec.CodeLimit, "%s", what)
	if c.attachment != nil && ev.requestID != "" {
		tooMuch := func(spec.Request) (spec.Response, error) {
			return spec.Response{}, spec.Errorf(spec.CodeLimit, "the tab's answer cannot be taken: %s", what)
		}
		if c.attachment.Answer(ev.tab, ev.requestID, tooMuch) {
			ev.id = nil
		}
	}
	c.bad(ev.id, problem)
}

// bad counts a frame that is no message, and answers it if it has an id.
func (c *conn) bad(id json.RawMessage, err error) {
	c.srv.stats.malformed.Add(1)
	if c.malformed == nil {
		c.malformed = rate.NewLimiter(malformedPerSecond, malformedBurst)
		c.warn("malformed frame; further ones of this connection are only counted", "err", err)
	}
	if id != nil {
		c.control(c.dialect.appendResponse(nil, c.event.tab, id, nil, coded(err, spec.CodeInvalidRequest)))
	}
	if !c.malformed.Allow() {
		c.srv.stats.tooFast.Add(1)
		c.Close(spec.CloseTooFast, "too many malformed frames")
	}
}
