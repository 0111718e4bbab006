package mcpserver

import (
	"bytes"

	"tabhub/hub"
	"tabhub/hub/consent"
)

// list is one of the hub's lists as clients get it.
type list struct {
	of   *hub.Listing
	json []byte // the elements, comma-separated, on one line, without brackets
}

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
func (s *Server) list(rq *request) (frame, error) {
	if c := string(rq.get("cursor")); c != "" && c != "null" && c != `""` {
		return frame{}, invalidParams("cursor is unknown: this server answers lists in one page")
	}
	of := listed[rq.method]
	var builtins, rest []byte
	by := rq.caller(nil, nil)
	if of.kind == hub.ListTools {
		builtins = s.builtinsFor(by)
	}
	if of.kind != hub.ListTools || !s.proxyOnly(rq) {
		rest = s.elements(by, of.kind)
	}
	h := make([]byte, 0, 192+len(rq.id)+len(s.serverRef)+len(builtins))
	h = append(h, frameStart...)
	h = append(h, rq.id...)
	h = append(h, `,"result":{`...)
	if rq.modern {
		h = append(h, resultComplete+","+uncached+","...)
		h = append(append(append(h, `"_meta":{`...), s.serverRef...), "}"...)
		h = append(h, ',')
	}
	h = append(h, of.member...)
	h = append(h, builtins...)
	if len(builtins) > 0 && len(rest) > 0 {
		h = append(h, ',')
	}
	return frame{head: h, body: rest, tail: listEnd}, nil
}

// builtinsFor returns the definitions of the hub's own tools that a client is to know of,
// comma-separated.
func (s *Server) builtinsFor(by *consent.Caller) []byte {
	if s.hub.ListFor(by, hub.ListTools) == s.hub.List(hub.ListTools) {
		return s.builtins // nothing is kept from the client
	}
	var some [][]byte
	for i := range s.opts.Builtin {
		t := &s.opts.Builtin[i]
		if a := t.Action(by); s.hub.Shows(&a) {
			some = append(some, s.definitions[i])
		}
	}
	return bytes.Join(some, []byte{','})
}

// elements returns what a client is listed of the hub's list of that kind; for those that
// are to know of everything it is made once a generation.
func (s *Server) elements(by *consent.Caller, kind hub.ListKind) []byte {
	of, part := s.hub.List(kind), s.hub.ListFor(by, kind)
	if of != part {
		lists := func(*hub.Item) bool { return true }
		switch {
		case s.opts.Expose != ExposeAuto:
		case s.hub.IsBound(by): // what others have is nothing to it
			lists = new(exposure).lists(part, s.opts.ExposeBudget)
		default:
			lists = s.expose[kind].lists(of, s.opts.ExposeBudget)
		}
		return join(part, lists)
	}
	if s.opts.Expose == ExposeAuto {
		return s.expose[kind].elements(of, s.opts.ExposeBudget)
	}
	if l := s.lists[kind].Load(); l != nil && l.of == of {
		return l.json
	}
	b := join(of, func(*hub.Item) bool { return true })
	s.lists[kind].Store(&list{of, b})
	return b
}

// join returns those elements of a list that are listed, comma-separated, on one line.
func join(l *hub.Listing, lists func(*hub.Item) bool) (b []byte) {
	for i := range l.Items {
		if it := &l.Items[i]; lists(it) {
			if len(b) > 0 {
				b = append(b, ',')
			}
			b = append(b, it.JSON...)
		}
	}
	return oneLine(b)
}
