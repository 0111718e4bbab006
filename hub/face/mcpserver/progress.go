package mcpserver

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

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
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return append(b, '0')
	case math.Abs(v) < 1e21:
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	return strconv.AppendFloat(b, v, 'e', -1, 64)
}

// infoLevels are the log levels at which messages of level info are sent.
var infoLevels = []mcp.LoggingLevel{mcp.LoggingLevelDebug, mcp.LoggingLevelInfo}

func (rq *request) wantsLog() bool {
	if rq.modern {
		level, _ := rawjson.String(rq.meta(metaLogLevel))
		return slices.Contains(infoLevels, mcp.LoggingLevel(level))
	}
	rq.ses.mu.Lock()
	defer rq.ses.mu.Unlock()
	return slices.Contains(infoLevels, rq.ses.level)
}
