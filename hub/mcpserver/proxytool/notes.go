package proxytool

import (
	"encoding/json"
	"strconv"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// notes is what the tool says of a block: its annotations (spec/docs/RULES.md,
// "Answers"), and their mirror under _meta.
type notes struct {
	annotations []member
	mirror      []member
}

// notes returns those that an operation, number at of a batch, puts on each block.
func (op *operation) notes(at int) *notes {
	n := &notes{}
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

func (n *notes) add(key, neutral string, value json.RawMessage) {
	n.annotations = append(n.annotations, member{key, value})
	n.mirror = append(n.mirror, member{neutral, value})
}

func (n *notes) text(key, value string) { n.add(key, key, rawjson.AppendString(nil, value)) }

func (n *notes) number(key string, value int) {
	n.add(key, key, strconv.AppendInt(nil, int64(value), 10))
}

// dataType says what a JSON text decodes to.
func (n *notes) dataType(name string) {
	n.add("pythonType", "dataType", rawjson.AppendString(nil, name))
}

// multiple says whether it is a list of them.
func (n *notes) multiple(b bool) { n.add("many", "multiple", strconv.AppendBool(nil, b)) }

// appendTo appends a content block with the notes; its own annotations and _meta are
// kept.
func (n *notes) appendTo(dst []byte, block json.RawMessage) []byte {
	if len(block) == 0 || block[0] != '{' {
		return append(dst, block...) // not a block, and not for us to mend
	}
	var annotations, meta json.RawMessage
	dst = append(dst, '{')
	rawjson.Object(block, spec.MaxDepth, func(key string, value json.RawMessage) error {
		switch key {
		case "annotations":
			annotations = value
		case "_meta":
			meta = value
		default:
			dst = appendMember(dst, key, value)
		}
		return nil
	})
	dst = appendMember(dst, "annotations", merge(annotations, n.annotations))
	dst = appendMember(dst, "_meta", merge(meta, []member{{metaKey, merge(nil, n.mirror)}}))
	return append(dst, '}')
}

// merge returns the object raw, if it is one, with members set.
func merge(raw json.RawMessage, members []member) json.RawMessage {
	out := append(make([]byte, 0, len(raw)+256), '{')
	if len(raw) > 0 && raw[0] == '{' {
		rawjson.Object(raw, spec.MaxDepth, func(key string, value json.RawMessage) error {
			for _, m := range members {
				if m.key == key {
					return nil
				}
			}
			out = appendMember(out, key, value)
			return nil
		})
	}
	for _, m := range members {
		out = appendMember(out, m.key, m.value)
	}
	return append(out, '}')
}
