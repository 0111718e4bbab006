package mcpserver

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"tabhub/spec/rawjson"
)

// frame is one outgoing JSON-RPC message, in parts, so that a large result is
// written from where it lies. None of the parts holds a line break.
type frame struct {
	head, body, tail []byte
	// owner is set on a progress notification: a newer one of the same owner may
	// take its place in the queue of a client that does not read.
	owner *request
	// of is who is answered; nil if nothing is kept of that.
	of asker
	// final marks the answer that ends an HTTP exchange.
	final bool
	// raw marks text of an event stream that is not a message: a comment, say.
	raw bool
}

// asker is told whether the answer to it was written to its client's connection.
type asker interface {
	Taken()
	Lost()
}

func (f *frame) size() int { return len(f.head) + len(f.body) + len(f.tail) }

// bytes returns the frame in one piece.
func (f *frame) bytes() []byte {
	return slices.Concat(f.head, f.body, f.tail)
}

const frameStart = `{"jsonrpc":"2.0","id":`

// comment is a keep-alive of an event stream. No empty line follows it, which some clients take for
// the end of an event without data when they have had an id.
var comment = frame{head: []byte(":\n"), raw: true}

// resultFrame answers id with a raw result. extra, if any, are members (without
// braces) that go first into the result, which then must be an object.
func resultFrame(id json.RawMessage, extra string, result json.RawMessage) frame {
	head := make([]byte, 0, len(frameStart)+len(id)+len(`,"result":{`)+len(extra)+1)
	head = append(head, frameStart...)
	head = append(head, id...)
	head = append(head, `,"result":`...)
	body := oneLine(result)
	if extra != "" {
		body = bytes.TrimLeft(body[1:], " ")
		head = append(head, '{')
		head = append(head, extra...)
		if body[0] != '}' {
			head = append(head, ',')
		}
	}
	return frame{head: head, body: body, tail: frameEnd}
}

var frameEnd = []byte("}")

// errorFrame answers id, nil for one that could not be read, with an error.
func errorFrame(id json.RawMessage, e *rpcError) frame {
	b := append(make([]byte, 0, 96+len(id)+len(e.message)+len(e.data)), frameStart...)
	if id == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, id...)
	}
	b = e.append(append(b, `,"error":`...))
	return frame{head: append(b, '}')}
}

// append appends the error as JSON-RPC has it.
func (e *rpcError) append(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"code":`...), int64(e.code), 10)
	b = append(b, `,"message":`...)
	b = rawjson.AppendString(b, e.message)
	if e.data != nil {
		b = append(b, `,"data":`...)
		b = append(b, oneLine(e.data)...)
	}
	return append(b, '}')
}

// noticeFrame is a notification with members (without braces) as its params.
func noticeFrame(method, params string) frame {
	b := make([]byte, 0, 48+len(method)+len(params))
	b = append(b, `{"jsonrpc":"2.0","method":"`...)
	b = append(b, method...)
	b = append(b, '"')
	if params != "" {
		b = append(b, `,"params":{`...)
		b = append(b, params...)
		b = append(b, '}')
	}
	return frame{head: append(b, '}')}
}

// oneLine returns JSON without line breaks. In a valid text they only stand
// between tokens, where a space means the same. What has none is returned as it is.
func oneLine(b []byte) []byte {
	if bytes.IndexByte(b, '\n') < 0 && bytes.IndexByte(b, '\r') < 0 {
		return b
	}
	b = bytes.Clone(b)
	for i, c := range b {
		if c == '\n' || c == '\r' {
			b[i] = ' '
		}
	}
	return b
}
