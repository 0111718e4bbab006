package wsserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
)

// What is said on the connections of a user can be traced. A connection looks at one pointer
// for each frame, which is nil while nobody does; what is traced is copied there, and read by
// the goroutine of who traces.

// What waits for one who traces. A larger frame is told without its body.
const (
	maxTraced      = 1 << 20
	maxTracedQueue = 4096
	maxTracedBytes = 16 << 20
	maxTracedAsked = 4096    // requests without an answer
	tracedHead     = 4 << 10 // of a frame over maxTraced: there is its method
)

// secret are the methods whose messages hold what nobody else may know: proofs and tokens, an
// address that signs in, what the owner answers.
var secret = []string{spec.MethodPair, spec.MethodHello, spec.MethodDashboard, spec.MethodAsk}

// traceable is what who traces is told of a connection. It is set before anybody but the
// reader knows the connection.
type traceable struct {
	user    spec.UserID // "": not admitted
	peer    spec.PeerID
	browser bool // its frames say which tab they are about
}

// tap takes the frames of a user for one who traces.
type tap struct {
	user spec.UserID
	wake chan struct{} // buffered 1: there is something

	mu     sync.Mutex
	queue  []tapped
	bytes  int
	missed int
}

// tapped is a frame, or an event, that waits.
type tapped struct {
	at          time.Time
	of          traceable
	toHub       bool
	frame       []byte // or its beginning
	size        int
	event, text string
}

// Trace calls f with tabtransport.EventBegun and what is said from then on between the hub and
// the user's tabs and browsers, in order, until ctx ends or f fails. Handshakes are left out, and what else holds
// secrets is told without its body.
func (s *Server) Trace(ctx context.Context, user spec.UserID, f func(*tabtransport.Traced) error) error {
	t := &tap{user: user, wake: make(chan struct{}, 1)}
	s.setTaps(func(taps []*tap) []*tap { return append(taps, t) })
	defer s.setTaps(func(taps []*tap) []*tap { return slices.DeleteFunc(taps, func(o *tap) bool { return o == t }) })
	if err := f(&tabtransport.Traced{Time: time.Now(), Event: tabtransport.EventBegun}); err != nil {
		return err
	}
	r := traceReader{asked: make(map[askedKey]tapRequest)}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.wake:
		}
		queue, missed := t.take()
		for i := range queue {
			if err := f(r.read(&queue[i])); err != nil {
				return err
			}
		}
		if missed > 0 {
			if err := f(&tabtransport.Traced{Time: time.Now(), Event: tabtransport.EventMissed, Text: fmt.Sprintf("%d messages", missed)}); err != nil {
				return err
			}
		}
	}
}

// setTaps replaces the list of those who trace.
func (s *Server) setTaps(change func([]*tap) []*tap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var taps []*tap
	if now := s.taps.Load(); now != nil {
		taps = slices.Clone(*now)
	}
	if taps = change(taps); len(taps) == 0 {
		s.taps.Store(nil)
	} else {
		s.taps.Store(&taps)
	}
}

// trace shows a frame to those who trace: one that has come, or one that the connection is
// about to be given. The frame may change afterwards.
func (c *conn) trace(toHub bool, frame []byte) {
	if taps := c.srv.taps.Load(); taps != nil && len(frame) > 0 {
		offer(*taps, tapped{at: time.Now(), of: c.traceable, toHub: toHub, frame: frame, size: len(frame)})
	}
}

// traceEvent shows what has happened to the connection.
func (c *conn) traceEvent(event, text string) {
	if taps := c.srv.taps.Load(); taps != nil {
		offer(*taps, tapped{at: time.Now(), of: c.traceable, toHub: true, event: event, text: text})
	}
}

func offer(taps []*tap, it tapped) {
	for _, t := range taps {
		if it.of.user == t.user {
			t.offer(it)
		}
	}
}

func (t *tap) offer(it tapped) {
	if it.size > maxTraced {
		it.frame = it.frame[:tracedHead]
	}
	t.mu.Lock()
	if len(t.queue) < maxTracedQueue && t.bytes+len(it.frame) <= maxTracedBytes {
		it.frame = bytes.Clone(it.frame)
		t.queue = append(t.queue, it)
		t.bytes += len(it.frame)
	} else {
		t.missed++
	}
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

func (t *tap) take() (queue []tapped, missed int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	queue, missed = t.queue, t.missed
	t.queue, t.bytes, t.missed = nil, 0, 0
	return queue, missed
}

// traceReader makes messages of frames. It remembers requests, for their answers.
type traceReader struct {
	asked map[askedKey]tapRequest
}

// askedKey is a request: whose, and who has made it.
type askedKey struct {
	peer   spec.PeerID
	byPeer bool
	id     string
}

type tapRequest struct {
	method, tool string
	tab          int64
	at           time.Time
}

func (r *traceReader) read(it *tapped) *tabtransport.Traced {
	m := &tabtransport.Traced{
		Time: it.at, Tab: spec.TabAddr{Peer: it.of.peer}, ToHub: it.toHub,
		Event: it.event, Text: it.text, Size: it.size,
	}
	if it.event != "" {
		return m
	}
	var f members
	err := f.read(it.frame) // of one that is cut, as far as it goes
	if it.of.browser {
		m.Tab.Tab, _ = strconv.ParseInt(string(f.tabID), 10, 64)
	}
	m.Method, m.ID = short(cmp.Or(str(f.method), str(f.kind))), f.anyID()
	m.Tool = short(cmp.Or(str(f.toolName), str(rawjson.Get(f.params, "toolName"))))
	known := r.pair(m, &f)
	switch {
	case slices.Contains(secret, m.Method):
		m.Text = "left out: it may hold a secret"
	case it.size > maxTraced:
		m.Text = "left out: it is large"
	case err != nil:
		m.Text = "left out: it is no message: " + err.Error()
	case m.Answer && !known:
		m.Text = "left out: nobody knows what it answers"
	default:
		m.Body = it.frame
	}
	return m
}

// pair finds the request of an answer, and remembers other requests. It reports whether that
// of an answer was found.
func (r *traceReader) pair(m *tabtransport.Traced, f *members) (known bool) {
	m.Answer = m.ID != "" && (f.method == nil && f.kind == nil || m.Method == "tool-result" || m.Method == "result")
	if !m.Answer {
		if m.ID != "" {
			if len(r.asked) >= maxTracedAsked {
				clear(r.asked)
			}
			r.asked[askedKey{m.Tab.Peer, m.ToHub, m.ID}] = tapRequest{m.Method, m.Tool, m.Tab.Tab, m.Time}
		}
		return false
	}
	m.Failed = f.err != nil || failed(f.result) || failed(f.data)
	key := askedKey{m.Tab.Peer, !m.ToHub, m.ID}
	req, known := r.asked[key]
	if known {
		delete(r.asked, key)
		m.Method, m.Tool, m.Tab.Tab, m.Took = req.method, req.tool, req.tab, m.Time.Sub(req.at)
	}
	return known
}

// failed reports whether what a tool has answered says that it did not succeed.
func failed(result json.RawMessage) bool {
	return string(rawjson.Get(result, "success")) == "false" || string(rawjson.Get(result, "isError")) == "true"
}

// anyID is the id of a request or an answer in any dialect, as it is written.
func (f *members) anyID() string {
	for _, id := range []json.RawMessage{f.id, f.callID, f.requestID} {
		if id != nil && len(id) <= maxID {
			return string(id)
		}
	}
	return ""
}

// short bounds what a peer makes a traceReader remember.
func short(s string) string { return s[:min(len(s), 4*spec.MaxName)] }
