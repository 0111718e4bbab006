package main

import (
	"context"
	"encoding/json"
	"fmt"

	"tabhub/hub"
	"tabhub/hub/consent"
	"tabhub/hub/policy"
	"tabhub/spec"
	"tabhub/tabtransport/wsserver"
)

// toolset is a hub as webmcp-relay.v1 clients see it: the tools of pages. They have
// no use for the hub's own, which take and give what only MCP clients know.
type toolset struct {
	hub *hub.Hub
	by  *consent.Caller
}

// toolset returns the tools of a user.
func (p *process) toolset(ctx context.Context, user spec.UserID) (wsserver.Toolset, error) {
	t, err := p.tenants.Get(ctx, user)
	if err != nil {
		return nil, err
	}
	return toolset{t.Hub, consent.As(policy.Unnamed)}, nil
}

// Tools implements wsserver.Toolset. A source is a tab's part in one domain.
func (t toolset) Tools() ([]wsserver.Tool, []wsserver.Source) {
	var sources []wsserver.Source
	ids := make(map[spec.Domain][]string)
	for _, tab := range t.hub.TabsFor(t.by) {
		for _, d := range tab.Domains {
			if d.Tools == 0 {
				continue
			}
			id := sourceID(d.Domain, d.Number)
			updated := tab.LastUpdated.UnixMilli()
			sources = append(sources, wsserver.Source{
				ID: id, Tab: id, URL: tab.URL, Title: tab.Title,
				ConnectedAt: updated, LastSeenAt: updated, ToolCount: d.Tools,
			})
			if tab.Focused {
				ids[d.Domain] = append([]string{id}, ids[d.Domain]...)
			} else {
				ids[d.Domain] = append(ids[d.Domain], id)
			}
		}
	}
	items := t.hub.ListFor(t.by, hub.ListTools).Items
	tools := make([]wsserver.Tool, 0, len(items))
	for _, it := range items {
		tool := wsserver.Tool{Name: it.Name, Definition: it.JSON, Sources: ids[it.Domain]}
		if it.Tab != 0 {
			tool.Sources = []string{sourceID(it.Domain, it.Tab)}
		}
		tools = append(tools, tool)
	}
	return tools, sources
}

func sourceID(domain spec.Domain, number int) string { return fmt.Sprintf("%s tab %d", domain, number) }

// Call implements wsserver.Toolset.
func (t toolset) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	return t.hub.Call(ctx, hub.Call{Name: name, Args: args, By: t.by})
}

// Watch implements wsserver.Toolset.
func (t toolset) Watch(f func()) (stop func()) {
	return t.hub.Watch(func(c hub.Change) {
		if c = t.hub.ChangeFor(t.by, c); c.Tools {
			f()
		}
	})
}
