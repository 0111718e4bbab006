package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/face/mcpserver/methods"
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
		case methods.IsUnknown(version):
			httpError(w, http.StatusBadRequest, methods.UnsupportedVersion(version))
		case mcp.IsModernProtocol(version):
			w.Header().Set("Allow", "POST")
			httpError(w, http.StatusMethodNotAllowed, jsonrpc.InvalidRequest("protocol version 2026-07-28 has POST only: notifications of changes come on "+methods.MethodListen))
		case r.Method == http.MethodGet:
			s.get(w, r)
		case r.Method == http.MethodDelete:
			s.delete(w, r)
		default:
			w.Header().Set("Allow", "GET, POST, DELETE")
			httpError(w, http.StatusMethodNotAllowed, jsonrpc.InvalidRequest("use POST"))
		}
	})
}

// httpError answers with a JSON-RPC error that belongs to no request.
func httpError(w http.ResponseWriter, status int, e *jsonrpc.Error) {
	f := jsonrpc.Failure(nil, e)
	f.Status = status
	writeJSON(w, defaultWriteLimit, f)
}

// largeAnswer is the size from which a client is watched while it reads an answer. What is smaller
// waits in the kernel's buffers, and a deadline would cost more than the answer.
const largeAnswer = 64 << 10

func writeJSON(w http.ResponseWriter, limit time.Duration, f jsonrpc.Frame) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(f.Size()))
	w.WriteHeader(cmp.Or(f.Status, http.StatusOK))
	write := func(p []byte) error { _, err := w.Write(p); return err }
	if f.Size() >= largeAnswer {
		to := newTimedWriter(w, limit)
		defer to.rest()
		write = to.writeAll
	}
	for _, part := range [...][]byte{f.Head, f.Body, f.Tail} {
		if err := write(part); err != nil {
			return err
		}
	}
	if f.To == nil {
		return nil
	}
	return http.NewResponseController(w).Flush() // which says whether it could be written
}

// readBody returns the body of a POST, or answers what is wrong with it.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		httpError(w, http.StatusUnsupportedMediaType, jsonrpc.InvalidRequest("Content-Type must be application/json"))
		return nil, false
	}
	// Memory for what is announced is given as it comes in.
	buf := bytes.NewBuffer(make([]byte, 0, min(max(r.ContentLength, 0), jsonrpc.LineBuffer)+bytes.MinRead))
	_, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, s.opts.MaxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		httpError(w, http.StatusRequestEntityTooLarge, jsonrpc.InvalidRequest(tooBig(s.opts.MaxBody)))
		return nil, false
	}
	if err != nil {
		httpError(w, http.StatusBadRequest, jsonrpc.ParseError(err))
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
		httpError(w, http.StatusNotAcceptable, jsonrpc.InvalidRequest("accept application/json and text/event-stream"))
		return
	}
	b, ok := s.readBody(w, r)
	if !ok {
		return
	}
	isBatch := jsonrpc.FirstByte(b) == '['
	var m jsonrpc.Message
	if !isBatch {
		var e *jsonrpc.Error
		if m, e = jsonrpc.Parse(b); e != nil {
			writeJSON(w, s.opts.WriteLimit, jsonrpc.Failure(m.ID, e))
			return
		}
	}
	x := newExchange(s, w, r, object, stream)
	defer x.end() // no write may outlive the handler
	var out *jsonrpc.Outbox
	if stream {
		out = x.out
	}
	if version := r.Header.Get(mcp.HeaderProtocolVersion); !isBatch && (mcp.IsModernProtocol(version) || modernClaim(&m)) {
		s.postModern(x, r, out, m)
		return
	} else if methods.IsUnknown(version) {
		writeJSON(w, s.opts.WriteLimit, jsonrpc.Failure(m.ID, methods.UnsupportedVersion(version)))
		return
	}
	s.postLegacy(x, r, out, m, b)
}

// postLegacy serves a message of a session, or the initialize that begins one. b is
// the body, of which m was parsed unless it is a batch.
func (s *Server) postLegacy(x *exchange, r *http.Request, out *jsonrpc.Outbox, m jsonrpc.Message, b []byte) {
	if m.Method == "initialize" && m.ID != nil {
		ses := s.newWebSession(s.methods.NewSession(s.ctx, methods.IdentityOf(r.Context())))
		ses.ID = rand.Text()
		if f, ok := methods.NewRequest(ses.Session, out, m).Answer(); ok {
			if ses.AgreedVersion() != "" {
				if !s.sessions.add(ses) {
					ses.end(methods.ErrGone)
					e := jsonrpc.InvalidRequest("too many sessions")
					e.Status = http.StatusServiceUnavailable
					writeJSON(x.w, s.opts.WriteLimit, jsonrpc.Failure(m.ID, e))
					return
				}
				ses.saveAndWait()
				x.w.Header().Set(mcp.HeaderSessionID, ses.ID)
			}
			f.Status = 0
			x.finish(f)
		}
		return
	}
	ses, release := s.session(x.w, r)
	if ses == nil {
		return
	}
	defer release()
	x.ses = ses
	if m.Method == "" && !m.Response {
		x.answerWith(ses.Batch(out, x.ctx.Done(), b))
		return
	}
	rq := ses.Accept(out, m)
	if rq == nil {
		x.w.WriteHeader(http.StatusAccepted)
		return
	}
	s.respond(x, rq)
}

// respond answers rq on x.
func (s *Server) respond(x *exchange, rq *methods.Request) {
	rq.Gone = x.ctx.Done()
	if rq.Waits() {
		rq.Begin()
		defer x.keepAlive().stop()
	}
	f, ok := rq.Answer()
	if !ok {
		x.silent()
		return
	}
	if !rq.Modern && rq.Wrong == nil {
		f.Status = 0
	}
	x.finish(f)
}

// session returns the session that a request names, in use until release is called,
// or answers what is wrong with it.
func (s *Server) session(w http.ResponseWriter, r *http.Request) (ses *webSession, release func()) {
	id := r.Header.Get(mcp.HeaderSessionID)
	if id == "" {
		httpError(w, http.StatusBadRequest, jsonrpc.InvalidRequest(mcp.HeaderSessionID+" header is missing: send initialize first"))
		return nil, nil
	}
	if ses = s.sessions.get(id, methods.IdentityOf(r.Context()), false); ses == nil {
		httpError(w, http.StatusNotFound, jsonrpc.InvalidRequest("the session is unknown or has ended: send initialize again"))
		return nil, nil
	}
	return ses, func() { s.sessions.release(ses) }
}

// maxGets is how many GET streams a session may have; the oldest makes room. More
// than one is there when a client has lost one and the hub has not noticed.
const maxGets = 4

// get serves the stream for a session's notifications. The newest of
// several is used. Without a session there is none: 405, which is how clients that look
// for MCP over SSE here, or work without sessions, learn that POST is what is served.
func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get(mcp.HeaderSessionID) == "" {
		w.Header().Set("Allow", "POST")
		httpError(w, http.StatusMethodNotAllowed, jsonrpc.InvalidRequest("the stream of GET is a session's: send initialize by POST first, and "+mcp.HeaderSessionID+" with each request"))
		return
	}
	if _, stream := accepts(r); !stream {
		httpError(w, http.StatusNotAcceptable, jsonrpc.InvalidRequest("accept text/event-stream"))
		return
	}
	ses, release := s.session(w, r)
	if ses == nil {
		return
	}
	defer release()
	if !s.streams.Enter() {
		httpError(w, http.StatusServiceUnavailable, jsonrpc.InvalidRequest(methods.ErrClosing.Error()))
		return
	}
	defer s.streams.Leave()
	s.events(w, r, ses)
}

// events is a stream of GET: the one of the event that the client has had last, else a new one on
// which it is notified of changes.
func (s *Server) events(w http.ResponseWriter, r *http.Request, ses *webSession) {
	log, n := s.replays.find(ses, r.Header.Get("Last-Event-ID"))
	if log != nil && log.ended(n) {
		w.WriteHeader(http.StatusNoContent) // by which clients of event streams know that nothing follows
		return
	}
	notices := ses.Notices
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
		ses.NotifyAll()
	}
	if log.changes {
		ses.attach(st)
		defer ses.detach(st)
	}
	st.out.Put(jsonrpc.Comment) // the headers go with it: a client that has read them misses no change
	st.run()
	st.finish()
	log.leave(st.events)
}

// delete ends a session.
func (s *Server) delete(w http.ResponseWriter, r *http.Request) {
	ses, release := s.session(w, r)
	if ses == nil {
		return
	}
	defer release()
	s.sessions.remove(ses)
	ses.end(methods.ErrCancelled)
	w.WriteHeader(http.StatusNoContent)
}

// modernClaim reports whether a message says that it is of an era without sessions,
// be it one that is not served.
func modernClaim(m *jsonrpc.Message) bool {
	raw := m.Meta(methods.MetaVersion)
	if raw == nil {
		return false
	}
	var v string
	return json.Unmarshal(raw, &v) != nil || mcp.IsModernProtocol(v) || !mcp.IsValidProtocolVersion(v)
}

// postModern serves a message of revision 2026-07-28: each request stands alone and
// lasts as long as its response is listened to.
func (s *Server) postModern(x *exchange, r *http.Request, out *jsonrpc.Outbox, m jsonrpc.Message) {
	switch {
	case m.Response:
		x.finish(jsonrpc.Failure(nil, jsonrpc.InvalidRequest("a client sends no responses in protocol version 2026-07-28")))
		return
	case m.ID == nil && methods.IsUnknown(r.Header.Get(mcp.HeaderProtocolVersion)):
		x.finish(jsonrpc.Failure(nil, methods.UnsupportedVersion(r.Header.Get(mcp.HeaderProtocolVersion))))
		return
	case m.ID == nil: // there are none in this era
		x.w.WriteHeader(http.StatusAccepted)
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(methods.ErrClosing) })()
	ses := s.methods.Stateless(ctx, methods.IdentityOf(ctx))
	defer s.methods.ReleaseStateless(ses)
	ses.Connect(out)
	x.out.Notices = ses.Notices
	rq := methods.NewRequest(ses, out, m)
	rq.TakeHeaders(r.Header)
	s.respond(x, rq)
}
