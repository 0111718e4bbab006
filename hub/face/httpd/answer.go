package httpd

import (
	"errors"
	"net/http"
	"strings"

	"tabhub/hub/face/admin"
	"tabhub/hub/face/endpoint"
)

var errNoPath = &endpoint.Error{Status: http.StatusNotFound, Text: "there is nothing at this path"}

// wrongMethod refuses a method for which the request's path has no row.
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

// answerError answers an error, unless the client has gone.
func (s *Server) answerError(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		status, body := endpoint.Report(s.log, r, err)
		endpoint.WriteJSON(w, status, body)
	}
}

// refuse answers a request that the guard has refused. The request's query and headers may hold a token
// and are not logged.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	refused, ok := errors.AsType[*endpoint.Error](err)
	if !ok {
		refused = &endpoint.Error{Status: http.StatusForbidden, Text: err.Error()}
	}
	s.recordRefusal(r, refused)
	switch refused.Status {
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusUnauthorized:
		challenge, hint := s.authorization.challenge(r)
		w.Header().Set("WWW-Authenticate", challenge)
		refused = &endpoint.Error{Status: refused.Status, Text: refused.Text + hint}
	}
	w.Header().Set("Connection", "close")
	if wantsPage(r) {
		writeRefusal(w, refused)
		return
	}
	if path := r.URL.Path; refused.Status == http.StatusUnauthorized && (path == "/sse" || path == "/message") {
		// These are the words of Moonsurf, which its clients may look for.
		const said = "Authentication required"
		endpoint.WriteJSON(w, refused.Status, map[string]string{"error": said, "hint": strings.TrimPrefix(refused.Text, said+": ")})
		return
	}
	endpoint.WriteError(w, refused.Status, refused.Text)
}
