package methods

import (
	"slices"

	"tabhub/hub"
	"tabhub/hub/face/mcpserver/expose"
)

// listsOnce are clients, by the name they give, that list the tools once and ignore changes.
var listsOnce = []string{"claude-ai", "claude-desktop"}

// proxyOnly reports whether the client of rq gets the hub's own tools alone. From
// revision 2026-07-28 on a list must not depend on who asks.
func (s *Server) proxyOnly(rq *Request) bool {
	if rq.Modern {
		return s.opts.Expose == expose.Proxy
	}
	return s.opts.Expose == expose.Proxy || s.opts.Expose == expose.Auto && slices.Contains(listsOnce, rq.clientName())
}

// Listed returns which tools of the hub's list clients are listed; those of listsOnce
// may be listed less.
func (s *Server) Listed(l *hub.Listing) func(*hub.Item) bool {
	switch s.opts.Expose {
	case expose.Proxy:
		return func(*hub.Item) bool { return false }
	case expose.Auto:
		return s.expose[hub.ListTools].Choose(l, s.opts.ExposeBudget).Has
	}
	return func(*hub.Item) bool { return true }
}

// visible takes from a change of the hub what clients are not listed, before or after.
func (s *Server) visible(c hub.Change) hub.Change {
	switch {
	case c.Policy: // may concern the hub's own tools as well
	case s.opts.Expose == expose.Proxy:
		c.Tools = false
	case s.opts.Expose == expose.Auto:
		changed := func(kind hub.ListKind) bool {
			return s.expose[kind].Changed(s.hub.List(kind), s.opts.ExposeBudget)
		}
		c.Tools = c.Tools && changed(hub.ListTools)
		c.Prompts = c.Prompts && changed(hub.ListPrompts)
		if c.Resources {
			resources, templates := changed(hub.ListResources), changed(hub.ListTemplates)
			c.Resources = resources || templates
		}
	}
	return c
}
