package core

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"tabhub/hub/state"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// handler is the Core as its transport sees it.
type handler Core

var _ tabtransport.Handler = (*handler)(nil)

// Connect implements tabtransport.Handler.
func (hd *handler) Connect(conn tabtransport.Conn) (tabtransport.Accepted, error) {
	h := (*Core)(hd)
	var id spec.PeerID
	var secret string
	var err error = spec.Errorf(spec.CodeInternal, "%v", ErrClosed)
	h.Update(func(tx *state.Tx) {
		if !h.closing {
			id, secret, err = tx.Connect(conn, state.Fresh{Secret: rand.Text, ID: uuid.NewString})
		}
	})
	if err != nil {
		return tabtransport.Accepted{}, err
	}
	h.Log.Info("peer connected", "peer", id, "dialect", conn.Dialect, "origin", conn.Origin, "attested", conn.Attested)
	return tabtransport.Accepted{Peer: id, Epoch: h.epoch, Result: spec.HelloResult{
		Hub:           "tabhub",
		Version:       h.Options.Version,
		KeepAliveMs:   spec.KeepAlive.Milliseconds(),
		Limits:        spec.DefaultLimits,
		BrowserSecret: secret,
	}}, nil
}

// Message implements tabtransport.Handler.
func (hd *handler) Message(from spec.TabAddr, id json.RawMessage, msg spec.Inbound) {
	h := (*Core)(hd)
	switch m := msg.(type) {
	case *spec.Register:
		h.register(from, id, m)
		return
	case *spec.TabState:
		h.Update(func(tx *state.Tx) { tx.TabState(from, m) })
	case *spec.TabClosed:
		h.Update(func(tx *state.Tx) { tx.TabClosed(from) })
	case *spec.ResourceUpdated:
		h.hooks.Updated(from, m.URI)
	}
	if id != nil {
		h.transport.Respond(from, id, struct{}{}, nil)
	}
}

// Disconnected implements tabtransport.Handler.
func (hd *handler) Disconnected(id spec.PeerID, cause error) {
	h := (*Core)(hd)
	h.Update(func(tx *state.Tx) { tx.Disconnected(id) })
	h.Log.Info("peer disconnected", "peer", id, "err", cause)
}

// SendOwn sends a request of the hub itself: one that carries nothing of a client's, and takes
// nothing to it.
func (c *Core) SendOwn(ctx context.Context, to spec.TabAddr, req spec.Request, w tabtransport.Wait) (spec.Response, error) {
	switch req.(type) {
	case *spec.Ask, *spec.ListTabs, *spec.EndRoom, *spec.ListPacks, *spec.Record:
	case *spec.SubscribeResource: // was decided about when the first client wanted it
	case *spec.Refs: // says what is to be decided about; what it gives reaches a client only after that
	default:
		panic(fmt.Sprintf("hub: %s is not the hub's own", req.Method()))
	}
	return c.transport.SendRequest(ctx, to, req, w)
}

// Background runs f in a goroutine that Drain cuts short and waits for, and does
// nothing once the hub closes. f must end soon after the Core's context does.
func (c *Core) Background(f func()) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if !c.closing {
		c.tasks.Go(f)
	}
}

// Forget drops a peer that is known not to come back, such as a browser whose process
// has ended or whose pairing is forgotten: its grace is over at once, and its connection,
// if it has one, is closed with the code and the reason. A peer that is not there is none
// to forget.
func (c *Core) Forget(id spec.PeerID, code spec.CloseCode, reason string) {
	c.Update(func(tx *state.Tx) { tx.Forget(id, code, reason) })
}

// BrowserOf returns the name that a browser has from its owner, "" if it has none.
func (c *Core) BrowserOf(peer spec.PeerID) string {
	return View(c, func(s *state.State) string { return s.BrowserOf(peer) })
}
