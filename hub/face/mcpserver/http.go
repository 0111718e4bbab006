package mcpserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// MCP returns the handler of the Streamable HTTP endpoint, of all revisions: POST,
// and for sessions before 2026-07-28 also GET and DELETE.
//
// Before that revision a client that leaves does not cancel its requests; from then
// on it does.
func (s *Server) MCP() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		version := r.Header.Get(mcp.HeaderProtocolVersion)
		switch {
		case r.Method == http.MethodPost:
			s.post(w, r)
		case isUnknown(version):
			httpError(w, http.StatusBadRequest, unsupportedVersion(version))
		case mcp.IsModernProtocol(version):
			w.Header().Set("Allow", "POST")
			httpError(w, http.StatusMethodNotAllowed, invalidRequest("protocol version 2026-07-28 has POST only: changes are told on "+methodListen))
		case r.Method == http.MethodGet:
			s.get(w, r)
		case r.Method == http.MethodDelete:
			s.delete(w, r)
		default:
			w.Header().Set("Allow", "GET, POST, DELETE")
			httpError(w, http.StatusMethodNotAllowed, invalidRequest("use POST"))
		}
	})
}

// httpError answers with a JSON-RPC error that belongs to no request.
func httpError(w http.ResponseWriter, status int, e *rpcError) {
	writeJSON(w, defaultWriteLimit, status, errorFrame(nil, e))
}

// largeAnswer is the size from which a client is watched while it reads an answer. What is smaller
// waits in the kernel's buffers, and a deadline would cost more than the answer.
const largeAnswer = 64 << 10

func writeJSON(w http.ResponseWriter, limit time.Duration, status int, f frame) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(f.size()))
	w.WriteHeader(status)
	write := func(p []byte) error { _, err := w.Write(p); return err }
	if f.size() >= largeAnswer {
		to := newTimedWriter(w, limit)
		defer to.rest()
		write = to.writeAll
	}
	for _, part := range [...][]byte{f.head, f.body, f.tail} {
		if err := write(part); err != nil {
			return err
		}
	}
	if f.of == nil {
		return nil
	}
	return http.NewResponseController(w).Flush() // which says whether it could be written
}

// readBody returns the body of a POST, or answers what is wrong with it.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		httpError(w, http.StatusUnsupportedMediaType, invalidRequest("Content-Type must be application/json"))
		return nil, false
	}
	// Memory for what is announced is given as it comes in.
	buf := bytes.NewBuffer(make([]byte, 0, min(max(r.ContentLength, 0), lineBuffer)+bytes.MinRead))
	_, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, s.opts.MaxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		httpError(w, http.StatusRequestEntityTooLarge, invalidRequest(tooBig(s.opts.MaxBody)))
		return nil, false
	}
	if err != nil {
		httpError(w, http.StatusBadRequest, parseError(err))
		return nil, false
	}
	return buf.Bytes(), true
}

// accepts says which of the two forms of an answer a client takes.
func accepts(r *http.Request) (object, stream bool) {
	values := r.Header.Values("Accept")
	if len(values) == 0 {
		return true, true
	}
	for _, v := range values {
		for one := range strings.SplitSeq(v, ",") {
			t, _, _ := mime.ParseMediaType(one)
			switch t {
			case "application/json", "application/*":
				object = true
			case "text/event-stream", "text/*":
				stream = true
			case "*/*":
				return true, true
			}
		}
	}
	return object, stream
}

func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	object, stream := accepts(r)
	if !object && !stream {
		httpError(w, http.StatusNotAcceptable, invalidRequest("accept application/json and text/event-stream"))
		return
	}
	b, ok := s.readBody(w, r)
	if !ok {
		return
	}
	isBatch := firstByte(b) == '['
	var m message
	if !isBatch {
		var e *rpcError
		if m, e = parseMessage(b); e != nil {
			writeJSON(w, s.opts.WriteLimit, http.StatusBadRequest, errorFrame(m.id, e))
			return
		}
	}
	x := newExchange(s, w, r, object, stream)
	defer x.end() // no write may outlive the handler
	var out *outbox
	if stream {
		out = x.out
	}
	if version := r.Header.Get(mcp.HeaderProtocolVersion); !isBatch && (mcp.IsModernProtocol(version) || modernClaim(&m)) {
		s.postModern(x, r, out, m)
		return
	} else if isUnknown(version) {
		writeJSON(w, s.opts.WriteLimit, http.StatusBadRequest, errorFrame(m.id, unsupportedVersion(version)))
		return
	}
	s.postLegacy(x, r, out, m, b)
}

// postLegacy serves a message of a session, or the initialize that begins one. b is
// the body, of which m was parsed unless it is a batch.
func (s *Server) postLegacy(x *exchange, r *http.Request, out *outbox, m message, b []byte) {
	if m.method == "initialize" && m.id != nil {
		ses := s.newSession(s.ctx, identityOf(r.Context()))
		ses.id = rand.Text()
		if f, _, ok := s.answer(ses.ctx, newRequest(ses, out, m)); ok {
			if ses.agreedVersion() != "" {
				if !s.sessions.add(ses) {
					ses.end(errGone)
					writeJSON(x.w, s.opts.WriteLimit, http.StatusServiceUnavailable, errorFrame(m.id, invalidRequest("too many sessions")))
					return
				}
				ses.keep()
				x.w.Header().Set(mcp.HeaderSessionID, ses.id)
			}
			x.finish(f, http.StatusOK)
		}
		return
	}
	ses, release := s.session(x.w, r)
	if ses == nil {
		return
	}
	defer release()
	x.ses = ses
	if m.method == "" && !m.response {
		x.answerWith(s.batch(ses, out, x.ctx, b))
		return
	}
	rq := s.accept(ses, out, m)
	if rq == nil {
		x.w.WriteHeader(http.StatusAccepted)
		return
	}
	s.respond(x, ses.ctx, rq)
}

// respond answers rq on x.
func (s *Server) respond(x *exchange, ctx context.Context, rq *request) {
	rq.http = x.ctx
	if rq.waits() {
		rq.begin()
		defer x.keepAlive().stop()
	}
	f, status, ok := s.answer(ctx, rq)
	switch {
	case !ok:
		x.silent()
	case rq.modern || rq.wrong != nil:
		x.finish(f, status)
	default:
		x.finish(f, http.StatusOK)
	}
}

// session returns the session that a request names, in use until release is called,
// or answers what is wrong with it.
func (s *Server) session(w http.ResponseWriter, r *http.Request) (ses *session, release func()) {
	id := r.Header.Get(mcp.HeaderSessionID)
	if id == "" {
		httpError(w, http.StatusBadRequest, invalidRequest(mcp.HeaderSessionID+" header is missing: send initialize first"))
		return nil, nil
	}
	if ses = s.sessions.get(id, identityOf(r.Context()), false); ses == nil {
		httpError(w, http.StatusNotFound, invalidRequest("the session is unknown or has ended: send initialize again"))
		return nil, nil
	}
	return ses, func() { s.sessions.release(ses) }
}

// maxGets is how many GET streams a session may have; the oldest makes room. More
// than one is there when a client has lost one and the hub has not noticed.
const maxGets = 4

// get serves the stream of a session on which it is told of changes. The newest of
// several is used. Without a session there is none: 405, which is how clients that look
// for MCP over SSE here, or work without sessions, learn that POST is what is served.
func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get(mcp.HeaderSessionID) == "" {
		w.Header().Set("Allow", "POST")
		httpError(w, http.StatusMethodNotAllowed, invalidRequest("the stream of GET is a session's: send initialize by POST first, and "+mcp.HeaderSessionID+" with each request"))
		return
	}
	if _, stream := accepts(r); !stream {
		httpError(w, http.StatusNotAcceptable, invalidRequest("accept text/event-stream"))
		return
	}
	ses, release := s.session(w, r)
	if ses == nil {
		return
	}
	defer release()
	if !s.streams.enter() {
		httpError(w, http.StatusServiceUnavailable, invalidRequest(ErrClosing.Error()))
		return
	}
	defer s.streams.leave()
	s.events(w, r, ses)
}

// events is a stream of GET: the one of the event that the client has had last, else a new one on
// which it is told of changes.
func (s *Server) events(w http.ResponseWriter, r *http.Request, ses *session) {
	log, n := s.replays.find(ses, r.Header.Get("Last-Event-ID"))
	if log != nil && log.ended(n) {
		w.WriteHeader(http.StatusNoContent) // by which clients of event streams know that nothing follows
		return
	}
	notices := ses.notices
	if log != nil && !log.changes {
		notices = nil
	}
	st := s.newEventStream(w, r, notices, ses.missed)
	missed := false
	if log != nil {
		st.events.log = log
		missed = !log.take(st.events, n) && log.changes
	} else if log, missed = s.replays.begin(ses, st.events, true); log != nil {
		st.events.log, st.events.prime = log, ses.takesPrimer()
	} else {
		return // the session has ended meanwhile
	}
	if missed {
		ses.retell()
	}
	if log.changes {
		ses.attach(st)
		defer ses.detach(st)
	}
	st.out.put(comment) // the headers go with it: who sees them misses no change
	st.run()
	st.finish()
	log.leave(st.events)
}

// attach makes st the stream on which the session is told of changes.
func (ses *session) attach(st *eventStream) {
	ses.mu.Lock()
	if ses.ended {
		ses.mu.Unlock()
		st.close()
		return
	}
	var oldest *eventStream
	if len(ses.gets) == maxGets {
		oldest = ses.gets[0]
		ses.gets = slices.Delete(ses.gets, 0, 1)
	}
	ses.gets = append(ses.gets, st)
	ses.out = st.out
	ses.mu.Unlock()
	if oldest != nil {
		oldest.close()
	}
	st.out.wake() // what has changed while there was none
}

func (ses *session) detach(st *eventStream) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if i := slices.Index(ses.gets, st); i >= 0 {
		ses.gets = slices.Delete(ses.gets, i, i+1)
	}
	if ses.out == st.out {
		ses.out = nil
		if n := len(ses.gets); n > 0 {
			ses.out = ses.gets[n-1].out
		}
	}
}

// missed is called when a stream of the session broke. What it was told last may not have arrived:
// it is told so on the stream that there is, or on the next one, unless that goes on with this one.
func (ses *session) missed(st *eventStream, err error) {
	if errors.Is(err, errTaken) || !st.events.log.changes {
		return
	}
	ses.mu.Lock()
	out := ses.out
	ses.mu.Unlock()
	if out == nil || out == st.out {
		ses.srv.replays.miss(ses)
		return
	}
	ses.retell()
	out.wake()
}

// retell has the client told that each list may have changed.
func (ses *session) retell() {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	ses.changes.tools, ses.changes.resources, ses.changes.prompts = true, true, true
}

// delete ends a session.
func (s *Server) delete(w http.ResponseWriter, r *http.Request) {
	ses, release := s.session(w, r)
	if ses == nil {
		return
	}
	defer release()
	s.sessions.remove(ses)
	ses.end(errCancelled)
	w.WriteHeader(http.StatusNoContent)
}

// isUnknown reports whether a header names a revision that is not served.
func isUnknown(version string) bool {
	return version != "" && !mcp.IsValidProtocolVersion(version)
}

// modernClaim reports whether a message says that it is of an era without sessions,
// be it one that is not served.
func modernClaim(m *message) bool {
	raw := m.meta(metaVersion)
	if raw == nil {
		return false
	}
	var v string
	return json.Unmarshal(raw, &v) != nil || mcp.IsModernProtocol(v) || !mcp.IsValidProtocolVersion(v)
}
