package mcpserver

import (
	"bytes"
	"slices"
	"sync"

	"tabhub/hub"
)

// Expose says which of the pages' tools tools/list holds. They can be called in
// any case, by name or through the proxy tool.
type Expose string

// The choices for Expose.
const (
	ExposeAll   Expose = "all"
	ExposeProxy Expose = "proxy" // the hub's own tools alone
	// ExposeAuto is ExposeProxy while the full list would cost more than the
	// budget, and for clients that are known to ignore changes of the list.
	ExposeAuto Expose = "auto"
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
func (s *Server) list(rq *request) (frame, *rpcError) {
	if c := string(rq.get("cursor")); c != "" && c != "null" && c != `""` {
		return frame{}, invalidParams("cursor is unknown: this server answers lists in one page")
	}
	of := listed[rq.method]
	var own, rest []byte
	if of.kind == hub.ListTools {
		own = s.ownList
	}
	if of.kind != hub.ListTools || !s.proxyOnly(rq) {
		rest = s.elements(of.kind)
	}
	h := make([]byte, 0, 192+len(rq.id)+len(s.serverRef)+len(own))
	h = append(h, frameStart...)
	h = append(h, rq.id...)
	h = append(h, `,"result":{`...)
	if rq.modern {
		h = append(h, resultComplete+","+uncached+","...)
		h = append(h, s.serverRef...)
		h = append(h, ',')
	}
	h = append(h, of.member...)
	h = append(h, own...)
	if len(own) > 0 && len(rest) > 0 {
		h = append(h, ',')
	}
	return frame{head: h, body: rest, tail: listEnd}, nil
}

// elements returns the hub's list of that kind; it is made once a generation.
func (s *Server) elements(kind hub.ListKind) []byte {
	of := s.hub.List(kind)
	if l := s.lists[kind].Load(); l != nil && l.of == of {
		return l.json
	}
	b := oneLine(of.JSON)
	b = bytes.TrimSpace(b)
	b = bytes.TrimSpace(b[1 : len(b)-1])
	s.lists[kind].Store(&list{of, b})
	return b
}

// deaf are clients, by the name they give, that list tools once and drop those that
// come later.
var deaf = []string{"claude-ai", "claude-desktop"}

// proxyOnly reports whether the client of rq gets the hub's own tools alone. From
// revision 2026-07-28 on a list must not depend on who asks.
func (s *Server) proxyOnly(rq *request) bool {
	switch s.opts.Expose {
	case ExposeProxy:
		return true
	case ExposeAuto:
		return !rq.modern && slices.Contains(deaf, rq.clientName()) || s.expose.over(s.hub.List(hub.ListTools), s.opts.ExposeBudget)
	}
	return false
}

// exposure remembers whether the list is over budget, so that one that hovers
// about it does not flap: once over, it must fall by a fifth of the budget.
type exposure struct {
	mu     sync.Mutex
	last   bool
	hidden bool // all clients were told of a change since the list went over
}

// over reports whether l, the tools of pages, costs more tokens than budget; four
// bytes are one.
func (e *exposure) over(l *hub.Listing, budget int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.overLocked(l, budget)
}

func (e *exposure) overLocked(l *hub.Listing, budget int) bool {
	if e.last {
		budget -= budget / 5
	}
	e.last = (len(l.JSON)+3)/4 > budget
	e.hidden = e.hidden && e.last
	return e.last
}

// visible reports whether a change to l changes what clients are listed. They are to
// be told if so.
func (e *exposure) visible(l *hub.Listing, budget int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	was := e.hidden
	e.hidden = e.overLocked(l, budget)
	return !e.hidden || !was
}

// toolsVisible reports whether a change of the pages' tools changes what clients
// are listed.
func (s *Server) toolsVisible() bool {
	switch s.opts.Expose {
	case ExposeProxy:
		return false
	case ExposeAuto:
		return s.expose.visible(s.hub.List(hub.ListTools), s.opts.ExposeBudget)
	}
	return true
}
