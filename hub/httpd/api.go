package httpd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/storage"
)

// maxCall is the largest call that the admin API takes: what a tab may be sent.
const maxCall = spec.MaxFrame

// StatusReport is GET /api/status.
type StatusReport struct {
	Info
	User    spec.UserID `json:"user"`    // "": nobody's, only the process is reported
	Clients int         `json:"clients"` // MCP clients that are being served now
	Paired  int         `json:"paired"`  // browsers that have a pairing of the user's
	Hub     hub.Status  `json:"hub"`
}

// ToolReport is one element of GET /api/tools.
type ToolReport struct {
	Name       string          `json:"name"`
	Domain     spec.Domain     `json:"domain,omitempty"` // "" for the hub's own
	Tab        int             `json:"tab,omitempty"`
	Source     string          `json:"source,omitempty"` // the page's own name
	Definition json.RawMessage `json:"definition"`
}

// RejectionReport is one element of GET /api/rejected.
type RejectionReport struct {
	Tab   spec.TabAddr `json:"tab"`
	URL   string       `json:"url"`
	Title string       `json:"title"`
	spec.Rejection
}

// CallRequest is the body of POST /api/call.
type CallRequest struct {
	Name      string          `json:"name" validate:"required"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// UnknownReport is the body of a 404 for a name that is nobody's.
type UnknownReport struct {
	Error   string   `json:"error"`
	Nearest []string `json:"nearest"`
}

// SiteSettings is the body of PUT /api/site, and an element of GET /api/site. A
// member that is left out goes back to its default.
type SiteSettings struct {
	Domain        spec.Domain `json:"domain"`
	Cache         *bool       `json:"cache,omitempty"`
	CallTimeoutMs int64       `json:"callTimeoutMs,omitempty" validate:"min=0,max=600000"` // spec.CallTimeoutMax
}

// adminAPI is the API behind the tabhub command and the dashboard. Each caller sees
// the world of its own user; only the endpoints about the process may have a caller who
// is no user.
func (s *Server) adminAPI() *http.ServeMux {
	mux := http.NewServeMux()
	handle := func(pattern string, f func(w http.ResponseWriter, r *http.Request, world World) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			world, err := s.o.World(r.Context(), passOf(r.Context()).identity.User)
			if err == nil {
				err = f(w, r, world)
			}
			s.answerError(w, r, err)
		})
	}
	process := func(pattern string, f func(w http.ResponseWriter, r *http.Request) error) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.answerError(w, r, f(w, r)) })
	}
	process("GET /api/status", s.getStatus)
	process("POST /api/stop", s.postStop)
	handle("GET /api/tabs", func(w http.ResponseWriter, r *http.Request, world World) error {
		writeJSON(w, http.StatusOK, nonNil(world.Hub.Tabs()))
		return nil
	})
	handle("GET /api/browsers", func(w http.ResponseWriter, r *http.Request, world World) error {
		writeJSON(w, http.StatusOK, nonNil(world.Hub.Browsers()))
		return nil
	})
	handle("GET /api/tools", getTools)
	handle("GET /api/explain", getExplain)
	handle("GET /api/log", getLog)
	handle("GET /api/site", getSite)
	handle("PUT /api/site", putSite)
	handle("GET /api/rejected", getRejected)
	handle("POST /api/call", postCall)
	handle("GET /api/pair", s.getPairings)
	handle("POST /api/pair", s.postPairing)
	handle("DELETE /api/pair", s.deletePairing)
	handle("GET /api/pair/wait", s.awaitPairing)
	handle("POST /api/token", s.postToken)
	mux.HandleFunc("POST /api/signin", s.postSignIn)
	mux.HandleFunc("POST /api/session", s.postSession)
	mux.HandleFunc("DELETE /api/session", s.deleteSession)
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, http.StatusNotFound, "the admin API has no "+r.Method+" "+r.URL.Path)
	})
	return mux
}

// badRequest is an error of the caller.
func badRequest(format string, args ...any) error {
	return &refusal{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// answerError is the one table from error to HTTP status.
func (s *Server) answerError(w http.ResponseWriter, r *http.Request, err error) {
	if err == nil {
		return
	}
	if no, ok := errors.AsType[*refusal](err); ok {
		writeError(w, no.status, no.text)
		return
	}
	if unknown, ok := errors.AsType[*hub.UnknownError](err); ok {
		writeJSON(w, http.StatusNotFound, UnknownReport{Error: unknown.Error(), Nearest: nonNil(unknown.Nearest)})
		return
	}
	if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
		writeError(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", big.Limit))
		return
	}
	s.fail(w, r, err)
}

func (s *Server) getStatus(w http.ResponseWriter, r *http.Request) error {
	p := passOf(r.Context())
	// The request itself is counted as a client.
	report := StatusReport{Info: s.o.Info(), User: p.identity.User, Clients: s.clients.count() - 1}
	if report.User != "" {
		world, err := s.o.World(r.Context(), report.User)
		if err != nil {
			return err
		}
		report.Hub = world.Hub.Status()
		report.Paired = len(s.pairings(r))
	}
	if s.guard.accounts && p.from != fromOwner { // how the process is, and who else uses it, is not for its users
		report.Info, report.Clients = Info{Version: report.Version, Started: report.Started}, 0
	}
	writeJSON(w, http.StatusOK, report)
	return nil
}

func getTools(w http.ResponseWriter, r *http.Request, world World) error {
	out := []ToolReport{}
	for i := range world.Builtin {
		t := &world.Builtin[i]
		out = append(out, ToolReport{Name: t.Name, Definition: t.Definition()})
	}
	for _, it := range world.Hub.List(hub.ListTools).Items {
		out = append(out, ToolReport{Name: it.Name, Domain: it.Domain, Tab: it.Tab, Source: it.Source, Definition: it.JSON})
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

func getExplain(w http.ResponseWriter, r *http.Request, world World) error {
	name := r.URL.Query().Get("name")
	if name == "" {
		return badRequest("the parameter name is missing")
	}
	if builtin.Find(world.Builtin, name) != nil {
		return badRequest("%s is a tool of the hub itself; no tab is chosen for it", name)
	}
	e, err := world.Hub.Explain(name)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, e)
	return nil
}

func getLog(w http.ResponseWriter, r *http.Request, world World) error {
	q := r.URL.Query()
	query := storage.Query{
		Event:  storage.Event(q.Get("event")),
		Domain: spec.Domain(q.Get("domain")),
		Tool:   q.Get("tool"),
	}
	switch query.Event {
	case "", storage.EventCall, storage.EventRegister, storage.EventProxy:
	default:
		return badRequest("event is %q; it may be %q, %q or %q", query.Event, storage.EventCall, storage.EventRegister, storage.EventProxy)
	}
	if v := q.Get("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || n > 10_000 {
			return badRequest("limit is %q; it may be 1 to 10000", v)
		}
		query.Limit = n
	}
	if v := q.Get("since"); v != "" {
		t, err := time.Parse(time.RFC3339, v)
		if err != nil {
			return badRequest("since is %q; write it as %s", v, time.RFC3339)
		}
		query.Since = t
	}
	records, err := world.Hub.Records(r.Context(), query)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, nonNil(records))
	return nil
}

func getSite(w http.ResponseWriter, r *http.Request, world World) error {
	out := []SiteSettings{}
	for _, site := range world.Hub.Sites() {
		out = append(out, SiteSettings{Domain: site.Domain, Cache: site.Cache, CallTimeoutMs: site.CallTimeout.Milliseconds()})
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

func putSite(w http.ResponseWriter, r *http.Request, world World) error {
	var in SiteSettings
	if err := readJSON(w, r, 64<<10, &in); err != nil {
		return err
	}
	if !naming.IsDomain(in.Domain) {
		return badRequest("domain is %.100q; it must be one such as example.com or localhost:5173, as `tabhub tabs` shows it", in.Domain)
	}
	timeout := time.Duration(in.CallTimeoutMs) * time.Millisecond
	if err := world.Hub.SetSite(storage.Site{Domain: in.Domain, Cache: in.Cache, CallTimeout: timeout}); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, in)
	return nil
}

func getRejected(w http.ResponseWriter, r *http.Request, world World) error {
	out := []RejectionReport{}
	for _, tab := range world.Hub.Tabs() {
		for _, no := range tab.Rejected {
			out = append(out, RejectionReport{Tab: tab.Addr, URL: tab.URL, Title: tab.Title, Rejection: no})
		}
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}

func postCall(w http.ResponseWriter, r *http.Request, world World) error {
	var in CallRequest
	if err := readJSON(w, r, maxCall, &in); err != nil {
		return err
	}
	const client = "tabhub call"
	var result json.RawMessage
	var err error
	if t := builtin.Find(world.Builtin, in.Name); t != nil {
		result = t.Call(r.Context(), in.Arguments, client, func(spec.Progress) {})
	} else {
		result, err = world.Hub.Call(r.Context(), hub.Call{Name: in.Name, Args: in.Arguments, Client: client})
	}
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	w.Write(result)
	return nil
}

func (s *Server) postStop(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Reason string `json:"reason" validate:"oneof=stop upgrade"`
	}
	if err := readJSON(w, r, 1<<10, &in); err != nil {
		return err
	}
	if s.guard.accounts && passOf(r.Context()).from != fromOwner {
		return forbidden("this hub has several users and is not stopped over the network; end its process")
	}
	writeJSON(w, http.StatusAccepted, map[string]string{"status": "stopping"})
	s.o.Stop(in.Reason)
	return nil
}

func (s *Server) postToken(w http.ResponseWriter, r *http.Request, world World) error {
	if s.o.Rotate == nil {
		return forbidden("this hub has no token of its own that could be replaced")
	}
	if err := s.o.Rotate(); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "replaced"})
	return nil
}

// readJSON reads a body of at most max bytes into a struct. It insists on the content
// type, which a form on another site cannot send.
func readJSON(w http.ResponseWriter, r *http.Request, max int64, v any) error {
	if mt, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); mt != "application/json" {
		return &refusal{http.StatusUnsupportedMediaType, "send the body as application/json"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, max))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return err
		}
		return badRequest("the body could not be read")
	}
	if err := rawjson.Valid(body, spec.MaxDepth); err != nil {
		return badRequest("the body is not what is expected: %v", err)
	}
	if err := spec.Decode(body, v); err != nil {
		return badRequest("the body is not what is expected: %s", err.Message)
	}
	return nil
}

// nonNil makes an empty list [] in JSON.
func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
