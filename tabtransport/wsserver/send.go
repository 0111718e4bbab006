package wsserver

import (
	"encoding/json"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/wsconn"
)

var _ tabtransport.Link = (*conn)(nil)

// Send implements tabtransport.Link.
func (c *conn) Send(out tabtransport.Outgoing) error {
	buf := wsconn.NewBuffer()
	var err error
	if buf.B, err = c.dialect.appendRequest(buf.B, c.forPeer(out), 0); err == nil {
		err = c.ws.SendRequest(buf, out.Claim)
	}
	if err != nil {
		buf.Free()
	}
	return err
}

// Resend implements tabtransport.Resender.
func (c *conn) Resend(out tabtransport.Outgoing, ago time.Duration) {
	// It was encoded before, so it can be.
	frame, _ := c.dialect.appendRequest(nil, c.forPeer(out), max(ago, 1))
	c.control(frame)
}

// forPeer returns a request as the peer may see it: only a paired browser learns which client
// it is of.
func (c *conn) forPeer(out tabtransport.Outgoing) tabtransport.Outgoing {
	if !c.paired {
		out.For = ""
	}
	return out
}

// Cancel implements tabtransport.Link.
func (c *conn) Cancel(tab int64, id, reason string) {
	c.control(c.dialect.appendCancel(nil, tab, spec.Cancel{RequestID: id, Reason: reason}))
}

// Respond implements tabtransport.Link.
func (c *conn) Respond(tab int64, id json.RawMessage, result any, err *spec.Error) {
	c.control(c.dialect.appendResponse(nil, tab, id, result, err))
}

// Close implements tabtransport.Link.
func (c *conn) Close(code spec.CloseCode, reason string) { c.ws.Close(code, reason) }

// control queues a frame that is no request, or one that is sent again; nil is none.
// Such frames are few: a peer that lets them pile up is closed rather than left without
// one.
func (c *conn) control(frame []byte) {
	if frame != nil {
		c.ws.MustSend(frame)
	}
}
