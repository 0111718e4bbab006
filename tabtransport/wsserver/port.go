package wsserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
)

// port is the dialect of the first MCP-B extension's port messages: objects with a
// type, one tab a connection, no hello. It has tools and nothing else.
type port struct{}

func (port) name() string                { return "mcp-b-port" }
func (port) helloTimeout() time.Duration { return spec.HelloTimeout }

func (port) concerns(frame []byte, ev *event) {
	var f members
	_ = f.read(frame) // as far as it goes
	ev.requestID = str(f.requestID)
}

func (port) decode(frame []byte, ev *event) error {
	var f members
	if err := f.read(frame); err != nil {
		return err
	}
	switch kind := str(f.kind); kind {
	case "register-tools", "tools-updated":
		decodeToolSet(ev, f.tools, kind == "tools-updated")
	case "tool-result":
		id, ok := rawjson.String(f.requestID)
		if !ok {
			return errors.New("tool-result without requestId")
		}
		ev.kind, ev.requestID, ev.result, ev.outcome = evAnswer, id, f.data, true
	case "":
		return errors.New("port message without type")
	default:
		// Types that are not expected are ignored (spec/PROTOCOL.md, "Transport").
		ev.kind = evIgnored
	}
	return nil
}

// decodeToolSet reads the tools of a dialect whose frames hold the bare array.
func decodeToolSet(ev *event, tools json.RawMessage, update bool) {
	if len(tools) == 0 || tools[0] != '[' {
		ev.invalid(nil, spec.Errorf(spec.CodeInvalidParams, "tools must be an array"))
		return
	}
	reg := &spec.Register{Kind: spec.KindTool, Update: update}
	// The items outlive the frame, so they are copied, once.
	reg.Items = slices.Collect(rawjson.Elements(bytes.Clone(tools)))
	ev.kind, ev.msg = evMessage, reg
}

func (port) appendOpening([]byte) []byte                                            { return nil }
func (port) appendWelcome([]byte, json.RawMessage, spec.HelloResult) []byte         { return nil }
func (port) appendRefusal([]byte, json.RawMessage, *spec.Error) []byte              { return nil }
func (port) appendCancel([]byte, int64, spec.Cancel) []byte                         { return nil }
func (port) appendResponse([]byte, int64, json.RawMessage, any, *spec.Error) []byte { return nil }
func (port) appendPing([]byte, string) []byte                                       { return nil }

func (port) appendRequest(dst []byte, out tabtransport.Outgoing, _ time.Duration) ([]byte, error) {
	call, ok := out.Request.(*spec.ExecuteTool)
	if !ok {
		return dst, tabtransport.ErrUnsupported
	}
	dst = appendCall(append(dst, `{"type":"execute-tool"`...), call)
	return append(rawjson.AppendStringMember(dst, "requestId", out.ID), '}'), nil
}
