package httpd

import (
	"encoding/json"

	"tabhub/hub"
	"tabhub/spec"
)

// ItemReport is one element of GET /api/resources and GET /api/prompts.
type ItemReport struct {
	Name       string          `json:"name"` // as clients call it; of a resource its URI, or its template
	Template   bool            `json:"template,omitempty"`
	Domain     spec.Domain     `json:"domain"`
	Tab        int             `json:"tab,omitempty"`
	Source     string          `json:"source"` // the page's own name or URI
	Definition json.RawMessage `json:"definition"`
}

// PromptRequest is the body of POST /api/prompt.
type PromptRequest struct {
	Name      string            `json:"name" validate:"required"`
	Arguments map[string]string `json:"arguments,omitempty"`
}

func (s *Server) getResources(r *request) error {
	return r.answerItems(hub.ListResources, hub.ListTemplates)
}

func (s *Server) getPrompts(r *request) error { return r.answerItems(hub.ListPrompts) }

func (r *request) answerItems(lists ...hub.ListKind) error {
	part, err := newPart[ItemReport](r)
	if err != nil {
		return err
	}
	for _, kind := range lists {
		for it := range part.find(r.tenant.Hub, kind, r.tenant.Hub.List(kind)) {
			if part.has() {
				part.shown = append(part.shown, ItemReport{Name: it.Name, Template: kind == hub.ListTemplates, Domain: it.Domain, Tab: it.Tab, Source: it.Source, Definition: it.JSON})
			}
		}
	}
	return part.answer(r)
}

// getResource reads a resource, and answers the ReadResourceResult.
func (s *Server) getResource(r *request) error {
	uri := r.URL.Query().Get("uri")
	if uri == "" {
		return badRequest("the parameter uri is missing")
	}
	return r.answerRaw(r.tenant.Hub.ReadResource(r.Context(), r.caller("tabhub call"), uri))
}

// postPrompt gets a prompt, and answers the GetPromptResult.
func (s *Server) postPrompt(r *request) error {
	var in PromptRequest
	if err := r.read(spec.MaxFrame, &in); err != nil {
		return err
	}
	args, err := json.Marshal(in.Arguments)
	if err != nil {
		return err
	}
	if in.Arguments == nil {
		args = nil
	}
	return r.answerRaw(r.tenant.Hub.GetPrompt(r.Context(), r.caller("tabhub call"), in.Name, args))
}
