package item

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tabhub/hub/offer/keyword"
	"tabhub/spec/rawjson"
)

// Clients check a result against the types of MCP and drop all of it if one member has another
// type: the call has run, and nobody learns what it returned. Model APIs refuse a request for
// one image or half a surrogate pair in it, and each later request of the conversation. So
// the hub makes answers fit, and passes as text what no type of MCP can hold.

// mender makes a page's answer readable. Its methods return their argument, the same
// bytes in memory, if it is readable already.
type mender struct {
	*Item
	page, public string // of a resource that was read: the page's URI, and the one that the client knows
	made         int    // how many URIs were made up
	changes      []string
}

// changed notes what was changed, in a few words.
func (m *mender) changed(what string) {
	if !slices.Contains(m.changes, what) {
		m.changes = append(m.changes, what)
	}
}

// summary says what was changed.
func (m *mender) summary() string { return strings.Join(m.changes, ", ") }

// textBlock returns a text block.
func textBlock(s string) json.RawMessage {
	return append(rawjson.AppendString([]byte(`{"type":"text","text":`), s), '}')
}

// block returns a ContentBlock of MCP for an element of a result's content.
func (m *mender) block(v json.RawMessage) json.RawMessage {
	if v[0] != '{' {
		m.changed("content that was no block")
		return textBlock(textOf(v))
	}
	var data, mimeType json.RawMessage
	kind := ""
	for key, v := range rawjson.Members(v) { // once, as data may be large
		switch key {
		case "type":
			kind, _ = rawjson.String(v)
		case "data":
			data = v
		case "mimeType":
			mimeType = v
		}
	}
	switch kind {
	case "text":
		if t := rawjson.Get(v, "text"); t == nil {
			return m.says(v, kind)
		} else if t[0] != '"' {
			m.changed("a text that was no string")
			v = set(v, "text", rawjson.AppendString(nil, textOf(t)))
		}
	case "image", "audio":
		return m.media(v, kind, data, mimeType)
	case "resource":
		resource := rawjson.Get(v, "resource")
		if resource == nil || resource[0] != '{' {
			return m.says(v, kind)
		}
		v = set(v, "resource", m.resource(resource))
	case "resource_link":
		if uri, ok := rawjson.String(rawjson.Get(v, "uri")); !ok || !isURI(uri) {
			return m.says(v, kind)
		}
		v = m.link(v)
	default:
		return m.says(v, kind)
	}
	return m.members(v)
}

// members publishes the members that any object of MCP's may have.
func (m *mender) members(v json.RawMessage) json.RawMessage { return edit(v, m.publish) }

// says returns a text block for a block that is none of MCP's.
func (m *mender) says(v json.RawMessage, kind string) json.RawMessage {
	m.changed("a block that is none of MCP's")
	var only json.RawMessage
	others := 0
	for key, v := range rawjson.Members(v) {
		switch key {
		case "type", "annotations", "_meta":
		case "text", kind:
			only = v
			others++
		default:
			others++
		}
	}
	if kindless := rawjson.Get(v, "type"); only == nil || others != 1 || kindless != nil && kind == "" {
		only = v
	}
	return textBlock(textOf(only))
}

// link mends the members of a resource link that clients check.
func (m *mender) link(v json.RawMessage) json.RawMessage {
	v = edit(v, func(key string, v json.RawMessage) json.RawMessage {
		switch key {
		case "name", "title", "description", "mimeType":
			return m.str(v)
		case "size":
			if !isSize.is(v) {
				m.changed("a size that was none")
				return nil
			}
		}
		return v
	})
	if rawjson.Get(v, "name") == nil {
		m.changed("a link without a name")
		v = set(v, "name", rawjson.Get(v, "uri"))
	}
	return v
}

// str returns the string that a member must be, nil for a null.
func (m *mender) str(v json.RawMessage) json.RawMessage {
	switch v[0] {
	case '"':
		return v
	case 'n':
		return nil
	}
	m.changed("a member that was no string")
	return rawjson.AppendString(nil, string(v))
}

// resource returns the contents of a resource as a client can read them: with a URI, and a text
// or a blob.
func (m *mender) resource(v json.RawMessage) json.RawMessage {
	if v[0] != '{' {
		m.changed("contents that were no object")
		return m.textResource("", textOf(v))
	}
	whole := v
	uri, _ := rawjson.String(rawjson.Get(v, "uri"))
	switch {
	case uri != "" && uri == m.page:
		if m.page != m.public {
			v = set(v, "uri", rawjson.AppendString(nil, m.public))
		}
	case !isURI(uri):
		m.changed("a URI that was none")
		v = set(v, "uri", rawjson.AppendString(nil, m.uri()))
	}
	v = edit(v, func(key string, v json.RawMessage) json.RawMessage {
		if key == "mimeType" && v[0] != '"' {
			m.changed("a MIME type that was none")
			return nil
		}
		return m.publish(key, v)
	})
	t, blob := rawjson.Get(v, "text"), rawjson.Get(v, "blob")
	switch {
	case t != nil:
		if t[0] != '"' {
			m.changed("a text that was no string")
			v = set(v, "text", rawjson.AppendString(nil, textOf(t)))
		}
		if blob != nil && !isString.is(blob) {
			v = set(v, "blob", nil)
		}
	case blob != nil:
		v = m.blob(v, blob)
	default:
		m.changed("a resource without text and blob")
		v = set(v, "text", rawjson.AppendString(nil, string(whole)))
	}
	return v
}

// textResource returns the contents of a resource that are a text.
func (m *mender) textResource(mimeType, s string) json.RawMessage {
	out := rawjson.AppendStringMember([]byte{'{'}, "uri", m.uri())
	if mimeType != "" {
		out = rawjson.AppendStringMember(out, "mimeType", mimeType)
	}
	return append(rawjson.AppendStringMember(out, "text", s), '}')
}

// uri returns the URI for a resource that has none: the one that was read, or a new one.
func (m *mender) uri() string {
	if m.public != "" {
		return m.public
	}
	m.made++
	return "tabhub:attachment/" + strconv.Itoa(m.made)
}

// isURI reports whether s is an absolute URI, as Python clients want each to be.
func isURI(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" {
		return false
	}
	switch u.Scheme {
	case "http", "https", "ws", "wss", "ftp": // of these they look at the host, too
		port, err := strconv.ParseUint("0"+u.Port(), 10, 16)
		return err == nil && port < 1<<16 && u.Hostname() != "" && !strings.ContainsAny(u.Hostname(), " <>^|%\"`{}")
	}
	return true
}

// set returns an object with another value of a member; nil takes it out.
func set(object json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	if rawjson.Get(object, name) != nil || value == nil {
		return edit(object, func(key string, v json.RawMessage) json.RawMessage {
			if key == name {
				return value
			}
			return v
		})
	}
	out := append(make([]byte, 0, len(object)+len(name)+len(value)+4), object[:len(object)-1]...)
	return append(rawjson.AppendMember(out, name, value), '}')
}

// asksBack reports whether a result asks the client for input first, in a valid form.
func asksBack(v json.RawMessage) bool {
	if string(rawjson.Get(v, "resultType")) != `"input_required"` {
		return false
	}
	requests := rawjson.Get(v, "inputRequests")
	if requests == nil || string(requests) == "{}" {
		return rawjson.Get(v, "requestState") != nil
	}
	for _, request := range rawjson.Members(requests) {
		if method := rawjson.Get(request, "method"); method == nil || !isString.is(method) {
			return false
		}
	}
	return requests[0] == '{'
}

// resourceResult mends a ReadResourceResult, or makes one of another answer.
func (m *mender) resourceResult(v json.RawMessage) (json.RawMessage, error) {
	var contents json.RawMessage
	switch {
	case v[0] == '[':
		contents, v = v, json.RawMessage("{}")
	case v[0] != '{':
		if s := textOf(v); s != "null" {
			contents, v = keyword.ArrayOf(m.resource(v)), json.RawMessage("{}")
			break
		}
		return nil, errors.New("the page answered with nothing")
	case string(rawjson.Get(v, "isError")) == "true":
		return nil, fmt.Errorf("the page answered with an error: %s", v)
	case asksBack(v):
		return m.members(v), nil
	default:
		contents = rawjson.Get(v, "contents")
	}
	switch {
	case contents == nil, string(contents) == "null":
		m.changed("a resource without contents")
		contents = keyword.ArrayOf(m.resource(set(v, "contents", nil)))
		v = json.RawMessage("{}")
	case contents[0] != '[':
		m.changed("contents that were no list")
		contents = keyword.ArrayOf(m.resource(contents))
	default:
		contents = editElements(contents, m.resource)
	}
	ttl, scope := rawjson.Get(v, "ttlMs"), rawjson.Get(v, "cacheScope")
	keeps := ttl != nil && isSize.is(ttl) && scope != nil && oneOf(scope, "public", "private")
	v = edit(v, func(key string, v json.RawMessage) json.RawMessage {
		switch key {
		case "resultType":
			if string(v) != `"complete"` {
				return nil
			}
		case "ttlMs", "cacheScope":
			if !keeps {
				return nil
			}
		}
		return m.publish(key, v)
	})
	return set(v, "contents", contents), nil
}

// promptResult mends a GetPromptResult, or makes one of another answer.
func (m *mender) promptResult(v json.RawMessage) (json.RawMessage, error) {
	messages := v
	switch {
	case string(v) == "null", string(v) == `""`:
		return nil, errors.New("the page answered with nothing")
	case v[0] != '{':
		v = json.RawMessage("{}")
	case string(rawjson.Get(v, "isError")) == "true":
		return nil, fmt.Errorf("the page answered with an error: %s", v)
	case asksBack(v):
		return m.members(v), nil
	default:
		if messages = rawjson.Get(v, "messages"); messages == nil || string(messages) == "null" {
			messages, v = v, json.RawMessage("{}")
		}
	}
	if messages[0] == '[' {
		messages = editElements(messages, m.message)
	} else {
		m.changed("messages that were no list")
		messages = keyword.ArrayOf(m.message(messages))
	}
	v = edit(v, func(key string, v json.RawMessage) json.RawMessage {
		switch key {
		case "description":
			return m.str(v)
		case "resultType":
			if string(v) != `"complete"` {
				return nil
			}
		}
		return m.publish(key, v)
	})
	return set(v, "messages", messages), nil
}

// message returns MCP's messages for a message of a prompt: one, or several with commas between if
// its content is a list.
func (m *mender) message(v json.RawMessage) json.RawMessage {
	content := rawjson.Get(v, "content")
	if s := string(content); v[0] != '{' || s == "" || s == "null" || s == "[]" {
		m.changed("a message that was none")
		return userMessage(textOf(v))
	}
	var out json.RawMessage
	if role := rawjson.Get(v, "role"); role == nil || !oneOf(role, "user", "assistant") {
		m.changed("a role that prompts do not have")
		if role != nil {
			out = append(userMessage("The page gives what follows the role "+textOf(role)+"."), ',')
		}
		v = set(v, "role", json.RawMessage(`"user"`))
	}
	v = m.members(v)
	if content[0] != '[' {
		return append(out, set(v, "content", m.block(content))...)
	}
	m.changed("a message of several blocks")
	for block := range rawjson.Elements(content) {
		out = append(append(out, set(v, "content", m.block(block))...), ',')
	}
	return out[:len(out)-1]
}

func userMessage(s string) json.RawMessage {
	return append(append(json.RawMessage(`{"role":"user","content":`), textBlock(s)...), '}')
}
