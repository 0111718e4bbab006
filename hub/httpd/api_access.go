package httpd

import (
	"time"

	"tabhub/hub"
	"tabhub/hub/consent"
	"tabhub/hub/mcpserver"
	"tabhub/hub/policy"
	"tabhub/spec"
)

// ToolAccess is an element of GET /api/access: what a client may do with a tool.
type ToolAccess struct {
	Name    string        `json:"name"`
	Domain  spec.Domain   `json:"domain,omitempty"` // "" for a tool of the hub
	Tab     int           `json:"tab,omitempty"`
	Source  string        `json:"source,omitempty"` // the page's own name
	Tokens  int           `json:"tokens"`           // about, of its definition
	Cached  bool          `json:"cached,omitempty"` // no tab has it now
	Class   policy.Class  `json:"class"`
	Effect  policy.Effect `json:"effect"`
	By      policy.Layer  `json:"by"`
	Words   string        `json:"words"`
	Rule    *policy.Rule  `json:"rule,omitempty"`
	Changed bool          `json:"changed,omitempty"` // since the owner has allowed it
}

// anyClient is a client that no rule names.
var anyClient = &policy.Principal{ID: "any other client", Name: "a client"}

// getAccess lists the tools that are found, with what the client may do with them that the
// parameter client names, or any that no rule names. With shown only those of which the client
// is to know.
func (s *Server) getAccess(r *request) error {
	part, err := newPart[ToolAccess](r)
	if err != nil {
		return err
	}
	who, shown := anyClient, r.URL.Query().Has("shown")
	if client := r.URL.Query().Get("client"); client != "" {
		if who, err = s.client(r, client); err != nil {
			return err
		}
	}
	by, set, now := consent.As(who), r.tenant.Hub.Policy(), time.Now()
	show := func(t ToolAccess, a policy.Action) {
		d := set.Decide(&a, now)
		t.Class, t.Effect, t.By, t.Words, t.Rule, t.Changed = a.Class, d.Effect, d.Layer, d.Words(&a), d.Rule, d.Changed != nil
		part.shown = append(part.shown, t)
	}
	for i := range r.tenant.Builtin {
		t := &r.tenant.Builtin[i]
		if a := t.Action(by); part.findsBuiltin(t) && (!shown || set.Shows(&a, now)) && part.has() {
			show(ToolAccess{Name: t.Name, Tokens: mcpserver.Tokens(len(t.Definition()))}, a)
		}
	}
	all := r.tenant.Hub.List(hub.ListTools)
	if shown {
		all = r.tenant.Hub.ListFor(by, hub.ListTools)
	}
	for it := range part.find(r.tenant.Hub, hub.ListTools, all) {
		if !part.has() {
			continue
		}
		if a, err := r.tenant.Hub.Action(who, it.Name); err == nil { // else its tab has just gone
			show(ToolAccess{Name: it.Name, Domain: it.Domain, Tab: it.Tab, Source: it.Source, Tokens: mcpserver.Tokens(len(it.JSON)), Cached: it.Cached}, a)
		}
	}
	return part.answer(r)
}
