package hub

import (
	"crypto/rand"
	"encoding/json"

	"github.com/google/uuid"

	"tabhub/hub/state"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// handler is the Hub as its transport sees it.
type handler Hub

var _ tabtransport.Handler = (*handler)(nil)

// Connect implements tabtransport.Handler.
func (hd *handler) Connect(conn tabtransport.Conn) (tabtransport.Accepted, error) {
	h := (*Hub)(hd)
	var id spec.PeerID
	var secret string
	var err error = spec.Errorf(spec.CodeInternal, "%v", errClosed)
	h.update(func(c *state.Change) {
		if !h.closing {
			id, secret, err = c.Connect(conn, state.Fresh{Secret: rand.Text, ID: uuid.NewString})
		}
	})
	if err != nil {
		return tabtransport.Accepted{}, err
	}
	h.log.Info("peer connected", "peer", id, "dialect", conn.Dialect, "origin", conn.Origin, "attested", conn.Attested)
	return tabtransport.Accepted{Peer: id, Epoch: h.epoch, Result: spec.HelloResult{
		Hub:           "tabhub",
		Version:       h.opts.Version,
		KeepAliveMs:   spec.KeepAlive.Milliseconds(),
		Limits:        spec.DefaultLimits,
		BrowserSecret: secret,
	}}, nil
}

// Message implements tabtransport.Handler.
func (hd *handler) Message(from spec.TabAddr, id json.RawMessage, msg spec.Inbound) {
	h := (*Hub)(hd)
	switch m := msg.(type) {
	case *spec.Register:
		h.register(from, id, m)
		return
	case *spec.TabState:
		h.update(func(c *state.Change) { c.TabState(from, m) })
	case *spec.TabClosed:
		h.update(func(c *state.Change) { c.TabClosed(from) })
	case *spec.ResourceUpdated:
		h.resourceUpdated(from, m.URI)
	}
	if id != nil {
		h.transport.Respond(from, id, struct{}{}, nil)
	}
}

// Disconnected implements tabtransport.Handler.
func (hd *handler) Disconnected(id spec.PeerID, cause error) {
	h := (*Hub)(hd)
	h.update(func(c *state.Change) { c.Disconnected(id) })
	h.log.Info("peer disconnected", "peer", id, "err", cause)
}

// Forget drops a peer that is known not to come back, such as a browser whose process
// has ended or whose pairing is forgotten: its grace is over at once, and its connection,
// if it has one, is closed with the code and the reason. A peer that is not there is none
// to forget.
func (h *Hub) Forget(id spec.PeerID, code spec.CloseCode, reason string) {
	h.update(func(c *state.Change) { c.Forget(id, code, reason) })
}
