package proxytool

import (
	"encoding/json"
	"slices"
	"strconv"

	"tabhub/spec/rawjson"
)

// annotations are what the tool says of a block (spec/PROTOCOL.md, "Answers").
type annotations struct {
	members []member // of the block's annotations
	mirror  []member // the same under _meta
}

// annotations returns those that an operation, number at of a batch, puts on each block.
func (op *operation) annotations(at int) *annotations {
	n := &annotations{}
	if op.action != "" {
		n.text("proxyAction", op.action)
	}
	if op.kind != "" {
		n.text("proxyType", string(op.kind))
	}
	if op.path != "" && (op.action == actionInfo || op.action == actionCall) {
		n.text("proxyPath", op.path)
	}
	if at != whole {
		n.number("proxyIndex", at)
	}
	return n
}

func (n *annotations) add(key, neutral string, value json.RawMessage) {
	n.members = append(n.members, member{key, value})
	n.mirror = append(n.mirror, member{neutral, value})
}

func (n *annotations) text(key, value string) { n.add(key, key, rawjson.AppendString(nil, value)) }

func (n *annotations) number(key string, value int) {
	n.add(key, key, strconv.AppendInt(nil, int64(value), 10))
}

// dataType says what a JSON text decodes to.
func (n *annotations) dataType(name string) {
	n.add("pythonType", "dataType", rawjson.AppendString(nil, name))
}

// multiple says whether it is a list of them.
func (n *annotations) multiple(b bool) { n.add("many", "multiple", strconv.AppendBool(nil, b)) }

// appendTo appends a content block with the annotations, beside those and the _meta that it
// has.
func (n *annotations) appendTo(dst []byte, block json.RawMessage) []byte {
	if len(block) == 0 || block[0] != '{' {
		return append(dst, block...) // not a block, and not for us to mend
	}
	var given, meta json.RawMessage
	dst = append(dst, '{')
	for key, value := range rawjson.Members(block) {
		switch key {
		case "annotations":
			given = value
		case "_meta":
			meta = value
		default:
			dst = rawjson.AppendMember(dst, key, value)
		}
	}
	dst = rawjson.AppendMember(dst, "annotations", merge(given, n.members))
	dst = rawjson.AppendMember(dst, "_meta", merge(meta, []member{{metaKey, merge(nil, n.mirror)}}))
	return append(dst, '}')
}

// merge returns the object raw, if it is one, with members set.
func merge(raw json.RawMessage, members []member) json.RawMessage {
	out := append(make([]byte, 0, len(raw)+256), '{')
	if len(raw) > 0 && raw[0] == '{' {
		for key, value := range rawjson.Members(raw) {
			if !slices.ContainsFunc(members, func(m member) bool { return m.key == key }) {
				out = rawjson.AppendMember(out, key, value)
			}
		}
	}
	for _, m := range members {
		out = rawjson.AppendMember(out, m.key, m.value)
	}
	return append(out, '}')
}
