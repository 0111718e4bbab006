package item

import (
	"encoding/json"
	"slices"
	"strings"

	"tabhub/describe"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// outline is what one pass over a result shows.
type outline struct {
	content byte // the first byte of its content, 0 if it has none
	tool    bool // it has another member that tells a CallToolResult
	special bool // there may be something in it that is not a client's to see
}

// outlineOf reads the members of a result and of the MCP objects in it.
func outlineOf(result json.RawMessage) (o outline) {
	rawjson.Walk(result, func(at int, key string, first byte) bool {
		switch key {
		case "content":
			if at == 1 {
				o.content = first
			}
		case "structuredContent", "isError", "resultType":
			o.tool = o.tool || at == 1
		case "_meta", "icons", "inputRequests":
			o.special = true
		}
		return slices.Contains(objectMembers, key)
	})
	return o
}

func (o outline) isToolResult() bool { return o.content == '[' || o.content == 0 && o.tool }

// objectMembers are the members of results that hold further objects of MCP's, or
// arrays of them: content blocks, resources, messages, and requests to the client.
var objectMembers = []string{"content", "contents", "messages", "resource", "params"}

// publish returns what a page answered as clients get it: each `_meta` that MCP knows
// there as metaOf has it, and icons as iconsOf has them. All else stays the bytes that
// it is. Most answers have neither.
func (it *Item) publish(result json.RawMessage) json.RawMessage {
	if !outlineOf(result).special {
		return result
	}
	return it.publishResult(result)
}

func (it *Item) publishResult(result json.RawMessage) json.RawMessage {
	return it.publishObject(make([]byte, 0, len(result)), result)
}

// publishObject appends one object of MCP's.
func (it *Item) publishObject(out []byte, object json.RawMessage) []byte {
	out = append(out, '{')
	for key, v := range rawjson.Members(object) {
		switch key {
		case "_meta":
			if v = metaOf(it.Domain, v); v == nil {
				continue
			}
		case "icons":
			if v = it.iconsOf(v, ignore); v == nil {
				continue
			}
		}
		out = appendKey(out, key)
		switch {
		case key == "inputRequests" && v[0] == '{':
			out = append(out, '{')
			for key, v := range rawjson.Members(v) {
				if !strings.HasPrefix(key, HubRequests) {
					out = it.publishValue(appendKey(out, key), it.signed(v))
				}
			}
			out = append(out, '}')
		case slices.Contains(objectMembers, key):
			out = it.publishValue(out, v)
		default:
			out = append(out, v...)
		}
	}
	return append(out, '}')
}

// HubRequests is how the keys begin of what the hub itself asks a client, beside a page. No
// page's do.
const HubRequests = "tabhub/"

// signed returns a page's request to the client's user with the page's site before its words,
// on one line: the client shows what all pages ask, and what the hub asks, as being of one
// server, and it has to be seen who asks.
func (it *Item) signed(request json.RawMessage) json.RawMessage {
	return replace(request, "params", func(params json.RawMessage) json.RawMessage {
		return replace(params, "message", func(message json.RawMessage) json.RawMessage {
			text, ok := rawjson.String(message)
			if !ok {
				return message
			}
			return rawjson.AppendString(nil, string(it.Domain)+" asks: "+describe.Clean(text, spec.MaxDescription))
		})
	})
}

// replace returns an object with another value for each member of a name. What is no object
// stays as it is.
func replace(object json.RawMessage, name string, by func(json.RawMessage) json.RawMessage) json.RawMessage {
	if object[0] != '{' {
		return object
	}
	return mapMembers(object, func(key string, v json.RawMessage) json.RawMessage {
		if key == name {
			return by(v)
		}
		return v
	})
}

func (it *Item) publishValue(out []byte, v json.RawMessage) []byte {
	switch v[0] {
	case '{':
		return it.publishObject(out, v)
	case '[':
		out = append(out, '[')
		for e := range rawjson.Elements(v) {
			out = it.publishValue(appendComma(out), e)
		}
		return append(out, ']')
	}
	return append(out, v...)
}
