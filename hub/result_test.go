package hub

import (
	"encoding/json"
	"testing"

	"tabhub/spec"
)

// A client must be able to read what pages answer, and see which calls have failed;
// beyond that the page's bytes stay.
func TestToolResult(t *testing.T) {
	for _, c := range []struct {
		result string
		failed bool
		want   string
	}{
		{`{"content":[],"x":1e400}`, false, `{"content":[],"x":1e400}`},
		{`{"content":[],"isError":true, "x":"<"}`, true, `{"content":[],"isError":true, "x":"<"}`},
		{`{"content":[]}`, true, `{"content":[],"isError":true}`},
		{`{"isError":false,"content":[]}`, true, `{"content":[],"isError":true}`},
		{`{"isError":null}`, true, `{"isError":true}`},
		{`"why"`, true, `{"content":[{"text":"{\"error\":{\"code\":\"TOOL_ERROR\",\"message\":\"why\"}}","type":"text"}],"isError":true}`},
		{`"a\u202eb"`, true, `{"content":[{"text":"{\"error\":{\"code\":\"TOOL_ERROR\",\"message\":\"ab\"}}","type":"text"}],"isError":true}`},
		{`"text"`, false, `{"content":[{"type":"text","text":"text"}]}`},
		{`7`, false, `{"content":[{"type":"text","text":"7"}]}`},
		{`{"n":1}`, false, `{"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1}}`},
		{"{\"content\":[\n]}", false, `{"content":[ ]}`},
		{``, false, `{"content":[{"type":"text","text":"null"}]}`},
	} {
		if got := new(item).toolResult(spec.Response{Result: json.RawMessage(c.result), Failed: c.failed}); string(got) != c.want {
			t.Errorf("%s, failed %t: %s, want %s", c.result, c.failed, got, c.want)
		}
	}
}
