package relay

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// list returns the user's extensions that are connected, the longest known first.
// Clients take the first or only one of them, and ask again while there is none.
func (t *tenant) list() listing {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := listing{Extensions: []listed{}}
	for _, ext := range t.extensionsLocked() {
		if ext.session != nil {
			out.Extensions = append(out.Extensions, ext.listed())
		}
	}
	return out
}

func (ext *extension) listed() listed {
	return listed{ID: ext.id, Name: ext.name, Connected: ext.session != nil, Version: ext.version}
}

func (t *tenant) extensionsLocked() []*extension {
	return slices.SortedFunc(maps.Values(t.extensions), func(a, b *extension) int {
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.id, b.id))
	})
}

// connect makes a connection. tab is "" to let the extension choose. most is how
// many connections the client may have. The client is sent what answer makes, if
// not nil, before anything else of the connection. ctx has ended if the client has given it up.
func (t *tenant) connect(ctx context.Context, c *client, extensionID, tab string, most int, answer func(*connection) []byte) *spec.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ctx.Err() != nil {
		return errGivenUp()
	}
	if len(c.connections) >= most {
		return spec.Errorf(codeConnected, "MCP client already connected to an extension")
	}
	ext := t.extensions[extensionID]
	if ext == nil {
		return spec.Errorf(codeServer, "Extension not found or not accessible")
	}
	if ext.session == nil {
		return failed(spec.FailNotConnected, "Extension disconnected")
	}
	t.seq++
	conn := &connection{id: "conn-" + uuid.NewString(), client: c, ext: ext, tab: tab, used: t.seq}
	ext.connections[conn.id] = conn
	c.connections[conn.id] = conn
	c.lost = ""
	if frame := answer(conn); frame != nil {
		c.out.MustSend(frame)
	}
	t.changedLocked()
	return nil
}

// disconnect ends the connection that is named, or, if none is, all of the client's.
func (t *tenant) disconnect(c *client, connID string) *spec.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if connID != "" && c.connections[connID] == nil {
		return errForeign()
	}
	c.lost = ""
	for id, conn := range c.connections {
		if connID == "" || id == connID {
			t.releaseLocked(conn)
		}
	}
	c.endLaneLocked() // also of a connection that is not made yet
	return nil
}

// outgoing is a client's message that may go to an extension.
type outgoing struct {
	session *session
	conn    *connection
	id      outboundID
}

// begin finds where a client's message goes and, if it wants an answer, adds it to the
// pending requests.
func (t *tenant) begin(c *client, e *envelope, inFlight InFlight) (outgoing, *spec.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	conn, err := c.connectionLocked(e.connectionID)
	if err != nil {
		return outgoing{}, err
	}
	r := &request{method: e.method, id: slices.Clone(e.id), inFlight: inFlight}
	s := conn.ext.session
	if s == nil {
		return outgoing{}, failed(spec.FailNotConnected, "Extension is away: nothing was sent; try again when it is back")
	}
	t.seq++
	conn.used = t.seq
	out := outgoing{session: s, conn: conn, id: outboundID{conn: conn.id}}
	// An extension of 1.0 answers nothing that has no id, and a client of the
	// predecessor waits for an answer whether it gave one or not.
	if r.id == nil && (s.dialect.bare() || !conn.client.dialect.bare()) {
		return out, nil
	}
	if len(conn.pending.byID) >= t.limits.MaxInFlight {
		return outgoing{}, failed(spec.FailQueueFull, "%d requests wait for an answer, which is the most: wait for some of them", t.limits.MaxInFlight)
	}
	if err := inFlight.OnStop(func() { t.stop(conn, r) }); err != nil {
		return outgoing{}, refusedBy(err)
	}
	inFlight.Sent(conn.ext.name)
	r.sent = time.Now()
	r.text = conn.pending.add(r)
	out.id.text = r.text
	return out, nil
}

// stop ends a client's request that the owner has stopped, if it is still pending. A later
// response of the extension is dropped.
func (t *tenant) stop(conn *connection, r *request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if conn.pending.byID[r.text] != r {
		return
	}
	err := refusedBy(r.inFlight.Stopped(true))
	conn.pending.take(r.text)
	conn.client.out.MustSend(conn.client.dialect.failure(r.id, "", err))
}

// abandon removes a pending request that could not be sent. It reports whether the request
// was still unanswered.
func (t *tenant) abandon(out outgoing) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return out.id.text == "" || out.conn.pending.take(out.id.text) != nil
}

// connectionLocked returns the connection that a message names, or else the one that
// the client used last.
func (c *client) connectionLocked(id string) (*connection, *spec.Error) {
	if id != "" {
		if conn := c.connections[id]; conn != nil {
			return conn, nil
		}
		return nil, errForeign()
	}
	if conn := lastUsed(c.connections); conn != nil {
		return conn, nil
	}
	return nil, errNoConnection()
}

// lastUsed returns the connection whose last request is the newest, or nil.
func lastUsed(all map[string]*connection) *connection {
	var last *connection
	for _, conn := range all {
		if last == nil || conn.used > last.used {
			last = conn
		}
	}
	return last
}

// finish returns the request that an extension answers, and its connection, or nil if the
// request is unknown, was sent to another extension, or is no longer pending.
func (t *tenant) finish(s *session, e *envelope) (*request, *connection) {
	id, ok := splitID(e.id)
	if !ok {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.ext.session != s {
		return nil, nil
	}
	conn := s.ext.connections[id.conn]
	if conn == nil {
		return nil, nil
	}
	r := conn.pending.take(id.text)
	if r != nil && r.chooses() {
		conn.tab = cmp.Or(tabOfResult(e.result), conn.tab)
	}
	return r, conn
}

// recipients finds the connections that get what an extension sent unasked: all that it
// has; or, from an extension of the predecessor, those of the connection
// or the tab that it names, or else of the connection used last.
func (t *tenant) recipients(s *session, e *envelope) []*connection {
	byTab := s.dialect.bare()
	tab := ""
	if byTab {
		tab = tabNumber(rawjson.Get(e.params, "tabId"))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.ext.session != s {
		return nil
	}
	all := s.ext.connections
	var out []*connection
	switch {
	case byTab && e.connectionID != "":
		if conn := all[e.connectionID]; conn != nil {
			out = append(out, conn)
		}
	case byTab && tab == "":
		if conn := lastUsed(all); conn != nil {
			out = append(out, conn)
		}
	default:
		for _, conn := range all {
			if byTab && conn.tab == "" {
				conn.tab = tab
			}
			if !byTab || conn.tab == tab {
				out = append(out, conn)
			}
		}
	}
	return out
}

// tabOfResult returns the number of the tab that createTab or selectTab has answered:
// {"tabId":42}, or, from shipped extensions, {"tab":{"id":42}}. It is "" if there is
// none.
func tabOfResult(result json.RawMessage) string {
	return cmp.Or(tabNumber(rawjson.Get(result, "tabId")), tabNumber(rawjson.Get(result, "tab", "id")))
}

// tabNumber returns the JSON number of a tab, "" if raw is none.
func tabNumber(raw json.RawMessage) string {
	if !isInteger(raw) {
		return ""
	}
	return string(raw)
}
