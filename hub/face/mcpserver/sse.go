package mcpserver

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"

	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/telemetry"
	"tabhub/spec"
)

// SSE returns the handler of GET /sse (spec/PROTOCOL.md, "MCP over SSE"): the
// response is the session. Its first event says where to POST messages.
func (s *Server) SSE() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Allow", "GET")
			httpError(w, http.StatusMethodNotAllowed, jsonrpc.InvalidRequest("use GET; messages go where the endpoint event says"))
			return
		}
		if !s.streams.Enter() {
			httpError(w, http.StatusServiceUnavailable, jsonrpc.InvalidRequest(methods.ErrClosing.Error()))
			return
		}
		defer s.streams.Leave()
		ses := s.newWebSession(s.methods.NewSession(s.ctx, methods.IdentityOf(r.Context())))
		ses.ID, ses.Transport, ses.users = rand.Text(), telemetry.SSE, 1 // in use for as long as the response lasts
		if !s.sessions.add(ses) {
			ses.end(methods.ErrGone)
			httpError(w, http.StatusServiceUnavailable, jsonrpc.InvalidRequest("too many sessions"))
			return
		}
		st := s.newEventStream(w, r, ses.Notices, func(*eventStream, error) {})
		ses.Connect(st.out)
		st.out.Put(jsonrpc.Frame{Head: []byte("event: endpoint\ndata: " + s.endpoint(r) + "?sessionId=" + ses.ID + tokenOf(r) + browsersOf(ses) + "\n\n"), Raw: true})
		st.run()
		s.sessions.remove(ses)
		ses.FinishCalls(flushAtEnd)
		ses.end(methods.ErrGone)
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
func browsersOf(ses *webSession) string {
	if ses.Identity.Bound == nil {
		return ""
	}
	return "&browser=" + url.QueryEscape(strings.Join(ses.Identity.Bound, ","))
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
			httpError(w, http.StatusMethodNotAllowed, jsonrpc.InvalidRequest("use POST"))
			return
		}
		id := r.URL.Query().Get("sessionId")
		if id == "" {
			httpError(w, http.StatusBadRequest, jsonrpc.InvalidParams("sessionId is missing: use the URL of the endpoint event of GET /sse"))
			return
		}
		ses := s.sessions.get(id, methods.IdentityOf(r.Context()), true)
		if ses == nil {
			httpError(w, http.StatusNotFound, jsonrpc.InvalidParams("the session is unknown or has ended: open GET /sse again"))
			return
		}
		defer s.sessions.release(ses)
		if b, ok := s.readBody(w, r); ok {
			s.message(w, ses, b)
		}
	})
}

func (s *Server) message(w http.ResponseWriter, ses *webSession, b []byte) {
	out := ses.Connection()
	if out == nil {
		httpError(w, http.StatusNotFound, jsonrpc.InvalidParams("the session has ended: open GET /sse again"))
		return
	}
	if out.Full() {
		w.Header().Set("Retry-After", "1")
		httpError(w, http.StatusTooManyRequests, &jsonrpc.Error{Code: spec.CodeInternal, Message: "answers wait to be read on the event stream: read them first"})
		return
	}
	if m, e := ses.Receive(out, b, false); e != nil {
		e.Status = http.StatusBadRequest
		writeJSON(w, s.opts.WriteLimit, jsonrpc.Failure(m.ID, e))
		return
	}
	w.WriteHeader(http.StatusAccepted)
}
