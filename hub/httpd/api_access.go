package httpd

import (
	"strings"
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

// getAccess lists the tools of the site that the parameter site names, or all, with what the
// client may do with them that the parameter client names, or any that no rule names. With
// shown only those of which the client is to know.
func (s *Server) getAccess(r *request) error {
	q := r.URL.Query()
	who := anyClient
	if client := q.Get("client"); client != "" {
		var err error
		if who, err = s.client(r, client); err != nil {
			return err
		}
	}
	by := consent.As(who)
	set, now := r.tenant.Hub.Policy(), time.Now()
	site, wanted, shown := spec.Domain(q.Get("site")), strings.ToLower(q.Get("q")), q.Has("shown")
	fits := func(name string) bool { return strings.Contains(strings.ToLower(name), wanted) }
	type tool struct {
		ToolAccess
		action func() (policy.Action, error)
	}
	var tools []tool
	if site == "" {
		for i := range r.tenant.Builtin {
			t := &r.tenant.Builtin[i]
			if a := t.Action(by); fits(t.Name) && (!shown || set.Shows(&a, now)) {
				tools = append(tools, tool{
					ToolAccess{Name: t.Name, Tokens: mcpserver.Tokens(len(t.Definition()))},
					func() (policy.Action, error) { return a, nil },
				})
			}
		}
	}
	all := r.tenant.Hub.List(hub.ListTools)
	if shown {
		all = r.tenant.Hub.ListFor(by, hub.ListTools)
	}
	for i := range all.Items {
		it := &all.Items[i]
		if (site == "" || it.Domain == site) && (fits(it.Name) || fits(it.Source)) {
			tools = append(tools, tool{
				ToolAccess{Name: it.Name, Domain: it.Domain, Tab: it.Tab, Source: it.Source, Tokens: mcpserver.Tokens(len(it.JSON)), Cached: it.Cached},
				func() (policy.Action, error) { return r.tenant.Hub.Action(who, it.Name) },
			})
		}
	}
	return answerPart(r, tools, func(t tool) (ToolAccess, error) {
		a, err := t.action()
		if err != nil { // its tab has just gone
			return t.ToolAccess, nil
		}
		d := set.Decide(&a, now)
		t.Class, t.Effect, t.By, t.Words, t.Rule, t.Changed = a.Class, d.Effect, d.Layer, d.Words(&a), d.Rule, d.Changed != nil
		return t.ToolAccess, nil
	})
}

// getCost says what the tools cost a client in tokens that it is to know of.
func (s *Server) getCost(r *request) error {
	q := r.URL.Query()
	who, err := s.client(r, q.Get("client"))
	if err != nil {
		return err
	}
	return r.answer(r.tenant.MCP.Costs(&consent.Caller{Who: who, Said: q.Get("said")}))
}
