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
		{`{"content":[{"type":"text","text":"no"}],"isError":true, "x":"<"}`, true, `{"content":[{"type":"text","text":"no"}],"isError":true, "x":"<"}`},
		{`{"content":[]}`, true, `{"content":[],"isError":true}`},
		{`{"isError":false,"content":[]}`, true, `{"isError":true,"content":[]}`},
		{`{"isError":null}`, true, `{"content":[],"isError":true}`},
		{`"why"`, true, `{"content":[{"text":"{\"error\":{\"code\":\"TOOL_ERROR\",\"message\":\"why\"}}","type":"text"}],"isError":true}`},
		{`"a\u202eb"`, true, `{"content":[{"text":"{\"error\":{\"code\":\"TOOL_ERROR\",\"message\":\"ab\"}}","type":"text"}],"isError":true}`},
		{`"text"`, false, `{"content":[{"type":"text","text":"text"}]}`},
		{`7`, false, `{"content":[{"type":"text","text":"7"}]}`},
		{`{"n":1}`, false, `{"content":[{"type":"text","text":"{\"n\":1}"}],"structuredContent":{"n":1}}`},
		{"{\"content\":[\n]}", false, `{"content":[ ]}`},
		{``, false, `{"content":[{"type":"text","text":"null"}]}`},
	} {
		if got, _ := new(Item).ToolResult(spec.Response{Result: json.RawMessage(c.result), Failed: c.failed}, ""); string(got) != c.want {
			t.Errorf("%s, failed %t: %s, want %s", c.result, c.failed, got, c.want)
		}
	}
}

// A client takes no more than 100 values, and must learn that there are others.
func TestCompleteResult(t *testing.T) {
	values := func(n int) string { return `"values":[` + strings.TrimSuffix(strings.Repeat(`"v",`, n), ",") + `]` }
	for result, want := range map[string]string{
		`{"completion":{` + values(100) + `,"total":100}}`:               `{"completion":{` + values(100) + `,"total":100}}`,
		`{"completion":{` + values(101) + `}}`:                           `{"completion":{` + values(100) + `,"hasMore":true}}`,
		`{"completion":{"values":["a","b\u202e","c\u0000"],"total":-1}}`: `{"completion":{"values":["a"]}}`,
		`{"completion":{"values":[1,"a"],"total":"2"}}`:                  `{"completion":{"values":["1","a"]}}`,
		`{"completion":null}`:                                            `{"completion":{"values":[]}}`,
		``:                                                               `{"completion":{"values":[]}}`,
	} {
		if got := CompleteResult(spec.Response{Result: json.RawMessage(result)}); string(got) != want {
			t.Errorf("%s:\n got %s\nwant %s", result, got, want)
		}
	}
}

// A model that has sent what the schema does not allow must learn so if the page fails,
// and is not bothered if it does not.
func TestToolResultWithDoubts(t *testing.T) {
	for _, c := range []struct {
		result string
		failed bool
		want   string
	}{
		{`{"content":[{"type":"text","text":"no"}],"isError":true,"x":1}`, false, `{"content":[{"type":"text","text":"no"},{"type":"text","text":"The arguments do not fit the tool's schema, which may be why: /a: too long"}],"isError":true,"x":1}`},
		{`{"isError":true}`, false, `{"isError":true,"content":[{"type":"text","text":"The tool failed and did not say why."},{"type":"text","text":"The arguments do not fit the tool's schema, which may be why: /a: too long"}]}`},
		{`{"content":[]}`, true, `{"content":[{"type":"text","text":"The arguments do not fit the tool's schema, which may be why: /a: too long"}],"isError":true}`},
		{`"no"`, true, `{"content":[{"text":"{\"error\":{\"code\":\"TOOL_ERROR\",\"message\":\"no\\nThe arguments do not fit the tool's schema, which may be why: /a: too long\"}}","type":"text"}],"isError":true}`},
		{`{"content":[]}`, false, `{"content":[]}`},
		{`"fine"`, false, `{"content":[{"type":"text","text":"fine"}]}`},
	} {
		if got, _ := new(Item).ToolResult(spec.Response{Result: json.RawMessage(c.result), Failed: c.failed}, "/a: too long"); string(got) != c.want {
			t.Errorf("%s, failed %t:\n got %s\nwant %s", c.result, c.failed, got, c.want)
		}
	}
}
