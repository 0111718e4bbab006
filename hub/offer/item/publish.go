package item

import (
	"encoding/json"
	"slices"
	"strings"

	"tabhub/describe"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// objectMembers are the members of results that hold further objects of MCP's, or
// arrays of them: content blocks, resources, messages, and requests to the client.
var objectMembers = []string{"content", "contents", "messages", "resource", "params"}

// publish returns a member that any object of MCP's may have as clients get it, nil to leave it out:
// `_meta`, icons, annotations, and a page's requests to the client.
func (it *Item) publish(key string, v json.RawMessage) json.RawMessage {
	switch key {
	case "_meta":
		return metaOf(it.Domain, v)
	case "icons":
		return it.iconsOf(v, ignore)
	case "annotations":
		return annotationsOf(v)
	case "inputRequests":
		return it.inputRequests(v)
	}
	return v
}

// annotationsOf returns what clients can read of a block's annotations.
func annotationsOf(v json.RawMessage) json.RawMessage {
	if v[0] != '{' {
		return nil
	}
	return edit(v, func(key string, v json.RawMessage) json.RawMessage {
		if t, ok := otherAnnotationMembers[key]; ok && !t.is(v) {
			return nil
		}
		return v
	})
}

// HubRequests is how the keys of the hub's own requests to a client begin. A page's do not.
const HubRequests = "tabhub/"

// inputRequests returns a page's questions to the client's user, each on one line with the page's
// site before it: to the client the questions of all pages and of the hub come from one server, and
// the user has to see which site asks.
func (it *Item) inputRequests(v json.RawMessage) json.RawMessage {
	if v[0] != '{' {
		return v
	}
	return edit(v, func(key string, request json.RawMessage) json.RawMessage {
		if strings.HasPrefix(key, HubRequests) {
			return nil
		}
		return it.publishAll(replace(request, "params", func(params json.RawMessage) json.RawMessage {
			return replace(params, "message", func(message json.RawMessage) json.RawMessage {
				words := describe.Clean(textOf(message), spec.MaxDescription)
				if words == "" || string(message) == "null" {
					return nil
				}
				return rawjson.AppendString(nil, string(it.Domain)+" asks: "+words)
			})
		}))
	})
}

// publishAll is publish for all members of an object and of the objects of MCP's in it.
func (it *Item) publishAll(v json.RawMessage) json.RawMessage {
	return editAll(v, func(_ json.RawMessage, key string, v json.RawMessage) json.RawMessage { return it.publish(key, v) })
}

// editAll is edit for an object and the objects of MCP's in it; f also gets the object that a
// member is of.
func editAll(v json.RawMessage, f func(object json.RawMessage, key string, v json.RawMessage) json.RawMessage) json.RawMessage {
	switch v[0] {
	case '[':
		return editElements(v, func(v json.RawMessage) json.RawMessage { return editAll(v, f) })
	case '{':
		return edit(v, func(key string, member json.RawMessage) json.RawMessage {
			if slices.Contains(objectMembers, key) {
				return editAll(member, f)
			}
			return f(v, key, member)
		})
	}
	return v
}

// textOf returns the text of a string, or the JSON of another value.
func textOf(v json.RawMessage) string {
	if s, ok := rawjson.String(v); ok {
		return s
	}
	return string(v)
}

// replace returns an object with another value for each member of a name. What is no object
// stays as it is.
func replace(object json.RawMessage, name string, by func(json.RawMessage) json.RawMessage) json.RawMessage {
	if object[0] != '{' {
		return object
	}
	return edit(object, func(key string, v json.RawMessage) json.RawMessage {
		if key == name {
			return by(v)
		}
		return v
	})
}

// edit returns an object with what f makes of each of its members; nil takes one out. It is the
// object itself if f leaves them all as they are.
func edit(object json.RawMessage, f func(key string, v json.RawMessage) json.RawMessage) json.RawMessage {
	made, changed := make([]json.RawMessage, 0, 8), false
	for key, v := range rawjson.Members(object) {
		w := f(key, v)
		made, changed = append(made, w), changed || !same(v, w)
	}
	if !changed {
		return object
	}
	out := append(make([]byte, 0, len(object)+64), '{')
	i := 0
	for key := range rawjson.Members(object) {
		if v := made[i]; v != nil {
			out = rawjson.AppendMember(out, key, v)
		}
		i++
	}
	return append(out, '}')
}

// editElements is edit for an array. What f returns may be several elements, with commas between.
func editElements(array json.RawMessage, f func(v json.RawMessage) json.RawMessage) json.RawMessage {
	made, changed := make([]json.RawMessage, 0, 8), false
	for v := range rawjson.Elements(array) {
		w := f(v)
		made, changed = append(made, w), changed || !same(v, w)
	}
	if !changed {
		return array
	}
	out := append(make([]byte, 0, len(array)+64), '[')
	for _, v := range made {
		if v != nil {
			out = append(appendComma(out), v...)
		}
	}
	return append(out, ']')
}

// same reports whether two values are the same bytes in memory.
func same(a, b json.RawMessage) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
