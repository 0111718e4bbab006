package bridge

import (
	"bytes"
	"encoding/json"

	"tabhub/hub/face/httpd"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// fromClient passes whole lines on to the hub, and waits for one if there is none.
func (b *Bridge) fromClient(chunk []byte) (kept bool, err error) {
	b.mu.Lock()
	for b.conn == nil && b.err == nil {
		b.waiting, b.wanted = chunk, true
		b.changed.Broadcast()
		b.changed.Wait()
	}
	b.waiting = nil
	if b.err != nil {
		b.mu.Unlock()
		return false, b.err
	}
	lines(chunk, b.session.fromClient)
	conn := b.conn
	b.mu.Unlock()
	// If this fails the hub side sees it too, and settles what was just noted.
	conn.Write(chunk)
	return false, nil
}

// fromClient takes note of a line that is about to be sent to a hub.
func (s *session) fromClient(line []byte) {
	note := s.fromClient
	if !s.batches {
		note = func([]byte) {} // the hub refuses the batch as a whole
	}
	if elements(line, note) {
		return
	}
	m := parseMessage(line)
	switch {
	case m.method == nil:
	case m.id != nil:
		s.seq++
		r := &request{seq: s.seq, id: string(m.id), key: idKey(m.id), line: bytes.Clone(bytes.TrimRight(line, "\r\n")), sends: 1}
		r.method = intern(m.method)
		s.pending[r.key] = r
	case string(m.method) == methodInitialized:
		s.initialized = bytes.Clone(line)
	case string(m.method) == methodCancelled:
		// It will not be answered.
		if rawjson.Valid(line, spec.MaxDepth) == nil {
			delete(s.pending, idKey(rawjson.Get(line, "params", "requestId")))
		}
	}
}

// intern spares the most frequent method its copy.
func intern(method []byte) string {
	if string(method) == methodCall {
		return methodCall
	}
	return string(method)
}

// fromHub passes whole lines on to the client.
func (b *Bridge) fromHub(chunk []byte) (kept bool, err error) {
	b.mu.Lock()
	from, at := 0, 0
	var spans [][]byte // of chunk, for the client
	lines(chunk, func(line []byte) {
		forward, k := b.session.fromHub(line)
		kept = kept || k
		if forward && b.isFarewell(line) {
			forward = false
		}
		at += len(line)
		if !forward {
			spans = append(spans, chunk[from:at-len(line)])
			from = at
		}
	})
	owed := b.session.owed
	b.session.owed = nil
	b.mu.Unlock()
	for _, span := range append(spans, chunk[from:], owed) {
		if err := b.write(span); err != nil {
			return kept, err
		}
	}
	return kept, nil
}

func (b *Bridge) isFarewell(line []byte) bool {
	m := parseMessage(line)
	if m.id != nil || string(m.method) != httpd.FarewellMethod {
		return false
	}
	var msg struct{ Params httpd.Farewell }
	if json.Unmarshal(line, &msg) == nil {
		b.farewell = msg.Params
	}
	return true
}

func (b *Bridge) write(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	if _, err := b.o.Out.Write(p); err != nil {
		return &outError{err}
	}
	return nil
}

// fromHub takes note of a line of the hub and reports whether it is for the client.
// kept says that a part of the line is still referred to.
func (s *session) fromHub(line []byte) (forward, kept bool) {
	if elements(line, func(e []byte) {
		_, k := s.fromHub(e)
		kept = kept || k
	}) {
		return true, kept
	}
	m := parseMessage(line)
	switch {
	case m.response && m.id != nil:
		r := s.find(m.id)
		if r == nil && isReplay(m.id) {
			s.restored = true // the first answer is that of initialize
			if uri, ok := s.replayed[string(m.id)]; ok {
				// The client is notified of changes from here on, but may have missed earlier ones.
				s.owed = append(s.owed, updated(uri, "")...)
				delete(s.replayed, string(m.id))
			}
			return false, false
		}
		if r == nil {
			return true, false
		}
		if r.lasts && rawjson.Valid(line, spec.MaxDepth) == nil && rawjson.Get(line, "result") != nil {
			return false, false // the hub ends; for the client the next one goes on
		}
		delete(s.pending, r.key)
		return true, s.answered(r, line)
	case string(m.method) == methodAcked && rawjson.Valid(line, spec.MaxDepth) == nil:
		id := rawjson.Get(line, "params", "_meta", "io.modelcontextprotocol/subscriptionId")
		if r := s.find(id); r != nil {
			r.lasts = string(rawjson.Get(line, "params", "notifications")) != "{}"
			if r.again {
				r.again = false
				for uri := range rawjson.Elements(rawjson.Get(line, "params", "notifications", "resourceSubscriptions")) {
					s.owed = append(s.owed, updated(string(uri), r.id)...)
				}
				return false, false
			}
			r.acked = true
		}
	}
	return true, false
}

// find returns the open request of an id, nil if there is none.
func (s *session) find(id []byte) *request {
	if r := s.pending[string(id)]; r != nil {
		return r
	}
	return s.pending[idKey(id)]
}

// answered keeps what a request has changed for good.
func (s *session) answered(r *request, line []byte) (kept bool) {
	switch r.method {
	case methodCall:
	case methodInitialize:
		s.initialize = r.line
		s.batches = rawjson.Valid(line, spec.MaxDepth) == nil && string(rawjson.Get(line, "result", "protocolVersion")) == `"2025-03-26"`
	case methodListTools:
		s.listed[r.method] = true
		s.tools = line
		return true
	case methodSetLevel:
		s.level = r.line
	case methodSubscribe, methodUnsubscribe:
		if rawjson.Valid(r.line, spec.MaxDepth) != nil {
			return false
		}
		uri := string(rawjson.Get(r.line, "params", "uri"))
		if r.method == methodSubscribe {
			s.subscriptions[uri] = r.line
		} else {
			delete(s.subscriptions, uri)
		}
	default:
		s.listed[r.method] = true
	}
	return false
}
