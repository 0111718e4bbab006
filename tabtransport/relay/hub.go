package relay

import (
	"time"

	"tabhub/spec"
)

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

// Extensions returns how many of a user's extensions are connected.
func (r *Relay) Extensions(user spec.UserID) (n int) {
	t := r.existing(user)
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.extensions {
		if e.session != nil {
			n++
		}
	}
	return n
}
