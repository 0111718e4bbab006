package proxytool

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"tabhub/hub/builtin"
	"tabhub/hub/lists"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// queryLimit is how many items a query lists that gives no limit: the best ones are
// wanted, not all that hold one of its words.
const queryLimit = 20

// list serves action list.
func (c *caller) list(op *operation, n *annotations) (*result, error) {
	offset, limit := op.offset, op.limit
	if limit == 0 {
		limit = maxLimit
		if op.filter.query != "" {
			limit = queryLimit
		}
	}
	paged := op.paged || op.filter.query != ""
	found := c.tool.items(c.by, op.kind)
	if !op.filter.empty() {
		found = search(op.kind, found, &op.filter)
	}
	total := len(found)
	if paged {
		found = found[min(offset, total):]
		found = found[:min(limit, len(found))]
	}

	n.dataType(dataTypes[op.kind])
	n.multiple(true)
	items := join(found)
	data := []member{{"items", items}}
	if paged {
		for _, p := range []struct {
			name  string
			value int
		}{{"totalCount", total}, {"offset", offset}, {"limit", limit}} {
			n.number(p.name, p.value)
			data = append(data, member{p.name, strconv.AppendInt(nil, int64(p.value), 10)})
		}
	}
	return c.data("proxy:list/"+string(op.kind), items, merge(nil, data), n), nil
}

// dataTypes names what a list of a kind holds (spec/PROTOCOL.md, "Answers").
var dataTypes = map[spec.Kind]string{
	spec.KindTool:     "Tool",
	spec.KindResource: "Resource|ResourceTemplate",
	spec.KindPrompt:   "Prompt",
}

// info serves action info.
func (c *caller) info(op *operation, n *annotations) (*result, error) {
	item, err := c.tool.find(c.by, op)
	if err != nil {
		return nil, err
	}
	dataType := title(op.kind)
	if op.kind == spec.KindResource && rawjson.Get(item.JSON, "uriTemplate") != nil {
		dataType = "ResourceTemplate"
	}
	n.dataType(dataType)
	n.multiple(false)
	return c.data("proxy:info/"+string(op.kind)+"/"+op.path, item.Definition(), item.Definition(), n), nil
}

// items returns what there is of a kind, as far as a client is to know of it. The slice is the
// caller's.
func (t *proxy) items(by *consent.Caller, kind spec.Kind) (items []*lists.Item) {
	lists := map[spec.Kind][]lists.ListKind{
		spec.KindTool: {lists.ListTools}, spec.KindResource: {lists.ListResources, lists.ListTemplates}, spec.KindPrompt: {lists.ListPrompts},
	}[kind]
	if kind == spec.KindTool {
		items = t.builtins(by)
	}
	for _, list := range lists {
		l := t.hub.ListFor(by, list)
		for i := range l.Items {
			if it := &l.Items[i]; kind != spec.KindTool || !t.reserved(it.Name) {
				items = append(items, it)
			}
		}
	}
	return items
}

// builtins returns the builtin tools that the client may know.
func (t *proxy) builtins(by *consent.Caller) (items []*lists.Item) {
	for i := range t.builtin {
		if a := t.builtin[i].Action(by); t.hub.Shows(&a) {
			items = append(items, &t.builtinItems[i])
		}
	}
	return items
}

// reserved reports whether a name is a builtin tool's. Where pages' own
// names are listed, a page may have it, too, and can then not be called by it.
func (t *proxy) reserved(name string) bool {
	return name == Name || name == ReadName || builtin.Find(t.builtin, name) != nil
}

// similar returns the names of the three items of a kind that are most like a path, by the
// words in it.
func (c *caller) similar(kind spec.Kind, path string) (names []string) {
	found := search(kind, c.tool.items(c.by, kind), &filter{query: path})
	for _, it := range found[:min(len(found), 3)] {
		names = append(names, it.Name)
	}
	return names
}

// find returns the item that op is about. The error is a *lists.UnknownError.
func (t *proxy) find(by *consent.Caller, op *operation) (lists.Item, error) {
	if op.kind == spec.KindTool {
		tools := t.builtins(by)
		if i := slices.IndexFunc(tools, func(it *lists.Item) bool { return it.Name == op.path }); i >= 0 {
			return *tools[i], nil
		}
	}
	it, err := t.hub.FindFor(by, op.kind, op.path)
	if op.self() {
		return lists.Item{}, &lists.UnknownError{Kind: op.kind, Name: op.path}
	}
	return it, err
}

// self reports whether op is about one of these very tools, or another of the name.
func (op *operation) self() bool {
	return op.kind == spec.KindTool && (op.path == Name || op.path == ReadName)
}

// empty reports whether the filter lets all pass.
func (f *filter) empty() bool {
	return f.prefix == "" && f.domain == "" && f.query == "" && len(f.tags) == 0
}

// accepts reports whether an item passes all of the filter but its query.
func (f *filter) accepts(it *lists.Item) bool {
	return strings.HasPrefix(it.Name, f.prefix) &&
		(f.domain == "" || strings.EqualFold(f.domain, string(it.Domain))) &&
		(len(f.tags) == 0 || slices.ContainsFunc(tagsOf(rawjson.Get(it.JSON, "_meta", "tags")), func(t string) bool { return slices.Contains(f.tags, t) }))
}

// join returns the JSON array of items.
func join(items []*lists.Item) json.RawMessage {
	size := 2
	for i := range items {
		size += len(items[i].JSON) + 1
	}
	out := append(make([]byte, 0, size), '[')
	for i := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, items[i].JSON...)
	}
	return append(out, ']')
}
