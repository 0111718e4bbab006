package jsonrpc

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Frame is one outgoing JSON-RPC message, in parts, so that a large result is
// written from where it lies. None of the parts holds a line break.
type Frame struct {
	Head, Body, Tail []byte
	// Owner is set on a progress notification: a newer one of the same owner may
	// take its place in the queue of a client that does not read.
	Owner any
	// To learns whether the frame was written; it may be nil.
	To Receiver
	// Final marks the answer that ends an HTTP exchange.
	Final bool
	// Status is the HTTP status of an answer; 0 is 200.
	Status int
	// Raw marks text of an event stream that is not a message: a comment, say.
	Raw bool
}

// Receiver learns whether a frame was written to the client's connection.
type Receiver interface {
	Taken()
	Lost()
}

func (f *Frame) Size() int { return len(f.Head) + len(f.Body) + len(f.Tail) }

// Bytes returns the frame in one piece.
func (f *Frame) Bytes() []byte {
	return slices.Concat(f.Head, f.Body, f.Tail)
}

const FrameStart = `{"jsonrpc":"2.0","id":`

// Comment is a keep-alive of an event stream. No empty line follows it, which some clients take for
// the end of an event without data when they have had an id.
var Comment = Frame{Head: []byte(":\n"), Raw: true}

// Result answers id with a raw result. extra, if any, are members (without
// braces) that go first into the result, which then must be an object.
func Result(id json.RawMessage, extra string, result json.RawMessage) Frame {
	head := make([]byte, 0, len(FrameStart)+len(id)+len(`,"result":{`)+len(extra)+1)
	head = append(head, FrameStart...)
	head = append(head, id...)
	head = append(head, `,"result":`...)
	body := OneLine(result)
	if extra != "" {
		body = bytes.TrimLeft(body[1:], " ")
		head = append(head, '{')
		head = append(head, extra...)
		if body[0] != '}' {
			head = append(head, ',')
		}
	}
	return Frame{Head: head, Body: body, Tail: FrameEnd}
}

var FrameEnd = []byte("}")

// Failure answers id, nil for one that could not be read, with an error.
func Failure(id json.RawMessage, e *Error) Frame {
	b := append(make([]byte, 0, 96+len(id)+len(e.Message)+len(e.Data)), FrameStart...)
	if id == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, id...)
	}
	b = e.Append(append(b, `,"error":`...))
	return Frame{Head: append(b, '}'), Status: e.Status}
}

// Notification is a notification with members (without braces) as its params.
func Notification(method, params string) Frame {
	b := make([]byte, 0, 48+len(method)+len(params))
	b = append(b, `{"jsonrpc":"2.0","method":"`...)
	b = append(b, method...)
	b = append(b, '"')
	if params != "" {
		b = append(b, `,"params":{`...)
		b = append(b, params...)
		b = append(b, '}')
	}
	return Frame{Head: append(b, '}')}
}

// OneLine returns JSON without line breaks. In a valid text they only stand
// between tokens, where a space means the same. What has none is returned as it is.
func OneLine(b []byte) []byte {
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
