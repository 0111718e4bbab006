package mcpserver

import (
	"bytes"

	"tabhub/hub"
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
	if of.kind == hub.ListTools {
		builtins = s.builtins
	}
	if of.kind != hub.ListTools || !s.proxyOnly(rq) {
		rest = s.elements(of.kind)
	}
	h := make([]byte, 0, 192+len(rq.id)+len(s.serverRef)+len(builtins))
	h = append(h, frameStart...)
	h = append(h, rq.id...)
	h = append(h, `,"result":{`...)
	if rq.modern {
		h = append(h, resultComplete+","+uncached+","...)
		h = append(h, s.serverRef...)
		h = append(h, ',')
	}
	h = append(h, of.member...)
	h = append(h, builtins...)
	if len(builtins) > 0 && len(rest) > 0 {
		h = append(h, ',')
	}
	return frame{head: h, body: rest, tail: listEnd}, nil
}

// elements returns what clients are listed of the hub's list of that kind; it is made
// once a generation.
func (s *Server) elements(kind hub.ListKind) []byte {
	of := s.hub.List(kind)
	if s.opts.Expose == ExposeAuto {
		return s.expose[kind].elements(of, s.opts.ExposeBudget)
	}
	if l := s.lists[kind].Load(); l != nil && l.of == of {
		return l.json
	}
	b := bytes.TrimSpace(oneLine(of.JSON))
	b = bytes.TrimSpace(b[1 : len(b)-1])
	s.lists[kind].Store(&list{of, b})
	return b
}
