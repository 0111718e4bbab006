package item

import (
	"encoding/json"
	"strings"
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
		if got := new(Item).ToolResult(spec.Response{Result: json.RawMessage(c.result), Failed: c.failed}); string(got) != c.want {
			t.Errorf("%s, failed %t: %s, want %s", c.result, c.failed, got, c.want)
		}
	}
}

// What the hub adds to a result stands beside what the page says.
func TestWithText(t *testing.T) {
	for result, want := range map[string]string{
		`{"content":[]}`:                              `{"content":[{"type":"text","text":"<b>"}]}`,
		`{"content":[ ],"isError":true}`:              `{"isError":true,"content":[{"type":"text","text":"<b>"}]}`,
		`{"content":[{"type":"x"}, 7 ],"n":1e400}`:    `{"n":1e400,"content":[{"type":"x"}, 7,{"type":"text","text":"<b>"}]}`,
		`{"structuredContent":{"content":["inner"]}}`: `{"structuredContent":{"content":["inner"]},"content":[{"type":"text","text":"<b>"}]}`,
		`{"isError":true}`:                            `{"isError":true,"content":[{"type":"text","text":"<b>"}]}`,
	} {
		if got := WithText(json.RawMessage(result), "<b>"); string(got) != want {
			t.Errorf("%s is %s, want %s", result, got, want)
		}
	}
}

// BenchmarkToolResult is what a call pays for looking into its result.
func BenchmarkToolResult(b *testing.B) {
	row, _ := json.Marshal(strings.Repeat(`{"id":12,"title":"A thing","price_in":3.5},`, 1500))
	for name, result := range map[string]string{
		"small": `{"content":[{"type":"text","text":"hello"}]}`,
		"text":  `{"content":[{"type":"text","text":"` + strings.Repeat("An ordinary sentence, with words in it. ", 1600) + `"}]}`,
		"json":  `{"content":[{"type":"text","text":` + string(row) + `}]}`,
		"rows":  `{"content":[],"structuredContent":{"rows":[` + strings.Repeat(`{"id":12,"title":"A thing","price_in":3.5},`, 1500) + `{}]}}`,
		"meta":  `{"content":[{"type":"text","text":"hello"}],"_meta":{"openai/x":1}}`,
	} {
		b.Run(name, func(b *testing.B) {
			it, resp := new(Item), spec.Response{Result: json.RawMessage(result)}
			b.SetBytes(int64(len(result)))
			for b.Loop() {
				it.ToolResult(resp)
			}
		})
	}
}
