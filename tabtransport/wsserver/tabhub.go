package wsserver

import (
	"bytes"
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

// maxID bounds the id of a peer's request, in bytes: it comes back in the answer.
const maxID = 512

// hasID reports whether the frame's id is one that JSON-RPC knows.
func (f *members) hasID() bool {
	return f.id != nil && len(f.id) <= maxID && (f.id[0] == '"' || f.id[0] == '-' || f.id[0] >= '0' && f.id[0] <= '9')
}

// refuse is the error for a frame that is no message. One with an id that is no
// answer itself is answered with it.
func (f *members) refuse(ev *event, code int, what string) error {
	if !f.hasID() || f.result != nil || f.err != nil {
		return errors.New(what)
	}
	ev.invalid(bytes.Clone(f.id), spec.Errorf(code, "%s", what))
	return nil
}

func (d *tabhub) decode(frame []byte, ev *event) error {
	var f members
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
		ev.id = bytes.Clone(f.id)
	}
	switch method {
	case spec.MethodPair:
		d.decodePair(&f, ev)
	case spec.MethodHello:
		d.decodeHello(&f, ev)
	case spec.MethodProgress:
		d.decodeProgress(&f, ev)
	case spec.MethodDashboard:
		d.decodeAsked(&f, ev, &spec.Dashboard{})
	case spec.MethodPause:
		d.decodeAsked(&f, ev, &spec.Pause{})
	case spec.MethodRelease:
		d.decodeAsked(&f, ev, &spec.Release{})
	case spec.MethodPackScript:
		d.decodeAsked(&f, ev, &spec.PackScript{})
	case spec.MethodRecorded:
		d.decodeAsked(&f, ev, &spec.Recorded{})
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
	var f members
	_ = f.read(frame) // as far as it goes
	if !f.hasID() || d.readTab(f.tabID, ev) != nil {
		return
	}
	if f.method == nil {
		ev.requestID = str(f.id)
	}
	ev.id = bytes.Clone(f.id)
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

func (d *tabhub) decodeAnswer(f *members, ev *event) error {
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
func decodeFirst(what string, f *members, ev *event, params any, version *string) bool {
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

func (d *tabhub) decodePair(f *members, ev *event) {
	pair := &spec.Pair{}
	if ev.id == nil {
		ev.kind, ev.err = evRefused, spec.Errorf(spec.CodeInvalidRequest, "%s is a request: it needs an id", spec.MethodPair)
		return
	}
	if decodeFirst("pair", f, ev, pair, &pair.ProtocolVersion) {
		ev.kind, ev.pair = evPair, pair
	}
}

func (d *tabhub) decodeHello(f *members, ev *event) {
	hello := &spec.Hello{}
	if !decodeFirst("hello", f, ev, hello, &hello.ProtocolVersion) {
		return
	}
	ev.kind, ev.hello = evHello, hello
	if !d.settled {
		d.settled, d.greeted, d.browser = true, true, hello.BrowserID != ""
	}
}

func (d *tabhub) decodeProgress(f *members, ev *event) {
	if err := spec.Decode(f.params, &ev.progress); err != nil {
		ev.invalid(ev.id, err)
		return
	}
	ev.kind = evProgress
}

// decodeAsked reads the parameters of a request for the owner of the hub.
func (d *tabhub) decodeAsked(f *members, ev *event, params any) {
	if err := spec.Decode(bytes.Clone(f.params), params); err != nil { // they outlive the frame
		ev.invalid(ev.id, err)
		return
	}
	ev.kind, ev.asked = evOwner, params
}

func (d *tabhub) decodeMessage(method string, f *members, ev *event) {
	// The items of a registration outlive the frame, so they are copied, once.
	msg, err := spec.DecodeInbound(method, bytes.Clone(f.params))
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

func (d *tabhub) appendRequest(dst []byte, out tabtransport.Outgoing, ago time.Duration) ([]byte, error) {
	req := out.Request
	dst = append(dst, `{"jsonrpc":"2.0"`...)
	dst = rawjson.AppendStringMember(dst, "id", out.ID)
	dst = rawjson.AppendStringMember(dst, "method", req.Method())
	dst = d.appendTab(dst, out.Tab)
	if out.For != "" {
		dst = rawjson.AppendStringMember(dst, "for", out.For)
	}
	if ago > 0 {
		dst = appendInt(dst, "sentMs", int64((ago+time.Millisecond-1)/time.Millisecond))
	}
	call, ok := req.(*spec.ExecuteTool)
	if !ok {
		params, err := marshal(req)
		return append(rawjson.AppendMember(dst, "params", params), '}'), err
	}
	dst = appendCall(append(dst, `,"params":{`...), call)
	if call.FrameID != nil {
		dst = appendInt(dst, "frameId", *call.FrameID)
	}
	if call.Origin != "" {
		dst = rawjson.AppendStringMember(dst, "origin", call.Origin)
	}
	if len(call.Extensions) > 0 {
		ext, err := marshal(call.Extensions)
		if err != nil {
			return dst, err
		}
		dst = rawjson.AppendMember(dst, "extensions", ext)
	}
	return append(dst, "}}"...), nil
}

func appendInt(dst []byte, key string, n int64) []byte {
	return strconv.AppendInt(rawjson.AppendKey(dst, key), n, 10)
}

func (d *tabhub) appendCancel(dst []byte, tab int64, cancel spec.Cancel) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":"`+spec.MethodCancel+`"`...)
	dst = append(d.appendTab(dst, tab), `,"params":{`...)
	dst = rawjson.AppendStringMember(dst, "requestId", cancel.RequestID)
	dst = rawjson.AppendStringMember(dst, "reason", cancel.Reason)
	return append(dst, "}}"...)
}

// appendNotice appends a notification to a browser as a whole.
func (d *tabhub) appendNotice(dst []byte, method string, v any) []byte {
	params, err := marshal(v)
	if err != nil {
		return nil
	}
	dst = rawjson.AppendStringMember(append(dst, `{"jsonrpc":"2.0"`...), "method", method)
	return append(rawjson.AppendMember(dst, "params", params), '}')
}

func (d *tabhub) appendResponse(dst []byte, tab int64, id json.RawMessage, result any, rpcErr *spec.Error) []byte {
	dst = rawjson.AppendMember(append(dst, `{"jsonrpc":"2.0"`...), "id", id)
	dst = d.appendTab(dst, tab)
	key, value := "result", result
	if rpcErr != nil {
		key, value = "error", rpcErr
	}
	raw, err := marshal(value)
	if err != nil {
		key, raw = "error", json.RawMessage(`{"code":-32603,"message":"the hub could not encode its answer"}`)
	}
	return append(rawjson.AppendMember(dst, key, raw), '}')
}

func (d *tabhub) appendPing(dst []byte, id string) []byte {
	if !d.greeted {
		return nil
	}
	dst = rawjson.AppendStringMember(append(dst, `{"jsonrpc":"2.0"`...), "id", id)
	return append(dst, `,"method":"`+spec.MethodPing+`","params":{}}`...)
}

func (d *tabhub) appendTab(dst []byte, tab int64) []byte {
	if tab <= 0 || !d.browser {
		return dst
	}
	return appendInt(dst, "tabId", tab)
}
