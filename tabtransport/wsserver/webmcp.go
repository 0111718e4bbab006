package wsserver

import (
	"encoding/json"
	"errors"
	"net"
	"time"

	"github.com/google/uuid"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
	"tabhub/tabtransport/wsconn"
)

// webmcpName is the dialect's name and its subprotocol.
const webmcpName = "webmcp.v1"

// webmcpSubprotocols are what a page may offer. Browsers look for a relay with the
// first; the connection that has found one is then used as the second.
var webmcpSubprotocols = []string{"webmcp-discovery.v1", webmcpName}

// webmcpHelloTimeout is longer than spec.HelloTimeout: the widget asks its page for
// tools, for up to 10 s, before it says hello.
const webmcpHelloTimeout = 15 * time.Second

// webmcp is the dialect of pages that embed a webmcp.v1 widget: one tab a
// connection, tools only, no cancel and no progress. Such a page knows of no call
// that it got over an earlier connection, so each is a session of its own.
type webmcp struct {
	instance string
	host     string
	port     string // a number

	// owned by the reader
	tabID      string
	url, title string
}

func newWebMCP(s *Server, ws *wsconn.Conn) *webmcp {
	d := &webmcp{instance: s.opts.Instance, host: "127.0.0.1", port: "0"}
	if host, port, err := net.SplitHostPort(ws.LocalAddr().String()); err == nil {
		d.host, d.port = host, port
	}
	return d
}

func (d *webmcp) name() string                { return webmcpName }
func (d *webmcp) helloTimeout() time.Duration { return webmcpHelloTimeout }

func (d *webmcp) decode(frame []byte, ev *event) error {
	var f members
	if err := f.read(frame); err != nil {
		return err
	}
	switch kind := str(f.kind); kind {
	case "result":
		id, ok := rawjson.String(f.callID)
		if !ok {
			return errors.New("result without callId")
		}
		ev.kind, ev.requestID, ev.result = evAnswer, id, f.result
		if f.result == nil {
			ev.err = spec.Errorf(spec.CodeInternal, "the page answered without a result")
		}
	case "pong":
		ev.kind = evIgnored
	case "hello":
		d.decodeHello(&f, ev)
	case "tools/list", "tools/changed":
		decodeToolSet(ev, f.tools, kind == "tools/changed")
		ev.early = true
		if reg, ok := ev.msg.(*spec.Register); ok {
			reg.TabURL, reg.Title = d.url, d.title
		}
	case "":
		return errors.New("message without type")
	default:
		ev.kind = evIgnored
	}
	return nil
}

func (d *webmcp) concerns(frame []byte, ev *event) {
	var f members
	_ = f.read(frame) // as far as it goes
	ev.requestID = str(f.callID)
}

func (d *webmcp) decodeHello(f *members, ev *event) {
	state := &spec.TabState{}
	if url := str(f.url); url != "" {
		state.URL = &url
	}
	if title := str(f.title); title != "" {
		state.Title = &title
	}
	state.Cut()
	if state.URL != nil {
		d.url = *state.URL
	}
	if state.Title != nil {
		d.title = *state.Title
	}
	if d.tabID != "" {
		ev.kind, ev.msg = evMessage, state
		return
	}
	hello := &spec.Hello{ProtocolVersion: webmcpName, TabKey: str(f.tabID), Session: uuid.NewString()}
	if hello.TabKey == "" {
		ev.kind, ev.err = evRefused, spec.Errorf(spec.CodeInvalidParams, "hello without tabId")
		return
	}
	if err := spec.Validate(hello); err != nil {
		ev.kind, ev.err = evRefused, spec.Errorf(spec.CodeInvalidParams, "hello: %v", err)
		return
	}
	d.tabID = hello.TabKey
	ev.kind, ev.hello, ev.claimKey, ev.claimedOrigin = evHello, hello, true, str(f.origin)
}

func (d *webmcp) appendOpening(dst []byte) []byte {
	dst = append(dst, `{"type":"server-hello","service":"webmcp-local-relay","version":1`...)
	dst = rawjson.AppendStringMember(dst, "host", d.host)
	dst = rawjson.AppendMember(dst, "port", []byte(d.port))
	dst = rawjson.AppendStringMember(dst, "instanceId", d.instance)
	dst = rawjson.AppendStringMember(dst, "relayId", d.instance)
	return append(dst, `,"label":"tabhub"}`...)
}

// appendWelcome is what newer widgets wait for; older ones ignore unknown types.
func (d *webmcp) appendWelcome(dst []byte, _ json.RawMessage, _ spec.HelloResult) []byte {
	return append(dst, `{"type":"hello/accepted"}`...)
}

func (d *webmcp) appendRefusal(dst []byte, _ json.RawMessage, err *spec.Error) []byte {
	dst = append(dst, `{"type":"hello/rejected","reason":"refused"`...)
	return append(rawjson.AppendStringMember(dst, "message", err.Message), '}')
}

func (d *webmcp) appendRequest(dst []byte, out tabtransport.Outgoing, _ time.Duration) ([]byte, error) {
	call, ok := out.Request.(*spec.ExecuteTool)
	if !ok {
		return dst, tabtransport.ErrUnsupported
	}
	dst = rawjson.AppendStringMember(append(dst, `{"type":"invoke"`...), "callId", out.ID)
	return append(appendCall(dst, call), '}'), nil
}

func (d *webmcp) appendCancel([]byte, int64, spec.Cancel) []byte { return nil }

func (d *webmcp) appendResponse([]byte, int64, json.RawMessage, any, *spec.Error) []byte { return nil }

func (d *webmcp) appendPing(dst []byte, _ string) []byte { return append(dst, `{"type":"ping"}`...) }
