package wsserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// dialect is the wire language of one connection: it turns frames into events and
// what the hub sends into frames. decode and name are only called by the
// connection's reader; the append methods, which do not change the dialect, by
// anyone once the peer is admitted. Those append a frame to dst; a nil frame says
// that the language has no such message.
type dialect interface {
	name() string
	helloTimeout() time.Duration
	// decode reads a frame into a zero event. The event may share memory with the
	// frame in result only. The error says why it is not JSON.
	decode(frame []byte, ev *event) error
	// concerns reads from the start of a frame that is too large or nested too deeply
	// what it was about: the request of the hub that it answers, in requestID, or the
	// request of the peer that it is, in id.
	concerns(frame []byte, ev *event)

	appendOpening(dst []byte) []byte // what the server says first
	appendWelcome(dst []byte, id json.RawMessage, result spec.HelloResult) []byte
	appendRefusal(dst []byte, id json.RawMessage, err *spec.Error) []byte
	// appendRequest fails with ErrUnsupported. ago is when the request was first sent,
	// 0 if this is the first time.
	appendRequest(dst []byte, tab int64, id string, req spec.Request, ago time.Duration) ([]byte, error)
	appendCancel(dst []byte, tab int64, cancel spec.Cancel) []byte
	appendResponse(dst []byte, tab int64, id json.RawMessage, result any, err *spec.Error) []byte
	appendPing(dst []byte, id string) []byte // nil: a WebSocket ping will do
}

type eventKind int

const (
	evIgnored   eventKind = iota
	evPair                // pair, id
	evHello               // hello, id; claimedOrigin, claimKey
	evMessage             // tab, id, msg; early
	evAnswer              // tab, requestID, and result or err
	evProgress            // tab, progress
	evPing                // tab, id
	evDashboard           // tab, id
	evInvalid             // err; id, tab if it can be answered
	evRefused             // err, id: a hello that cannot be accepted
)

// event is what a frame says.
type event struct {
	kind eventKind
	tab  int64
	id   json.RawMessage // of a request of the peer, nil for a notification

	pair          *spec.Pair
	hello         *spec.Hello // nil for a proxy that does not say hello
	claimedOrigin string
	claimKey      bool // hello.TabKey must be unique among live connections

	msg   spec.Inbound
	early bool // to be ignored before hello

	requestID string
	result    json.RawMessage // raw, shares memory with the frame; nil if missing
	outcome   bool            // result is {success, payload} if it answers an ExecuteTool
	err       *spec.Error

	progress spec.Progress
}

func (ev *event) invalid(id json.RawMessage, err *spec.Error) {
	ev.kind, ev.id, ev.err = evInvalid, id, err
}

// answer returns what an evAnswer says to req.
func (ev *event) answer(req spec.Request) (spec.Response, error) {
	if ev.err != nil {
		return spec.Response{}, ev.err
	}
	if _, executed := req.(*spec.ExecuteTool); executed && ev.outcome {
		return outcomeOf(ev.result), nil
	}
	if ev.result == nil {
		return spec.Response{Result: json.RawMessage("null")}, nil
	}
	return spec.Response{Result: bytes.Clone(ev.result)}, nil
}

// outcomeOf reads {success, payload}. Anything else is taken for the payload of a
// tool that has succeeded: proxies that were written for plain MCP answer so.
func outcomeOf(result json.RawMessage) spec.Response {
	success := rawjson.Get(result, "success")
	switch string(success) {
	case "true":
		payload := rawjson.Get(result, "payload")
		if payload == nil {
			payload = json.RawMessage("null")
		}
		return spec.Response{Result: bytes.Clone(payload)}
	case "false":
		return spec.Response{Result: failure(rawjson.Get(result, "payload")), Failed: true}
	}
	if len(result) == 0 {
		result = json.RawMessage("null")
	}
	return spec.Response{Result: bytes.Clone(result)}
}

// failure returns payload as spec.Response wants it for a failed call: a message or
// a CallToolResult.
func failure(payload json.RawMessage) json.RawMessage {
	switch {
	case payload == nil || string(payload) == "null":
		return json.RawMessage(`"the tool failed and did not say why"`)
	case payload[0] == '"', payload[0] == '{' && rawjson.Get(payload, "content") != nil:
		return bytes.Clone(payload)
	}
	return rawjson.AppendString(nil, string(payload))
}

// clone copies a value out of a frame that is about to be reused.
func clone(raw json.RawMessage) json.RawMessage { return bytes.Clone(raw) }

// str returns the string that raw is, "" if it is none, in memory of its own.
func str(raw json.RawMessage) string {
	s, _ := rawjson.String(raw)
	return string([]byte(s))
}

func appendRaw(dst []byte, key string, raw json.RawMessage) []byte {
	dst = append(dst, key...)
	return append(dst, raw...)
}

// appendArgs appends a call's arguments; none are an empty object.
func appendArgs(dst []byte, args json.RawMessage) []byte {
	if len(args) == 0 {
		return append(dst, "{}"...)
	}
	return append(dst, args...)
}

// marshal encodes a value of package spec, without HTML escapes.
func marshal(v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return raw, nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// opening is the dialect of a connection to /tabs before its first frame, which
// tells which it is.
type opening struct {
	tabhub
	conn *conn
}

func (o *opening) decode(frame []byte, ev *event) error {
	var isPort bool
	var f rpcFrame
	err := rawjson.Object(frame, spec.MaxDepth, func(key string, value json.RawMessage) error {
		switch key {
		case "type":
			isPort = true
		case "id":
			f.id = value
		case "jsonrpc", "method":
			return errRPC
		}
		return nil
	})
	switch {
	case errors.Is(err, errRPC):
		o.conn.dialect = &tabhub{}
	case err != nil:
		return err
	case isPort:
		o.conn.dialect = &port{}
	default:
		return f.refuse(ev, spec.CodeInvalidRequest, "neither JSON-RPC nor a port message")
	}
	return o.conn.dialect.decode(frame, ev)
}

var errRPC = errors.New("is JSON-RPC")
