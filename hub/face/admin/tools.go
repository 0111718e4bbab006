package admin

import (
	"encoding/json"
	"time"

	"tabhub/hub/agents"
	"tabhub/hub/builtin"
	"tabhub/hub/face/endpoint"
	"tabhub/hub/lists"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// ToolReport is one element of GET /api/tools.
type ToolReport struct {
	Name       string          `json:"name"`
	Domain     spec.Domain     `json:"domain,omitempty"` // "" for a builtin tool
	Tab        int             `json:"tab,omitempty"`
	Source     string          `json:"source,omitempty"` // the page's name
	Pack       string          `json:"pack,omitempty"`   // the pack that gives the site the tool
	Listed     bool            `json:"listed"`           // to clients; they reach the others by name or through the tool proxy
	Class      policy.Class    `json:"class"`
	Cached     bool            `json:"cached,omitempty"` // no tab has it now
	Definition json.RawMessage `json:"definition"`
	Pin        *policy.Pin     `json:"pin,omitempty"` // of the definition, for CallRequest; nil for a builtin tool
	*Access                    // for the parameter client
}

// Access is what a client may do with a tool.
type Access struct {
	Effect  policy.Effect `json:"effect"`
	Words   string        `json:"words"`
	Rule    *policy.Rule  `json:"rule,omitempty"`
	Changed bool          `json:"changed,omitempty"` // after the owner has allowed it
}

// anyClient is a client that no rule names.
var anyClient = &policy.Principal{ID: "any", Name: "a client"}

func getTabs(r *endpoint.Request) error {
	part, err := newPart[state.TabInfo](r)
	if err != nil {
		return err
	}
	for _, tab := range r.Tenant.Hub.Tabs(nil) {
		if part.findsTab(&tab) && part.has() {
			part.shown = append(part.shown, tab)
		}
	}
	return part.answer(r)
}

func getBrowsers(r *endpoint.Request) error { return r.Answer(nonNil(r.Tenant.Hub.Browsers(nil))) }

// getTools lists the tools that match. With the parameter client each has what that client may do with
// it, or for "any" a client that no rule names. With shown there are only the tools that the client sees.
func (api *API) getTools(r *endpoint.Request) error {
	part, err := newPart[ToolReport](r)
	if err != nil {
		return err
	}
	query, h := r.URL.Query(), r.Tenant.Hub
	set, now, by := h.Rules.Policy(), time.Now(), consent.As(policy.Owner)
	client, shown := query.Get("client"), query.Has("shown")
	if client != "" {
		of := anyClient
		if client != of.ID {
			if of, err = api.client(r, client); err != nil {
				return err
			}
		}
		by = consent.As(of)
	}
	add := func(t ToolReport, a policy.Action) {
		if t.Class = a.Class; client != "" {
			d := set.Decide(&a, now)
			t.Access = &Access{d.Effect, d.Words(&a), d.Rule, d.Changed != nil}
		}
		part.shown = append(part.shown, t)
	}
	for i := range r.Tenant.Builtin {
		t := &r.Tenant.Builtin[i]
		if a := t.Action(by); part.findsBuiltin(t) && (!shown || set.Shows(&a, now)) && part.has() {
			add(ToolReport{Name: t.Name, Listed: true, Definition: t.Definition()}, a)
		}
	}
	tools := h.Lists.List(lists.ListTools)
	listed := r.Tenant.MCP.Listed(tools)
	if shown {
		tools = h.Lists.ListFor(by, lists.ListTools)
	}
	for it := range part.find(h, lists.ListTools, tools) {
		if !part.has() {
			continue
		}
		if a, err := h.Action(by.Principal, it.Name); err == nil { // otherwise its tab has just gone
			add(ToolReport{Name: it.Name, Domain: it.Domain, Tab: it.Tab, Source: it.Source, Pack: it.Pack, Listed: listed(it), Cached: it.Cached, Definition: it.JSON, Pin: it.Pin()}, a)
		}
	}
	return part.answer(r)
}

func (api *API) getExplain(r *endpoint.Request) error {
	name := r.URL.Query().Get("name")
	if name == "" {
		return endpoint.BadRequest("the parameter name is missing")
	}
	if builtin.Find(r.Tenant.Builtin, name) != nil {
		return endpoint.BadRequest("%s is a tool of the hub itself, for which the hub chooses no tab", name)
	}
	client := r.URL.Query().Get("client")
	if client == "" {
		e, err := r.Tenant.Hub.Explain(nil, nil, name)
		if err != nil {
			return err
		}
		return r.Answer(e)
	}
	by, unknown := api.client(r, client)
	e, err := r.Tenant.Hub.Explain(by, func(id agents.SessionID, label string) bool {
		if unknown == nil {
			return id.Client == by.ID
		}
		return label == client || id.Short() == client
	}, name)
	switch {
	case err != nil:
		return err
	case unknown != nil && e.By == (agents.SessionID{}):
		return unknown
	}
	return r.Answer(e)
}

func (api *API) postToken(r *endpoint.Request) error {
	if api.o.Rotate == nil {
		return endpoint.Forbidden("this hub has no token that could be replaced")
	}
	if err := api.o.Rotate(); err != nil {
		return err
	}
	return r.Answer(map[string]string{"status": "replaced"})
}
