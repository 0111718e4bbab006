package methods

import (
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// progress returns what a call of the named tool reports its progress to, nil if
// its client does not want to hear of it.
//
// A client that gave no progress token but set a log level gets the messages of
// the page as log messages.
func (rq *Request) progress(name string) func(spec.Progress) {
	if rq.out == nil {
		return nil
	}
	if token := rq.Meta("progressToken"); token != nil && (token[0] == '"' || token[0] == '-' || token[0] >= '0' && token[0] <= '9') {
		return func(p spec.Progress) {
			f := jsonrpc.Notification("notifications/progress", string(progressParams(token, p)))
			f.Owner = rq
			rq.out.Post(f)
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
		f := jsonrpc.Notification("notifications/message", string(rawjson.AppendString([]byte(logger+`,"data":`), p.Message)))
		f.Owner = rq
		rq.out.Post(f)
	}
}

func progressParams(token json.RawMessage, p spec.Progress) []byte {
	b := append([]byte(`"progressToken":`), rawjson.WellFormed(token)...)
	b = appendNumber(append(b, `,"progress":`...), p.Progress)
	if p.Total != nil {
		b = appendNumber(append(b, `,"total":`...), *p.Total)
	}
	if p.Message != "" {
		b = rawjson.AppendString(append(b, `,"message":`...), p.Message)
	}
	if p.Meta != nil {
		b = append(append(b, `,"_meta":`...), p.Meta...)
	}
	return b
}

func appendNumber(b []byte, v float64) []byte {
	n, err := json.Marshal(v)
	if err != nil { // it is none
		return append(b, '0')
	}
	return append(b, n...)
}

// infoLevels are the log levels at which messages of level info are sent.
var infoLevels = []mcp.LoggingLevel{mcp.LoggingLevelDebug, mcp.LoggingLevelInfo}

func (rq *Request) wantsLog() bool {
	if rq.Modern {
		level, _ := rawjson.String(rq.Meta(metaLogLevel))
		return slices.Contains(infoLevels, mcp.LoggingLevel(level))
	}
	rq.ses.mu.Lock()
	defer rq.ses.mu.Unlock()
	return slices.Contains(infoLevels, rq.ses.level)
}
