package wsserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
)

// tabhub is the dialect tabhub.v1: JSON-RPC 2.0, with the member tabId on the
// frames of a browser that carries many tabs.
type tabhub struct {
	// set by the first hello, before the peer is admitted
	browser bool // it had a browserId
	greeted bool // there was one

	settled bool // owned by the reader: a first message has come
}

func (d *tabhub) name() string {
	if d.greeted {
		return spec.Subprotocol
	}
	return "mcp-b"
}

func (d *tabhub) helloTimeout() time.Duration { return spec.HelloTimeout }

// rpcFrame is a frame cut into its members, all of which share memory with it.
type rpcFrame struct {
	jsonrpc, id, method, tabID, params, result, err json.RawMessage
}

func (f *rpcFrame) read(frame []byte) error {
	return rawjson.Object(frame, spec.MaxDepth, func(key string, value json.RawMessage) error {
		switch key {
		case "jsonrpc":
			f.jsonrpc = value
		case "id":
			f.id = value
		case "method":
			f.method = value
		case "tabId":
			f.tabID = value
		case "params":
			f.params = value
		case "result":
			f.result = value
		case "error":
			f.err = value
		}
		return nil
	})
}

// maxID bounds the id of a peer's request, in bytes: it comes back in the answer.
const maxID = 512

// hasID reports whether the frame's id is one that JSON-RPC knows.
func (f *rpcFrame) hasID() bool {
	return f.id != nil && len(f.id) <= maxID && (f.id[0] == '"' || f.id[0] == '-' || f.id[0] >= '0' && f.id[0] <= '9')
}

// refuse is the error for a frame that is no message. One with an id that is no
// answer itself is answered with it.
func (f *rpcFrame) refuse(ev *event, code int, what string) error {
	if !f.hasID() || f.result != nil || f.err != nil {
		return errors.New(what)
	}
	ev.invalid(clone(f.id), spec.Errorf(code, "%s", what))
	return nil
}

func (d *tabhub) decode(frame []byte, ev *event) error {
	var f rpcFrame
	if err := f.read(frame); err != nil {
		return err
	}
	if id, ok := rawjson.String(f.jsonrpc); !ok || id != "2.0" {
		return f.refuse(ev, spec.CodeInvalidRequest, `not JSON-RPC: the member "jsonrpc" must be "2.0"`)
	}
	if err := d.readTab(f.tabID, ev); err != nil {
		return f.refuse(ev, spec.CodeInvalidParams, err.Error())
	}
	if f.method == nil {
		return d.decodeAnswer(&f, ev)
	}
	method, ok := rawjson.String(f.method)
	if !ok {
		return f.refuse(ev, spec.CodeInvalidRequest, "method must be a string")
	}
	if f.id != nil {
		if !f.hasID() {
			return fmt.Errorf("id must be a string or a number of at most %d bytes", maxID)
		}
		ev.id = clone(f.id)
	}
	switch method {
	case spec.MethodPair:
		d.decodePair(&f, ev)
	case spec.MethodHello:
		d.decodeHello(&f, ev)
	case spec.MethodProgress:
		d.decodeProgress(&f, ev)
	case spec.MethodDashboard:
		ev.kind = evDashboard
	case spec.MethodPing:
		ev.kind = evPing
		if ev.id == nil {
			ev.kind = evIgnored
		}
	default:
		d.decodeMessage(method, &f, ev)
	}
	return nil
}

func (d *tabhub) concerns(frame []byte, ev *event) {
	var f rpcFrame
	_ = f.read(frame) // as far as it goes
	if !f.hasID() || d.readTab(f.tabID, ev) != nil {
		return
	}
	if f.method == nil {
		ev.requestID = str(f.id)
	}
	ev.id = clone(f.id)
}

// readTab reads tabId. Only a browser's frames have one.
func (d *tabhub) readTab(raw json.RawMessage, ev *event) error {
	if !d.browser {
		return nil
	}
	if raw == nil {
		ev.tab = tabtransport.AnyTab
		return nil
	}
	tab, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || tab < 0 {
		return errors.New("tabId must be a positive integer")
	}
	ev.tab = tab
	return nil
}

func (d *tabhub) decodeAnswer(f *rpcFrame, ev *event) error {
	id, ok := rawjson.String(f.id)
	switch {
	case f.result == nil && f.err == nil:
		return f.refuse(ev, spec.CodeInvalidRequest, "neither a method nor a result nor an error")
	case !ok:
		return errors.New("an answer to no request: its id is none of ours")
	}
	ev.kind, ev.requestID = evAnswer, id
	if f.err != nil {
		ev.err = rpcError(f.err)
		return nil
	}
	ev.result, ev.outcome = f.result, true
	return nil
}

func rpcError(raw json.RawMessage) *spec.Error {
	e := &spec.Error{}
	if json.Unmarshal(raw, e) != nil || e.Code == 0 {
		return spec.Errorf(spec.CodeInternal, "the tab answered with an error that is not one of JSON-RPC: %.200s", raw)
	}
	return e
}

// decodeFirst reads the parameters of a first message; version is where they say the
// protocol's. It reports whether they can be accepted.
func decodeFirst(what string, f *rpcFrame, ev *event, params any, version *string) bool {
	err := spec.Decode(f.params, params)
	switch {
	case err != nil:
		err.Message = what + ": " + err.Message
	case *version != spec.ProtocolVersion:
		err = spec.Errorf(spec.CodeUnsupported, "protocolVersion %q is not served, only %q", *version, spec.ProtocolVersion)
	default:
		return true
	}
	ev.kind, ev.err = evRefused, err
	return false
}

func (d *tabhub) decodePair(f *rpcFrame, ev *event) {
	pair := &spec.Pair{}
	if ev.id == nil {
		ev.kind, ev.err = evRefused, spec.Errorf(spec.CodeInvalidRequest, "%s is a request: it needs an id", spec.MethodPair)
		return
	}
	if decodeFirst("pair", f, ev, pair, &pair.ProtocolVersion) {
		ev.kind, ev.pair = evPair, pair
	}
}

func (d *tabhub) decodeHello(f *rpcFrame, ev *event) {
	hello := &spec.Hello{}
	if !decodeFirst("hello", f, ev, hello, &hello.ProtocolVersion) {
		return
	}
	ev.kind, ev.hello = evHello, hello
	if !d.settled {
		d.settled, d.greeted, d.browser = true, true, hello.BrowserID != ""
	}
}

func (d *tabhub) decodeProgress(f *rpcFrame, ev *event) {
	if err := spec.Decode(f.params, &ev.progress); err != nil {
		ev.invalid(ev.id, err)
		return
	}
	ev.kind = evProgress
}

func (d *tabhub) decodeMessage(method string, f *rpcFrame, ev *event) {
	// The items of a registration are kept, so they get memory of their own, once.
	msg, err := spec.DecodeInbound(method, clone(f.params))
	switch {
	case err != nil:
		ev.invalid(ev.id, err)
	case d.browser && ev.tab <= 0:
		ev.invalid(ev.id, spec.Errorf(spec.CodeInvalidParams, "%s of a browser needs the member tabId beside method", method))
	default:
		ev.kind, ev.msg = evMessage, msg
		d.settled = true
	}
}

func (d *tabhub) appendOpening([]byte) []byte { return nil }

func (d *tabhub) appendWelcome(dst []byte, id json.RawMessage, result spec.HelloResult) []byte {
	if id == nil {
		return nil
	}
	return d.appendResponse(dst, 0, id, result, nil)
}

func (d *tabhub) appendRefusal(dst []byte, id json.RawMessage, err *spec.Error) []byte {
	if id == nil {
		return nil
	}
	return d.appendResponse(dst, 0, id, nil, err)
}

func (d *tabhub) appendRequest(dst []byte, tab int64, id string, req spec.Request, ago time.Duration) ([]byte, error) {
	dst = append(dst, `{"jsonrpc":"2.0","id":"`...)
	dst = append(dst, id...)
	dst = append(dst, `","method":"`...)
	dst = append(dst, req.Method()...)
	dst = append(dst, '"')
	dst = d.appendTab(dst, tab)
	if ago > 0 {
		dst = append(dst, `,"sentMs":`...)
		dst = strconv.AppendInt(dst, int64((ago+time.Millisecond-1)/time.Millisecond), 10)
	}
	dst = append(dst, `,"params":`...)
	if call, ok := req.(*spec.ExecuteTool); ok {
		dst = append(dst, `{"toolName":`...)
		dst = rawjson.AppendString(dst, call.ToolName)
		dst = append(dst, `,"args":`...)
		dst = appendArgs(dst, call.Args)
		if call.FrameID != nil {
			dst = append(dst, `,"frameId":`...)
			dst = strconv.AppendInt(dst, *call.FrameID, 10)
		}
		if call.Origin != "" {
			dst = append(dst, `,"origin":`...)
			dst = rawjson.AppendString(dst, call.Origin)
		}
		if len(call.Extensions) > 0 {
			ext, err := marshal(call.Extensions)
			if err != nil {
				return dst, err
			}
			dst = appendRaw(dst, `,"extensions":`, ext)
		}
		return append(dst, "}}"...), nil
	}
	params, err := marshal(req)
	if err != nil {
		return dst, err
	}
	return append(append(dst, params...), '}'), nil
}

func (d *tabhub) appendCancel(dst []byte, tab int64, cancel spec.Cancel) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":"`+spec.MethodCancel+`"`...)
	dst = d.appendTab(dst, tab)
	dst = append(dst, `,"params":{"requestId":`...)
	dst = rawjson.AppendString(dst, cancel.RequestID)
	dst = append(dst, `,"reason":`...)
	dst = rawjson.AppendString(dst, cancel.Reason)
	return append(dst, "}}"...)
}

func (d *tabhub) appendResponse(dst []byte, tab int64, id json.RawMessage, result any, rpcErr *spec.Error) []byte {
	dst = appendRaw(dst, `{"jsonrpc":"2.0","id":`, id)
	dst = d.appendTab(dst, tab)
	key, value := `,"result":`, result
	if rpcErr != nil {
		key, value = `,"error":`, any(rpcErr)
	}
	raw, err := marshal(value)
	if err != nil {
		key, raw = `,"error":`, json.RawMessage(`{"code":-32603,"message":"the hub could not encode its answer"}`)
	}
	return append(appendRaw(dst, key, raw), '}')
}

func (d *tabhub) appendPing(dst []byte, id string) []byte {
	if !d.greeted {
		return nil
	}
	dst = append(dst, `{"jsonrpc":"2.0","id":"`...)
	dst = append(dst, id...)
	return append(dst, `","method":"`+spec.MethodPing+`","params":{}}`...)
}

func (d *tabhub) appendTab(dst []byte, tab int64) []byte {
	if tab <= 0 || !d.browser {
		return dst
	}
	dst = append(dst, `,"tabId":`...)
	return strconv.AppendInt(dst, tab, 10)
}
