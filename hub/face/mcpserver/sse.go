package mcpserver

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"

	"tabhub/hub/telemetry"
	"tabhub/spec"
)

// SSE returns the handler of GET /sse (spec/docs/RULES.md, "MCP over SSE"): the
// response is the session. Its first event says where to POST messages.
func (s *Server) SSE() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Allow", "GET")
			httpError(w, http.StatusMethodNotAllowed, invalidRequest("use GET; messages go where the endpoint event says"))
			return
		}
		if !s.streams.enter() {
			httpError(w, http.StatusServiceUnavailable, invalidRequest(ErrClosing.Error()))
			return
		}
		defer s.streams.leave()
		ses := s.newSession(s.ctx, identityOf(r.Context()))
		ses.id, ses.transport, ses.users = rand.Text(), telemetry.SSE, 1 // in use for as long as the response lasts
		if !s.sessions.add(ses) {
			ses.end(errGone)
			httpError(w, http.StatusServiceUnavailable, invalidRequest("too many sessions"))
			return
		}
		st := s.newEventStream(w, r, ses.notices, func(*eventStream, error) {})
		ses.mu.Lock()
		ses.out = st.out
		ses.mu.Unlock()
		st.out.put(frame{head: []byte("event: endpoint\ndata: " + s.endpoint(r) + "?sessionId=" + ses.id + tokenOf(r) + browsersOf(ses) + "\n\n"), raw: true})
		st.run()
		s.sessions.remove(ses)
		ses.finishCalls(flushAtEnd)
		ses.end(errGone)
		st.finish()
	})
}

// endpoint returns the absolute URL of the message endpoint, as the client of r
// reaches it.
func (s *Server) endpoint(r *http.Request) string {
	if s.opts.PublicURL != "" {
		return strings.TrimRight(s.opts.PublicURL, "/") + "/message"
	}
	u := url.URL{Scheme: "http", Host: r.Host, Path: "/message"}
	if r.TLS != nil {
		u.Scheme = "https"
	}
	if s.opts.BehindProxy {
		if p := strings.ToLower(firstOf(r.Header.Get("X-Forwarded-Proto"))); p == "http" || p == "https" {
			u.Scheme = p
		}
		if h := firstOf(r.Header.Get("X-Forwarded-Host")); h != "" {
			u.Host = h
		}
	}
	return u.String()
}

// tokenOf returns what a client adds to the endpoint that has shown its credential in
// the address of the stream. Most such clients know no other way: they post where they
// are told to, without a header.
func tokenOf(r *http.Request) string {
	token := r.URL.Query().Get("token")
	if token == "" || r.Header.Get("Authorization") != "" {
		return ""
	}
	return "&token=" + url.QueryEscape(token)
}

// browsersOf returns what a client adds to the endpoint whose stream is for some browsers alone.
func browsersOf(ses *session) string {
	if ses.identity.bound == nil {
		return ""
	}
	return "&browser=" + url.QueryEscape(strings.Join(ses.identity.bound, ","))
}

// firstOf returns the first of a header's comma-separated values: the outermost proxy's.
func firstOf(v string) string {
	v, _, _ = strings.Cut(v, ",")
	return strings.TrimSpace(v)
}

// Message returns the handler of POST /message. It answers 202; the answer to the
// message comes on the event stream of its session.
func (s *Server) Message() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", "POST")
			httpError(w, http.StatusMethodNotAllowed, invalidRequest("use POST"))
			return
		}
		id := r.URL.Query().Get("sessionId")
		if id == "" {
			httpError(w, http.StatusBadRequest, invalidParams("sessionId is missing: use the URL of the endpoint event of GET /sse"))
			return
		}
		ses := s.sessions.get(id, identityOf(r.Context()), true)
		if ses == nil {
			httpError(w, http.StatusNotFound, invalidParams("the session is unknown or has ended: open GET /sse again"))
			return
		}
		defer s.sessions.release(ses)
		if b, ok := s.readBody(w, r); ok {
			s.message(w, ses, b)
		}
	})
}

func (s *Server) message(w http.ResponseWriter, ses *session, b []byte) {
	ses.mu.Lock()
	out := ses.out
	ses.mu.Unlock()
	if out == nil {
		httpError(w, http.StatusNotFound, invalidParams("the session has ended: open GET /sse again"))
		return
	}
	if out.full() {
		w.Header().Set("Retry-After", "1")
		httpError(w, http.StatusTooManyRequests, &rpcError{code: spec.CodeInternal, message: "answers wait to be read on the event stream: read them first"})
		return
	}
	if firstByte(b) == '[' {
		if ses.calls.enter() {
			ses.spawn(out, s.batch(ses, out, nil, b))
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	m, e := parseMessage(b)
	if e != nil {
		writeJSON(w, s.opts.WriteLimit, http.StatusBadRequest, errorFrame(m.id, e))
		return
	}
	if rq := s.accept(ses, out, m); rq != nil && ses.calls.enter() {
		rq.begin()
		ses.spawn(out, rq.answer)
	}
	w.WriteHeader(http.StatusAccepted)
}
