package relay

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"tabhub/spec"
)

// maxShown is how many connections a connection_status lists.
const maxShown = 100

// stamp is the form of a status's time.
const stamp = "2006-01-02T15:04:05.000-0700"

// status says whether a peer's other side is there.
type status struct {
	Connected bool   `json:"connected"`
	PeerCount int    `json:"peer_count"`
	Timestamp string `json:"timestamp"`
}

// connectionStatus says how much of the user's share is in use.
type connectionStatus struct {
	MaxConnections int                `json:"max_connections"`
	Used           int                `json:"connections_used"`
	ToThisBrowser  int                `json:"connections_to_this_browser"`
	Browsers       int                `json:"total_browsers"`
	Clients        int                `json:"total_mcp_clients"`
	Active         []activeConnection `json:"active_connections"`
}

type activeConnection struct {
	ConnectionID string `json:"connection_id"`
	MCPClientID  string `json:"mcp_client_id"`
	// What the client calls itself, under the names that shipped extensions look for.
	ProjectName string `json:"project_name,omitempty"`
	ClientID    string `json:"client_id,omitempty"`
	Name        string `json:"name,omitempty"`
}

// lastStatus is the last status sent to a peer. It is guarded by the mutex of its tenant.
type lastStatus struct {
	connected bool
	peers     int
	numbers   []byte
}

// changedLocked schedules the status for all peers, once for all changes within
// spec.NotifyCoalesced.
func (t *tenant) changedLocked() {
	if t.status == nil && !t.closed {
		t.status = time.AfterFunc(spec.NotifyCoalesced, t.tellStatus)
	}
}

// tellStatus sends each peer the status if it has changed since it was last sent.
func (t *tenant) tellStatus() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.status = nil
	if t.closed {
		return
	}
	numbers := connectionStatus{MaxConnections: t.limits.MaxClients, Clients: len(t.clients)}
	for _, ext := range t.extensions {
		numbers.Used += len(ext.connections)
		if ext.session != nil {
			numbers.Browsers++
		}
	}
	for _, ext := range t.extensions {
		if s := ext.session; s != nil {
			n := numbers
			n.ToThisBrowser, n.Active = len(ext.connections), activeOf(ext.connections)
			s.status.send(s.out, s.dialect, true, len(ext.connections), n)
		}
	}
	for c := range t.clients {
		n := numbers
		n.Active = activeOf(c.connections)
		connected := false
		for _, conn := range c.connections {
			connected = connected || conn.ext.session != nil
			n.ToThisBrowser += len(conn.ext.connections)
		}
		c.status.send(c.out, c.dialect, connected, numbers.Browsers, n)
	}
}

// send drops the status if the peer's queue is full: the next change is sent again. Peers of the
// predecessor protocol get nothing: they may take any message for the response that they wait for.
func (t *lastStatus) send(out outbox, d dialect, connected bool, peers int, n connectionStatus) {
	if d.bare() {
		return
	}
	if connected != t.connected || peers != t.peers || t.numbers == nil {
		if out.Send(d.notice("status", statusNow(connected, peers))) == nil {
			t.connected, t.peers = connected, peers
		}
	}
	if frame := d.notice("connection_status", n); !bytes.Equal(frame, t.numbers) && out.Send(frame) == nil {
		t.numbers = frame
	}
}

func statusNow(connected bool, peers int) status {
	return status{connected, peers, time.Now().Format(stamp)}
}

func activeOf(all map[string]*connection) []activeConnection {
	ids := slices.Sorted(maps.Keys(all))
	out := make([]activeConnection, min(len(ids), maxShown))
	for i := range out {
		c := all[ids[i]].client
		out[i] = activeConnection{ids[i], c.id, c.name, c.name, c.name}
	}
	return out
}

// keepAlive keeps an extension's service worker awake, which only a message does,
// and ends requests that have waited for too long. It does not block.
func (t *tenant) keepAlive(s *session) {
	t.mu.Lock()
	peers := len(s.ext.connections)
	t.mu.Unlock()
	s.out.Send(s.dialect.notice("status", statusNow(true, peers)))
	t.expire(s.ext)
}
