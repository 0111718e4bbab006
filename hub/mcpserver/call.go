package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/hub"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// call serves tools/call.
func (s *Server) call(ctx context.Context, rq *request) (frame, error) {
	name, ok := rawjson.String(rq.get("name"))
	if !ok || name == "" {
		return frame{}, invalidParams("name is required: the name of a tool, a string")
	}
	args, e := rq.object("arguments")
	if e != nil {
		return frame{}, e
	}
	progress := rq.progress(name)
	subject := name
	var ask func(context.Context) (json.RawMessage, error)
	if t, ok := s.own[name]; ok {
		if progress == nil {
			progress = func(spec.Progress) {}
		}
		if t.Subject != nil {
			subject += " " + t.Subject(orEmpty(args))
		}
		ask = func(ctx context.Context) (json.RawMessage, error) {
			if r := t.Call(ctx, args, rq.clientName(), progress); r != nil {
				return r, nil
			}
			return nil, context.Cause(ctx)
		}
	} else {
		if rq.header != nil {
			if e := s.checkParamHeaders(rq, name, args); e != nil {
				return frame{}, e
			}
		}
		c := hub.Call{Name: name, Args: args, Client: rq.clientName(), Progress: progress}
		ask = func(ctx context.Context) (json.RawMessage, error) { return s.hub.Call(ctx, c) }
	}
	r, err := s.withInput(ctx, rq, subject, ask)
	if f, ok := errors.AsType[*hub.Failure](err); ok {
		r, err = f.Result(), nil
	}
	if err != nil {
		return frame{}, err
	}
	return s.result(rq, r, ""), nil
}

// object returns a member of the parameters that must be an object if it is there.
func (rq *request) object(key string) (json.RawMessage, *rpcError) {
	v := rq.get(key)
	switch {
	case v == nil || string(v) == "null":
		return nil, nil
	case v[0] != '{':
		return nil, invalidParams(key + " must be an object")
	}
	return v, nil
}

// progress returns what a call of the named tool reports its progress to, nil if
// its client does not want to hear of it.
//
// A client that gave no progress token but set a log level gets the messages of
// the page as log messages.
func (rq *request) progress(name string) func(spec.Progress) {
	if rq.out == nil {
		return nil
	}
	if token := rq.meta("progressToken"); token != nil && (token[0] == '"' || token[0] == '-' || token[0] >= '0' && token[0] <= '9') {
		return func(p spec.Progress) {
			f := noticeFrame("notifications/progress", string(progressParams(token, p)))
			f.owner = rq
			rq.out.post(f)
		}
	}
	if !rq.wantsLog() {
		return nil
	}
	logger := string(rawjson.AppendString([]byte(`"level":"info","logger":`), name))
	return func(p spec.Progress) {
		if p.Message == "" {
			return
		}
		f := noticeFrame("notifications/message", string(rawjson.AppendString([]byte(logger+`,"data":`), p.Message)))
		f.owner = rq
		rq.out.post(f)
	}
}

func progressParams(token json.RawMessage, p spec.Progress) []byte {
	b := append([]byte(`"progressToken":`), token...)
	b = appendNumber(append(b, `,"progress":`...), p.Progress)
	if p.Total != nil {
		b = appendNumber(append(b, `,"total":`...), *p.Total)
	}
	if p.Message != "" {
		b = rawjson.AppendString(append(b, `,"message":`...), p.Message)
	}
	return b
}

func appendNumber(b []byte, v float64) []byte {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return append(b, '0')
	case math.Abs(v) < 1e21:
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	return strconv.AppendFloat(b, v, 'e', -1, 64)
}

// talkative are the log levels at which messages of level info are sent.
var talkative = []mcp.LoggingLevel{mcp.LoggingLevelDebug, mcp.LoggingLevelInfo}

func (rq *request) wantsLog() bool {
	if rq.modern {
		level, _ := rawjson.String(rq.meta(metaLogLevel))
		return slices.Contains(talkative, mcp.LoggingLevel(level))
	}
	rq.ses.mu.Lock()
	defer rq.ses.mu.Unlock()
	return slices.Contains(talkative, rq.ses.level)
}
