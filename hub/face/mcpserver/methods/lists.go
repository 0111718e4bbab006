package methods

import (
	"context"
	"slices"

	"tabhub/hub/builtin"
	"tabhub/hub/face/mcpserver/expose"
	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/lists"
	"tabhub/hub/trust/consent"
)

// listing says what the lists of a hub show to clients.
type listing struct {
	hub         Hub
	builtin     []builtin.Tool // the builtin tools
	definitions [][]byte       // of these
	mode        expose.Mode
	budget      int               // for expose.Auto
	choosers    [4]expose.Chooser // by list; for expose.Auto
}

// elements returns the elements of one of the lists, comma-separated on one line: those of the
// builtin tools that are in builtins, and what the client may see of the pages' items. They are
// made once for all clients that are listed the same.
func (s *listing) elements(by *consent.Caller, kind lists.ListKind, builtins uint64) []byte {
	l := s.hub.ListFor(by, kind)
	auto, bound := s.mode == expose.Auto, s.hub.IsBound(by)
	shows := struct {
		*expose.Choice
		builtins uint64
	}{nil, builtins}
	if auto && !bound {
		shows.Choice = s.choosers[kind].Choose(s.hub.List(kind), s.budget)
	}
	return l.Rendered(shows, func() []byte {
		c := shows.Choice
		if auto && bound { // what others have is nothing to it
			c = new(expose.Chooser).Choose(l, s.budget)
		}
		b := s.appendBuiltins(nil, builtins)
		for it := range c.Of(l) {
			b = appendElement(b, it.JSON)
		}
		return jsonrpc.OneLine(b)
	})
}

// builtinsFor returns which builtin tools a client may know, one bit for each.
func (s *listing) builtinsFor(by *consent.Caller) (set uint64) {
	for i := range s.builtin {
		if a := s.builtin[i].Action(by); s.hub.Shows(&a) {
			set |= 1 << i
		}
	}
	return set
}

func (s *listing) appendBuiltins(b []byte, set uint64) []byte {
	for i, definition := range s.definitions {
		if set&(1<<i) != 0 {
			b = appendElement(b, definition)
		}
	}
	return b
}

func appendElement(b, element []byte) []byte {
	if len(b) > 0 {
		b = append(b, ',')
	}
	return append(b, element...)
}

// listsOnce are clients, by the name they give, that list the tools once and ignore changes.
var listsOnce = []string{"claude-ai", "claude-desktop"}

// proxyOnly reports whether the client of rq is listed the builtin tools alone. From
// revision 2026-07-28 on a list must not depend on the client.
func (s *listing) proxyOnly(rq *Request) bool {
	if rq.Modern {
		return s.mode == expose.Proxy
	}
	return s.mode == expose.Proxy || s.mode == expose.Auto && slices.Contains(listsOnce, rq.clientName())
}

// listed returns which tools of the hub's list clients are listed; those of listsOnce
// may be listed less.
func (s *listing) listed(l *lists.Listing) func(*lists.Item) bool {
	switch s.mode {
	case expose.Proxy:
		return func(*lists.Item) bool { return false }
	case expose.Auto:
		return s.choosers[lists.ListTools].Choose(l, s.budget).Has
	}
	return func(*lists.Item) bool { return true }
}

// visible takes from a change of the hub what clients are not listed, before or after.
func (s *listing) visible(c lists.Change) lists.Change {
	switch {
	case c.Policy: // may concern the builtin tools as well
	case s.mode == expose.Proxy:
		c.Tools = false
	case s.mode == expose.Auto:
		changed := func(kind lists.ListKind) bool {
			return s.choosers[kind].Changed(s.hub.List(kind), s.budget)
		}
		c.Tools = c.Tools && changed(lists.ListTools)
		c.Prompts = c.Prompts && changed(lists.ListPrompts)
		if c.Resources {
			resources, templates := changed(lists.ListResources), changed(lists.ListTemplates)
			c.Resources = resources || templates
		}
	}
	return c
}

// listed is what a list method answers with, but for its elements.
var listed = map[string]struct {
	kind   lists.ListKind
	member string
}{
	"tools/list":               {lists.ListTools, `"tools":[`},
	"resources/list":           {lists.ListResources, `"resources":[`},
	"resources/templates/list": {lists.ListTemplates, `"resourceTemplates":[`},
	"prompts/list":             {lists.ListPrompts, `"prompts":[`},
}

var listEnd = []byte("]}}")

// uncached are the caching hints of a result that may change at any moment and is
// one user's own.
const uncached = `"ttlMs":0,"cacheScope":"private"`

// list answers one of the list methods, always in one page.
func (s *Server) list(ctx context.Context, rq *Request) (jsonrpc.Frame, error) {
	if c := string(rq.get("cursor")); c != "" && c != "null" && c != `""` {
		return jsonrpc.Frame{}, jsonrpc.InvalidParams("cursor is unknown: this server answers lists in one page")
	}
	of := listed[rq.Method]
	by := rq.caller(nil, nil)
	var builtins uint64
	if of.kind == lists.ListTools {
		builtins = s.lists.builtinsFor(by)
	}
	var elements []byte
	if of.kind == lists.ListTools && s.lists.proxyOnly(rq) {
		elements = s.lists.appendBuiltins(nil, builtins)
	} else {
		elements = s.lists.elements(by, of.kind, builtins)
	}
	h := make([]byte, 0, 192+len(rq.ID)+len(s.serverRef))
	h = append(h, jsonrpc.FrameStart...)
	h = append(h, rq.ID...)
	h = append(h, `,"result":{`...)
	if rq.Modern {
		h = append(h, resultComplete+","+uncached+","...)
		h = append(append(append(h, `"_meta":{`...), s.serverRef...), "}"...)
		h = append(h, ',')
	}
	h = append(h, of.member...)
	return jsonrpc.Frame{Head: h, Body: elements, Tail: listEnd}, s.hub.Settled(ctx)
}
