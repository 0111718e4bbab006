package wsserver

import (
	"bytes"
	"encoding/json"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
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
	// concerns finds, from the start of a frame that is too large or nested too deeply,
	// the request of the hub that it answers, in requestID, or the id of the peer's request
	// that it is, in id.
	concerns(frame []byte, ev *event)

	appendOpening(dst []byte) []byte // what the server says first
	appendWelcome(dst []byte, id json.RawMessage, result spec.HelloResult) []byte
	appendRefusal(dst []byte, id json.RawMessage, err *spec.Error) []byte
	// appendRequest fails with ErrUnsupported. ago is when the request was first sent,
	// 0 if this is the first time.
	appendRequest(dst []byte, out tabtransport.Outgoing, ago time.Duration) ([]byte, error)
	appendCancel(dst []byte, tab int64, cancel spec.Cancel) []byte
	appendResponse(dst []byte, tab int64, id json.RawMessage, result any, err *spec.Error) []byte
	appendPing(dst []byte, id string) []byte // nil: a WebSocket ping will do
}

// members are those of a frame that a dialect knows; each reads its own. They share
// memory with the frame, and are nil where it has none.
type members struct {
	jsonrpc, id, method, params, result, err json.RawMessage
	kind, tools, data, args                  json.RawMessage
	tabID, callID, requestID, toolName       json.RawMessage
	origin, url, title                       json.RawMessage
}

func (m *members) read(frame []byte) error {
	return rawjson.Object(frame, spec.MaxDepth, func(key string, value json.RawMessage) error {
		switch key {
		case "jsonrpc":
			m.jsonrpc = value
		case "id":
			m.id = value
		case "method":
			m.method = value
		case "params":
			m.params = value
		case "result":
			m.result = value
		case "error":
			m.err = value
		case "type":
			m.kind = value
		case "tools":
			m.tools = value
		case "data":
			m.data = value
		case "args":
			m.args = value
		case "tabId":
			m.tabID = value
		case "callId":
			m.callID = value
		case "requestId":
			m.requestID = value
		case "toolName":
			m.toolName = value
		case "origin":
			m.origin = value
		case "url":
			m.url = value
		case "title":
			m.title = value
		}
		return nil
	})
}

type eventKind int

const (
	evIgnored  eventKind = iota
	evPair               // pair, id
	evHello              // hello, id; claimedOrigin, claimKey
	evMessage            // tab, id, msg; early
	evAnswer             // tab, requestID, and result or err
	evProgress           // tab, progress
	evPing               // tab, id
	evOwner              // tab, id, asked: a request for the owner of the hub
	evInvalid            // err; id, tab if it can be answered
	evRefused            // err, id: a hello that cannot be accepted
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
	asked    any // pointer to the parameters: *spec.Dashboard, *spec.Pause, …
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
	return spec.Response{Result: orNull(ev.result)}, nil
}

// outcomeOf reads {success, payload, page}. Anything else is taken for the payload of a
// tool that has succeeded: proxies that were written for plain MCP answer so.
func outcomeOf(result json.RawMessage) spec.Response {
	var success, payload, page json.RawMessage
	for key, value := range rawjson.Members(result) {
		switch key {
		case "success":
			success = value
		case "payload":
			payload = value
		case "page":
			page = value
		}
	}
	var resp spec.Response
	switch string(success) {
	case "true":
		resp.Result = orNull(payload)
	case "false":
		resp.Result, resp.Failed = failure(payload), true
	default:
		return spec.Response{Result: orNull(result)}
	}
	if where := new(spec.Page); page != nil && spec.Decode(page, where) == nil {
		resp.Page = where
	}
	return resp
}

// orNull returns a copy of a value, null if it is missing.
func orNull(value json.RawMessage) json.RawMessage {
	if len(value) == 0 {
		return json.RawMessage("null")
	}
	return bytes.Clone(value)
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

// str returns a copy of the string that raw is, "" if it is none.
func str(raw json.RawMessage) string {
	s, _ := rawjson.String(raw)
	return s
}

// appendCall appends the members of a call that all dialects have. No arguments are an
// empty object.
func appendCall(dst []byte, call *spec.ExecuteTool) []byte {
	args := call.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	return rawjson.AppendMember(rawjson.AppendStringMember(dst, "toolName", call.ToolName), "args", args)
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
	var m members
	err := m.read(frame)
	switch {
	case err != nil:
		return err
	case m.jsonrpc != nil || m.method != nil:
		o.conn.dialect = &tabhub{}
	case m.kind != nil:
		o.conn.dialect = &port{}
	default:
		return m.refuse(ev, spec.CodeInvalidRequest, "neither JSON-RPC nor a port message")
	}
	return o.conn.dialect.decode(frame, ev)
}
