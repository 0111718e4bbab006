package relay

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
)

// ExtensionInfo describes an extension to the hub.
type ExtensionInfo struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Version   string    `json:"version,omitempty"`
	Connected bool      `json:"connected"` // false: it is away and may come back
	Clients   int       `json:"clients"`   // connected to it
	Since     time.Time `json:"since"`
}

// Extensions returns a user's extensions, the longest known first.
func (r *Relay) Extensions(user spec.UserID) []ExtensionInfo {
	t := r.existing(user)
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []ExtensionInfo
	for _, ext := range t.extensionsLocked() {
		out = append(out, ExtensionInfo{
			ID: ext.id, Name: ext.name, Version: ext.version, Connected: ext.session != nil,
			Clients: len(ext.connections), Since: ext.since,
		})
	}
	return out
}

// ClientInfo describes a client to the hub.
type ClientInfo struct {
	Credential string // as Admission.Client
	Name       string // what it calls itself
	Since      time.Time
}

// Clients returns a user's clients, in no order.
func (r *Relay) Clients(user spec.UserID) []ClientInfo {
	t := r.existing(user)
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []ClientInfo
	for c := range t.clients {
		out = append(out, ClientInfo{c.credential, c.name, c.since})
	}
	return out
}

// send sends a request of the hub's own to the extension and waits for its answer, until ctx
// is done or Limits.RequestTimeout is over. An *spec.Error is the extension's answer; the
// other errors are those of tabtransport: ErrNotConnected and ErrBusy if nothing was sent,
// ErrLost and ErrTimeout if it may have taken effect.
func (d driver) send(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	r := d.relay
	t := r.existing(d.user)
	switch {
	case t == nil:
		return nil, tabtransport.ErrNotConnected
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	answer := make(chan reply, 1)
	out, err := t.ask(d.id, method, answer)
	if err != nil {
		return nil, err
	}
	e := &envelope{method: method, size: len(method) + len(params)}
	e.rest = []member{{"method", rawjson.AppendString(nil, method)}, {"params", params}}
	if out.session.out.Send(out.session.dialect.request(e, out.id)) != nil && t.abandon(out) {
		return nil, tabtransport.ErrBusy
	}
	r.counts.forwarded.Add(1)
	timeout := time.NewTimer(r.limits.RequestTimeout)
	defer timeout.Stop()
	select {
	case a := <-answer:
		return a.result, a.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timeout.C:
		err = tabtransport.ErrTimeout
	}
	if !t.abandon(out) {
		a := <-answer // it has come in this moment
		return a.result, a.err
	}
	r.counts.interrupted.Add(1)
	return nil, err
}

// ask enters a request of the hub's own.
func (t *tenant) ask(extensionID, method string, answer chan<- reply) (outgoing, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ext, err := t.connectedLocked(extensionID)
	if err != nil {
		return outgoing{}, err
	}
	if ext.own == nil {
		ext.own = &connection{id: "conn-" + uuid.NewString(), ext: ext}
	}
	out, refused := t.enterLocked(ext.own, &request{method: method, reply: answer})
	if refused != nil {
		return outgoing{}, tabtransport.ErrBusy
	}
	return out, nil
}

// connectedLocked returns an extension that can be asked something.
func (t *tenant) connectedLocked(id string) (*extension, error) {
	ext := t.extensions[id]
	if ext == nil || ext.session == nil || t.closed {
		return nil, tabtransport.ErrNotConnected
	}
	return ext, nil
}

// replyOf returns an extension's answer in memory of its own.
func replyOf(e *envelope) reply {
	if e.err == nil && e.result == nil {
		return reply{err: errNoResult()}
	}
	if e.err == nil {
		if err := refusal(e.result); err != nil {
			return reply{err: err}
		}
		return reply{result: slices.Clone(e.result)}
	}
	out := new(spec.Error)
	if err := json.Unmarshal(appendError(nil, e.err), out); err != nil {
		out = spec.Errorf(codeServer, "%s", errorText(e.err))
	}
	return reply{err: out}
}
