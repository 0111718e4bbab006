package methods

import (
	"tabhub/hub"
	"tabhub/hub/face/mcpserver/expose"
	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/trust/consent"
)

// listed is what a list method answers with, but for its elements.
var listed = map[string]struct {
	kind   hub.ListKind
	member string
}{
	"tools/list":               {hub.ListTools, `"tools":[`},
	"resources/list":           {hub.ListResources, `"resources":[`},
	"resources/templates/list": {hub.ListTemplates, `"resourceTemplates":[`},
	"prompts/list":             {hub.ListPrompts, `"prompts":[`},
}

var listEnd = []byte("]}}")

// uncached are the caching hints of a result that may change at any moment and is
// one user's own.
const uncached = `"ttlMs":0,"cacheScope":"private"`

// list answers one of the list methods, always in one page.
func (s *Server) list(rq *Request) (jsonrpc.Frame, error) {
	if c := string(rq.get("cursor")); c != "" && c != "null" && c != `""` {
		return jsonrpc.Frame{}, jsonrpc.InvalidParams("cursor is unknown: this server answers lists in one page")
	}
	of := listed[rq.Method]
	by := rq.caller(nil, nil)
	var builtins uint64
	if of.kind == hub.ListTools {
		builtins = s.builtinsFor(by)
	}
	var elements []byte
	if of.kind == hub.ListTools && s.proxyOnly(rq) {
		elements = s.appendBuiltins(nil, builtins)
	} else {
		elements = s.elements(by, of.kind, builtins)
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
	return jsonrpc.Frame{Head: h, Body: elements, Tail: listEnd}, nil
}

// elements returns the elements of one of the lists, comma-separated on one line: those of the
// hub's own tools that are in builtins, and what the client is listed of what pages have. They are
// made once for all clients that are listed the same.
func (s *Server) elements(by *consent.Caller, kind hub.ListKind, builtins uint64) []byte {
	l := s.hub.ListFor(by, kind)
	auto, bound := s.opts.Expose == expose.Auto, s.hub.IsBound(by)
	shows := struct {
		*expose.Choice
		builtins uint64
	}{nil, builtins}
	if auto && !bound {
		shows.Choice = s.expose[kind].Choose(s.hub.List(kind), s.opts.ExposeBudget)
	}
	return l.Rendered(shows, func() []byte {
		c := shows.Choice
		if auto && bound { // what others have is nothing to it
			c = new(expose.Chooser).Choose(l, s.opts.ExposeBudget)
		}
		b := s.appendBuiltins(nil, builtins)
		for it := range c.Of(l) {
			b = appendElement(b, it.JSON)
		}
		return jsonrpc.OneLine(b)
	})
}

// builtinsFor returns which of the hub's own tools a client is to know of, one bit for each.
func (s *Server) builtinsFor(by *consent.Caller) (set uint64) {
	for i := range s.opts.Builtin {
		if a := s.opts.Builtin[i].Action(by); s.hub.Shows(&a) {
			set |= 1 << i
		}
	}
	return set
}

func (s *Server) appendBuiltins(b []byte, set uint64) []byte {
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
