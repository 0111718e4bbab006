package admin

import (
	"cmp"
	"time"

	"tabhub/hub/call"
	"tabhub/hub/face/endpoint"
	"tabhub/hub/lists"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// PreflightReport is GET /api/preflight: whether a client's calls would pass now.
type PreflightReport struct {
	Client string          `json:"client"` // its name
	State  call.Readiness  `json:"state"`  // the worst of the tools'
	Why    string          `json:"why,omitempty"`
	Tools  []ToolPreflight `json:"tools"`
}

// ToolPreflight is what a call of one tool would come to.
type ToolPreflight struct {
	Name    string         `json:"name"` // as clients call it
	State   call.Readiness `json:"state"`
	Why     string         `json:"why"`
	Site    spec.Domain    `json:"site,omitempty"` // "" for a tool of the hub, and for one that it does not know
	Tool    string         `json:"tool,omitempty"` // the page's own name
	Pack    string         `json:"pack,omitempty"` // the name of the pack that gives it
	Class   policy.Class   `json:"class,omitempty"`
	Tab     string         `json:"tab,omitempty"`     // the call would go there
	OpenURL string         `json:"openUrl,omitempty"` // the call would open it
	By      policy.Layer   `json:"by,omitempty"`      // what has decided
	Rule    *policy.Rule   `json:"rule,omitempty"`
	Pause   *policy.Pause  `json:"pause,omitempty"` // what has decided, if a pause has
}

// getPreflight says of each tool that a parameter tool names, the hub's own at a site, or without one of all tools that the
// client is listed, whether a call by the client would pass now.
func (api *API) getPreflight(r *endpoint.Request) error {
	who, err := api.client(r, cmp.Or(r.URL.Query().Get("client"), policy.OwnerID))
	if err != nil {
		return err
	}
	h, by := r.Tenant.Hub, consent.As(who)
	report := PreflightReport{Client: cmp.Or(who.Name, who.ID), State: call.Ready, Tools: []ToolPreflight{}}
	add := func(name string, p call.Preflight) {
		t := ToolPreflight{
			Name: name, State: p.State, Why: p.Why, Site: p.Action.Site.Domain, Tool: p.Action.Name, Pack: p.Action.Pack, Class: p.Action.Class,
			Tab: p.Tab, OpenURL: p.OpenURL, By: p.Decision.Layer, Rule: p.Decision.Rule,
		}
		if p.Decision.Paused {
			t.Pause = h.Rules.Policy().PauseOf(&p.Action)
		}
		report.Tools = append(report.Tools, t)
		report.State = report.State.Worse(p.State)
	}
	names, site := r.URL.Query()["tool"], r.URL.Query().Get("site")
	if site != "" {
		if err := checkOneSite(site); err != nil {
			return err
		}
	}
	for _, name := range names {
		a := builtinAction(r, by, name)
		a.Site.Domain = spec.Domain(site)
		switch {
		case a.Name == "":
			add(name, h.Owner.Preflight(by, name))
		case a.Class == policy.Act && site == "":
			return endpoint.BadRequest("%q acts on a page; name its site", name)
		default:
			add(a.Name, h.Owner.PreflightAction(a))
		}
	}
	if len(names) > 0 {
		return r.Answer(report)
	}
	set, now := h.Rules.Policy(), time.Now()
	all := h.Lists.ListFor(by, lists.ListTools)
	listed := r.Tenant.MCP.Listed(all)
	for i := range all.Items {
		if it := &all.Items[i]; listed(it) {
			add(it.Name, h.Owner.Preflight(by, it.Name))
		}
	}
	if len(report.Tools) == 0 {
		none := h.Owner.NoTools(by)
		report.State, report.Why = none.State, none.Why
	}
	for i := range r.Tenant.Builtin {
		t := &r.Tenant.Builtin[i]
		if a := t.Action(by); a.Class != policy.Act && set.Shows(&a, now) { // where it acts decides about an act
			add(t.Name, h.Owner.PreflightAction(a))
		}
	}
	return r.Answer(report)
}
