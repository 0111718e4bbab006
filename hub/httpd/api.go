package httpd

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/consent"
	"tabhub/hub/policy"
	"tabhub/hub/state"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// ToolReport is one element of GET /api/tools.
type ToolReport struct {
	Name       string          `json:"name"`
	Domain     spec.Domain     `json:"domain,omitempty"` // "" for a builtin tool
	Tab        int             `json:"tab,omitempty"`
	Source     string          `json:"source,omitempty"` // the page's own name
	Listed     bool            `json:"listed"`           // to clients; the others are reached by name or through the tool proxy
	Class      policy.Class    `json:"class"`            // what rules take it for
	Definition json.RawMessage `json:"definition"`
	Pin        *policy.Pin     `json:"pin,omitempty"` // of the definition, for CallRequest; nil for a builtin tool
}

func (s *Server) getTabs(r *request) error {
	part, err := newPart[state.TabInfo](r)
	if err != nil {
		return err
	}
	for _, tab := range r.tenant.Hub.Tabs(nil) {
		if part.findsTab(&tab) && part.has() {
			part.shown = append(part.shown, tab)
		}
	}
	return part.answer(r)
}

func (s *Server) getBrowsers(r *request) error { return r.answer(nonNil(r.tenant.Hub.Browsers(nil))) }

func (s *Server) getTools(r *request) error {
	part, err := newPart[ToolReport](r)
	if err != nil {
		return err
	}
	for i := range r.tenant.Builtin {
		if t := &r.tenant.Builtin[i]; part.findsBuiltin(t) && part.has() {
			class := t.Action(consent.As(policy.Owner)).Class
			part.shown = append(part.shown, ToolReport{Name: t.Name, Listed: true, Class: class, Definition: t.Definition()})
		}
	}
	tools := r.tenant.Hub.List(hub.ListTools)
	listed := r.tenant.MCP.Listed(tools)
	for it := range part.find(r.tenant.Hub, hub.ListTools, tools) {
		if part.has() {
			part.shown = append(part.shown, ToolReport{
				Name: it.Name, Domain: it.Domain, Tab: it.Tab, Source: it.Source,
				Listed: listed(it), Class: it.Class, Definition: it.JSON, Pin: it.Pin(),
			})
		}
	}
	return part.answer(r)
}

func (s *Server) getExplain(r *request) error {
	name := r.URL.Query().Get("name")
	if name == "" {
		return badRequest("the parameter name is missing")
	}
	if builtin.Find(r.tenant.Builtin, name) != nil {
		return badRequest("%s is a tool of the hub itself; no tab is chosen for it", name)
	}
	client := r.URL.Query().Get("client")
	if client == "" {
		e, err := r.tenant.Hub.Explain(nil, nil, name)
		if err != nil {
			return err
		}
		return r.answer(e)
	}
	who, unknown := s.client(r, client)
	e, err := r.tenant.Hub.Explain(who, func(id state.SessionID, label string) bool {
		if unknown == nil {
			return id.Client == who.ID
		}
		return label == client || id.Short() == client
	}, name)
	switch {
	case err != nil:
		return err
	case unknown != nil && e.By == (state.SessionID{}):
		return unknown
	}
	return r.answer(e)
}

func (s *Server) postToken(r *request) error {
	if s.o.Rotate == nil {
		return forbidden("this hub has no token of its own that could be replaced")
	}
	if err := s.o.Rotate(); err != nil {
		return err
	}
	return r.answer(map[string]string{"status": "replaced"})
}

// read reads a body of at most max bytes into a struct, and checks it by the tags of its
// type. It insists on the content type, which a form on another site cannot send.
func (r *request) read(max int64, v any) error {
	if mt, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); mt != "application/json" {
		return &refusal{http.StatusUnsupportedMediaType, "send the body as application/json"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(r.w, r.Body, max))
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
