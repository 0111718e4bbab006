package methods

import (
	"context"

	"tabhub/hub"
	"tabhub/hub/face/mcpserver/jsonrpc"
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
func (s *Server) list(ctx context.Context, rq *Request) (jsonrpc.Frame, error) {
	if c := string(rq.get("cursor")); c != "" && c != "null" && c != `""` {
		return jsonrpc.Frame{}, jsonrpc.InvalidParams("cursor is unknown: this server answers lists in one page")
	}
	of := listed[rq.Method]
	by := rq.caller(nil, nil)
	var builtins uint64
	if of.kind == hub.ListTools {
		builtins = s.lists.builtinsFor(by)
	}
	var elements []byte
	if of.kind == hub.ListTools && s.lists.proxyOnly(rq) {
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
