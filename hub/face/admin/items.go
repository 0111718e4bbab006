package admin

import (
	"encoding/json"

	"tabhub/hub/face/endpoint"
	"tabhub/hub/lists"
	"tabhub/spec"
)

// ItemReport is one element of GET /api/resources and GET /api/prompts.
type ItemReport struct {
	Name       string          `json:"name"` // for clients; of a resource its URI, or its template
	Template   bool            `json:"template,omitempty"`
	Domain     spec.Domain     `json:"domain"`
	Tab        int             `json:"tab,omitempty"`
	Source     string          `json:"source"` // the page's name or URI
	Definition json.RawMessage `json:"definition"`
}

// PromptRequest is the body of POST /api/prompt.
type PromptRequest struct {
	Name      string            `json:"name" validate:"required"`
	Arguments map[string]string `json:"arguments,omitempty"`
}

func getResources(r *endpoint.Request) error {
	return answerItems(r, lists.ListResources, lists.ListTemplates)
}

func getPrompts(r *endpoint.Request) error { return answerItems(r, lists.ListPrompts) }

func answerItems(r *endpoint.Request, kinds ...lists.ListKind) error {
	part, err := newPart[ItemReport](r)
	if err != nil {
		return err
	}
	for _, kind := range kinds {
		for it := range part.find(r.Tenant.Hub, kind, r.Tenant.Hub.Lists.List(kind)) {
			if part.has() {
				part.shown = append(part.shown, ItemReport{Name: it.Name, Template: kind == lists.ListTemplates, Domain: it.Domain, Tab: it.Tab, Source: it.Source, Definition: it.JSON})
			}
		}
	}
	return part.answer(r)
}

// getResource reads a resource, and answers the ReadResourceResult.
func getResource(r *endpoint.Request) error {
	uri := r.URL.Query().Get("uri")
	if uri == "" {
		return endpoint.BadRequest("the parameter uri is missing")
	}
	return r.AnswerRaw(r.Tenant.Hub.Calls.ReadResource(r.Context(), caller(r, "tabhub call"), uri))
}

// postPrompt gets a prompt, and answers the GetPromptResult.
func postPrompt(r *endpoint.Request) error {
	var in PromptRequest
	if err := r.Read(spec.MaxFrame, &in); err != nil {
		return err
	}
	args, err := json.Marshal(in.Arguments)
	if err != nil {
		return err
	}
	if in.Arguments == nil {
		args = nil
	}
	return r.AnswerRaw(r.Tenant.Hub.Calls.GetPrompt(r.Context(), caller(r, "tabhub call"), in.Name, args))
}
