package proxytool

import (
	"encoding/json"
	"slices"
	"strings"

	"tabhub/hub"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// queryLimit is how many items a query lists that gives no limit: the best ones are
// wanted, not all that hold one of its words.
const queryLimit = 20

// list serves action list.
func (c *caller) list(op *operation, n *annotations) (*result, error) {
	ix := c.tool.index(op.kind)
	text := ix.whole
	offset, limit := op.offset, op.limit
	if limit == 0 {
		limit = maxLimit
		if op.filter.query != "" {
			limit = queryLimit
		}
	}
	paged := op.paged || op.filter.query != ""
	total := len(ix.items)
	if paged || !op.filter.empty() {
		found := ix.items
		if !op.filter.empty() {
			found = c.tool.search(ix, &op.filter)
			total = len(found)
		}
		if paged {
			found = found[min(offset, total):]
			found = found[:min(limit, len(found))]
		}
		text = join(found)
	}

	n.dataType(dataTypes[op.kind])
	n.multiple(true)
	if paged {
		n.number("totalCount", total)
		n.number("offset", offset)
		n.number("limit", limit)
	}
	r := &result{}
	r.addResource("proxy:list/"+string(op.kind), text, n)
	return r, nil
}

// dataTypes names what a list of a kind holds (spec/docs/RULES.md, "Type names").
var dataTypes = map[spec.Kind]string{
	spec.KindTool:     "Tool",
	spec.KindResource: "Resource|ResourceTemplate",
	spec.KindPrompt:   "Prompt",
}

// info serves action info.
func (c *caller) info(op *operation, n *annotations) (*result, error) {
	if op.self() {
		return nil, &hub.UnknownError{Kind: op.kind, Name: op.path}
	}
	item, err := c.tool.hub.Find(op.kind, op.path)
	if err != nil {
		return nil, err
	}
	dataType := title(op.kind)
	if op.kind == spec.KindResource && rawjson.Get(item.JSON, "uriTemplate") != nil {
		dataType = "ResourceTemplate"
	}
	n.dataType(dataType)
	n.multiple(false)
	r := &result{}
	r.addResource("proxy:info/"+string(op.kind)+"/"+op.path, item.JSON, n)
	return r, nil
}

// self reports whether op is about this very tool, or another of its name.
func (op *operation) self() bool { return op.kind == spec.KindTool && op.path == Name }

// empty reports whether the filter lets all pass.
func (f *filter) empty() bool {
	return f.prefix == "" && f.domain == "" && f.query == "" && len(f.tags) == 0
}

// accepts reports whether an item passes all of the filter but its query.
func (f *filter) accepts(it *hub.Item, tags []string) bool {
	return strings.HasPrefix(it.Name, f.prefix) &&
		(f.domain == "" || strings.EqualFold(f.domain, string(it.Domain))) &&
		(len(f.tags) == 0 || slices.ContainsFunc(f.tags, func(t string) bool { return slices.Contains(tags, t) }))
}

// join returns the JSON array of items.
func join(items []hub.Item) json.RawMessage {
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
