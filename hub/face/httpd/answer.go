package httpd

import (
	"errors"
	"net/http"
	"strings"

	"tabhub/hub/face/admin"
	"tabhub/hub/face/endpoint"
)

var errNoPath = &endpoint.Error{Status: http.StatusNotFound, Text: "there is nothing at this path"}

// wrongMethod refuses a method that no row of the request's path is for.
func wrongMethod(r *endpoint.Request, p *pass) error {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		return admin.NotFound(r)
	}
	if only := p.route.method; only != http.MethodGet {
		r.W.Header().Set("Allow", only)
		return &endpoint.Error{Status: http.StatusMethodNotAllowed, Text: r.URL.Path + " takes " + only}
	}
	r.W.Header().Set("Allow", "GET, HEAD")
	return &endpoint.Error{Status: http.StatusMethodNotAllowed, Text: "this page can only be read; MCP clients use /mcp"}
}

// answerError answers an error, unless nobody reads the answer any more.
func (s *Server) answerError(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		status, body := endpoint.Report(s.log, r, err)
		endpoint.WriteJSON(w, status, body)
	}
}

// refuse answers what the guard did not let through. The request's query and headers may
// hold a token and are not logged.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	no, ok := errors.AsType[*endpoint.Error](err)
	if !ok {
		no = &endpoint.Error{Status: http.StatusForbidden, Text: err.Error()}
	}
	s.recordRefusal(r, no)
	switch no.Status {
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusUnauthorized:
		challenge, hint := s.challenge(r)
		w.Header().Set("WWW-Authenticate", challenge)
		no = &endpoint.Error{Status: no.Status, Text: no.Text + hint}
	}
	w.Header().Set("Connection", "close")
	if wantsPage(r) {
		writeRefusal(w, no)
		return
	}
	if path := r.URL.Path; no.Status == http.StatusUnauthorized && (path == "/sse" || path == "/message") {
		// As Moonsurf says it, whose clients may look for that.
		const said = "Authentication required"
		endpoint.WriteJSON(w, no.Status, map[string]string{"error": said, "hint": strings.TrimPrefix(no.Text, said+": ")})
		return
	}
	endpoint.WriteError(w, no.Status, no.Text)
}
