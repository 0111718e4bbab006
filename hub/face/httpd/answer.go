package httpd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"tabhub/hub"
	"tabhub/hub/cluster"
	"tabhub/hub/tenant"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// refusal is an error of whoever asks, who is to see it.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

func badRequest(format string, args ...any) error {
	return &refusal{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

func unauthorized(format string, args ...any) error {
	return &refusal{http.StatusUnauthorized, fmt.Sprintf(format, args...)}
}

func forbidden(format string, args ...any) error {
	return &refusal{http.StatusForbidden, fmt.Sprintf(format, args...)}
}

var errNoPath = &refusal{http.StatusNotFound, "there is nothing at this path"}

// noMethod is served for what the admin API does not have.
func noMethod(_ *Server, r *request) error {
	return &refusal{http.StatusNotFound, "the admin API has no " + r.Method + " " + r.URL.Path}
}

// wrongMethod refuses a method that no row of the request's path is for.
func wrongMethod(r *request) error {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		return noMethod(nil, r)
	}
	if only := r.pass.route.method; only != http.MethodGet {
		r.w.Header().Set("Allow", only)
		return &refusal{http.StatusMethodNotAllowed, r.URL.Path + " takes " + only}
	}
	r.w.Header().Set("Allow", "GET, HEAD")
	return &refusal{http.StatusMethodNotAllowed, "this page can only be read; MCP clients use /mcp"}
}

// answerError answers an error, unless nobody reads the answer any more.
func (s *Server) answerError(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		status, body := s.errorReport(r, err)
		writeJSON(w, status, body)
	}
}

// ErrorReport is the body of an answer that is an error.
type ErrorReport struct {
	Error   string   `json:"error"`
	Nearest []string `json:"nearest,omitzero"` // for a name that is nobody's
}

// errorReport is the one table from error to HTTP status and body. The text of an error of
// this process stays in the log: it may hold paths.
func (s *Server) errorReport(r *http.Request, err error) (status int, body ErrorReport) {
	if no, ok := errors.AsType[*refusal](err); ok {
		return no.status, ErrorReport{Error: no.text}
	}
	if many, ok := errors.AsType[*tenant.LimitError](err); ok {
		return http.StatusTooManyRequests, ErrorReport{Error: many.Error()}
	}
	if unknown, ok := errors.AsType[*hub.UnknownError](err); ok {
		return http.StatusNotFound, ErrorReport{Error: unknown.Error(), Nearest: nonNil(unknown.Nearest)}
	}
	_, failed := errors.AsType[*hub.Failure](err)
	if _, refused := errors.AsType[*spec.Error](err); failed || refused {
		return http.StatusUnprocessableEntity, ErrorReport{Error: err.Error()}
	}
	if errors.Is(err, storage.ErrStaleEpoch) || errors.Is(err, tabtransport.ErrGoingAway) {
		return http.StatusServiceUnavailable, ErrorReport{Error: "another hub serves this user now, and nothing was changed; try again"}
	}
	if errors.Is(err, cluster.ErrSilent) {
		s.log.Warn("request failed", "path", r.URL.Path, "err", err)
		return http.StatusServiceUnavailable, ErrorReport{Error: "the nodes' store does not answer, and nothing was changed; try again in a moment"}
	}
	if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge, ErrorReport{Error: fmt.Sprintf("the body is larger than %d bytes", big.Limit)}
	}
	s.log.Error("request failed", "path", r.URL.Path, "err", err)
	return http.StatusInternalServerError, ErrorReport{Error: "the hub could not do this; its log says why"}
}

// refuse answers what the guard did not let through. The request's query and headers may
// hold a token and are not logged.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	no, ok := errors.AsType[*refusal](err)
	if !ok {
		no = &refusal{http.StatusForbidden, err.Error()}
	}
	s.recordRefusal(r, no)
	switch no.status {
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusUnauthorized:
		challenge, hint := s.challenge(r)
		w.Header().Set("WWW-Authenticate", challenge)
		no = &refusal{no.status, no.text + hint}
	}
	w.Header().Set("Connection", "close")
	if wantsPage(r) {
		writeRefusal(w, no)
		return
	}
	if path := r.URL.Path; no.status == http.StatusUnauthorized && (path == "/sse" || path == "/message") {
		// As Moonsurf says it, whose clients may look for that.
		const said = "Authentication required"
		writeJSON(w, no.status, map[string]string{"error": said, "hint": strings.TrimPrefix(no.text, said+": ")})
		return
	}
	writeError(w, no.status, no.text)
}

// answer answers v as JSON, with status 200.
func (r *request) answer(v any) error {
	writeJSON(r.w, http.StatusOK, v)
	return nil
}

// writeError answers {"error": text}.
func writeError(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, map[string]string{"error": text})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":"the answer could not be written as JSON"}`)
	}
	jsonHeaders(w.Header())
	w.WriteHeader(status)
	newTimedWriter(w).Write(append(b, '\n'))
}

// timedWriter writes an answer to who must go on reading it: else what may be many MiB stayed.
type timedWriter struct {
	w  io.Writer
	rc *http.ResponseController
}

func newTimedWriter(w http.ResponseWriter) timedWriter {
	return timedWriter{w, http.NewResponseController(w)}
}

// Write gives the reader writeTime for each piece of b.
func (t timedWriter) Write(b []byte) (written int, err error) {
	const piece = 64 << 10
	defer t.rc.SetWriteDeadline(time.Time{}) // the connection may serve other requests afterwards
	for part := range slices.Chunk(b, piece) {
		_ = t.rc.SetWriteDeadline(time.Now().Add(writeTime)) // a writer without one is a test's
		n, err := t.w.Write(part)
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

func jsonHeaders(h http.Header) {
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
}

// nonNil makes an empty list [] in JSON.
func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
