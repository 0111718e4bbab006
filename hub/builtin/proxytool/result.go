package proxytool

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"tabhub/hub/core"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// metaKey is where _meta mirrors the annotations.
const metaKey = "tabhub/proxy"

// result is a CallToolResult under construction.
type result struct {
	blocks  []byte   // the content blocks, comma-separated
	count   int      // of blocks
	rest    []member // the other members, but isError
	isError bool
	call    string // the id of an operation of a batch, if it is a call
}

type member struct {
	key   string
	value json.RawMessage
}

func (r *result) json() json.RawMessage {
	out := make([]byte, 0, len(r.blocks)+64)
	out = append(out, `{"content":[`...)
	out = append(out, r.blocks...)
	out = append(out, ']')
	for _, m := range r.rest {
		out = rawjson.AppendMember(out, m.key, m.value)
	}
	if r.isError {
		out = append(out, `,"isError":true`...)
	}
	return append(out, '}')
}

// partial returns r, of operation at of a batch, as the _meta of the progress that tells it.
func (r *result) partial(at int) json.RawMessage {
	part := merge(nil, []member{{"proxyIndex", strconv.AppendInt(nil, int64(at), 10)}, {"result", r.json()}})
	return merge(nil, []member{{metaKey, part}})
}

// next makes room for one more block.
func (r *result) next() {
	if r.count > 0 {
		r.blocks = append(r.blocks, ',')
	}
	r.count++
}

// add appends a block with the annotations n.
func (r *result) add(block json.RawMessage, n *annotations) {
	r.next()
	r.blocks = n.appendTo(r.blocks, block)
}

// addResource appends an embedded resource whose text is JSON.
func (r *result) addResource(uri string, text []byte, n *annotations) {
	block := make([]byte, 0, len(text)+len(text)/8+256)
	block = append(block, `{"type":"resource","resource":{"uri":`...)
	block = rawjson.AppendString(block, uri)
	block = append(block, `,"mimeType":"application/json","text":`...)
	block = rawjson.AppendString(block, string(text))
	r.add(append(block, `}}`...), n)
}

func (r *result) addText(text string, n *annotations) {
	r.add(append(rawjson.AppendString([]byte(`{"type":"text","text":`), text), '}'), n)
}

// data is the result of an operation that answers with JSON: object is the same as an
// object. proxy embeds it as a resource, as the Proxy Extension has it. Some clients show a
// model no such resources, so proxy_read, which is not of that extension, has it as text.
func (c *caller) data(uri string, raw, object json.RawMessage, n *annotations) *result {
	r := &result{rest: []member{{"structuredContent", object}}}
	if c.readOnly {
		r.addText(string(raw), n)
	} else {
		r.addResource(uri, raw, n)
	}
	return r
}

// failure is a result that says what is wrong.
func failure(text string, n *annotations) *result {
	r := &result{isError: true}
	r.addText(text, n)
	return r
}

// asksBack reports whether the page that r is from needs something of the client first
// (builtin.AsksBack). That goes to the client as it is, whatever was asked of the page.
func (r *result) asksBack() bool {
	return slices.ContainsFunc(r.rest, func(m member) bool {
		return m.key == "resultType" && string(m.value) == `"input_required"`
	})
}

// failed is the result of an operation that ended with err. What the page, or the
// hub, said stays as it is; errors that were not made for models are hidden.
func failed(err error, n *annotations) *result {
	if f, ok := errors.AsType[*core.Failure](err); ok {
		if r, err := annotate(f.Result(), n); err == nil {
			return r
		}
	}
	if remote, ok := errors.AsType[*spec.Error](err); ok {
		text := strconv.AppendInt([]byte(`{"error":{"code":`), int64(remote.Code), 10)
		text = rawjson.AppendString(append(text, `,"message":`...), remote.Message)
		if remote.Data != nil {
			text = append(append(text, `,"data":`...), remote.Data...)
		}
		return failure(string(append(text, `}}`...)), n)
	}
	text := "internal error"
	if no, ok := errors.AsType[refusal](err); ok {
		text = no.Error()
	}
	return failure(text, n)
}

// annotate returns a CallToolResult with the annotations n on each block and all else as
// it is.
func annotate(raw json.RawMessage, n *annotations) (*result, error) {
	r := &result{}
	var content json.RawMessage
	err := rawjson.Object(raw, spec.MaxDepth, func(key string, value json.RawMessage) error {
		switch key {
		case "content":
			content = value
		case "isError":
			r.isError = string(value) == "true"
		default:
			r.rest = append(r.rest, member{key, value})
		}
		return nil
	})
	if err != nil || content == nil {
		return r, err
	}
	r.blocks = make([]byte, 0, len(content)+256)
	err = rawjson.Array(content, spec.MaxDepth, func(block json.RawMessage) error {
		r.add(block, n)
		return nil
	})
	return r, err
}
