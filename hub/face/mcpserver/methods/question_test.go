package methods

import (
	"encoding/json"
	"strings"
	"testing"
)

// What a client has declared is all that it is asked.
func TestLacks(t *testing.T) {
	for _, c := range []struct{ capabilities, question, want string }{
		{`{"elicitation":{}}`, `"elicitation/create","params":{}`, ""},
		{`{"elicitation":{}}`, `"elicitation/create","params":{"mode":"form"}`, ""},
		{`{"elicitation":{}}`, `"elicitation/create","params":{"mode":"url"}`, "elicitation.url"},
		{`{"elicitation":{"form":{}}}`, `"elicitation/create","params":{"mode":"form"}`, ""},
		{`{"elicitation":{"form":{}}}`, `"elicitation/create","params":{"mode":"url"}`, "elicitation.url"},
		{`{"elicitation":{"form":{}}}`, `"elicitation/create","params":{"mode":"\u0075rl"}`, "elicitation.url"},
		{`{"elicitation":{"url":{}}}`, `"elicitation/create","params":{"mode":"url"}`, ""},
		{`{"elicitation":{"url":{}}}`, `"elicitation/create"`, "elicitation.form"},
		{`{"elicitation":{"url":{},"form":{}}}`, `"elicitation/create"`, ""},
		{`{"sampling":{}}`, `"elicitation/create"`, "elicitation.form"},
		{`{"sampling":{}}`, `"sampling/createMessage","params":{}`, ""},
		{`{"sampling":{}}`, `"sampling/createMessage","params":{"tools":[]}`, "sampling.tools"},
		{`{"sampling":{"tools":{}}}`, `"sampling/createMessage","params":{"toolChoice":{}}`, ""},
		{`{"roots":{}}`, `"roots/list"`, ""},
		{``, `"roots/list"`, "roots"},
		{`{"roots":{}}`, `"roots"`, "roots"},
		{`{"ping":{}}`, `"ping"`, "ping"},
	} {
		got := strings.Join(lacks(json.RawMessage(c.capabilities), json.RawMessage(`{"inputRequests":{"q":{"method":`+c.question+`}}}`)), " ")
		if got != c.want {
			t.Errorf("%s is asked %s: %q, want %q", c.capabilities, c.question, got, c.want)
		}
	}
	data := string(missingCapabilities("", "elicitation.form", "elicitation.url", "roots").Data)
	if data != `{"requiredCapabilities":{"elicitation":{"form":{},"url":{}},"roots":{}}}` {
		t.Error(data)
	}
}

func TestWrongQuestion(t *testing.T) {
	field := func(f string) string {
		return `{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"boolean"},"b":` + f + `}}}`
	}
	const form = `"requestedSchema":{"type":"object","properties":{}}`
	for params, want := range map[string]string{
		`{"message":"m",` + form + `}`:               "",
		`{"message":"m","mode":"form",` + form + `}`: "",
		`{` + form + `}`:                             "message",
		`{"message":1,` + form + `}`:                 "message",
		`[]`:                                         "object",
		`{"message":"m","mode":"link",` + form + `}`: "mode",
		`{"message":"m","mode":null,` + form + `}`:   "mode",

		`{"message":"m","mode":"url","url":"https://pay.example/1?a=b"}`: "",
		`{"message":"m","mode":"url","url":"http://localhost:8080"}`:     "",
		`{"message":"m","mode":"url","url":"javascript:alert(1)"}`:       "url",
		`{"message":"m","mode":"url","url":"https:///path"}`:             "url",
		`{"message":"m","mode":"url","url":"/pay"}`:                      "url",
		`{"message":"m","mode":"url","url":1}`:                           "url",
		`{"message":"m","mode":"url","url":"https://user@/pay"}`:         "url",
		`{"message":"m","mode":"url","url":"https://pay.example/%zz"}`:   "url",
		`{"message":"m","mode":"url","url":"https://pay.example\u0000"}`: "url",
		`{"message":"m","mode":"url","url":"https://[pay"}`:              "url",
		`{"message":"m","mode":"\u0075rl","url":"javascript:alert(1)"}`:  "url",
		`{"message":"m","mode":"url","url":"HTTPS://PAY.EXAMPLE"}`:       "",
		`{"message":"m","mode":"url"}`:                                   "url",
		`{"mode":"url","url":"https://pay.example"}`:                     "message",

		`{"message":"m"}`:                                                                      "requestedSchema",
		`{"message":"m","requestedSchema":true}`:                                               "requestedSchema",
		`{"message":"m","requestedSchema":{"properties":{}}}`:                                  "requestedSchema",
		`{"message":"m","requestedSchema":{"type":"object"}}`:                                  "requestedSchema",
		`{"message":"m","requestedSchema":{"type":"object","properties":[]}}`:                  "requestedSchema",
		`{"message":"m","requestedSchema":{"type":"object","properties":{},"required":"a"}}`:   "required",
		`{"message":"m","requestedSchema":{"type":"object","properties":{},"required":[1]}}`:   "required",
		`{"message":"m","requestedSchema":{"type":"object","properties":{},"required":["a"]}}`: "",

		field(`{"type":"string","title":"B","description":"b","minLength":1,"maxLength":9,"format":"email","default":"x"}`): "",
		field(`{"type":"string","enum":["x"],"enumNames":["X"],"default":"x"}`):                                             "",
		field(`{"type":"string","oneOf":[{"const":"x","title":"X"}]}`):                                                      "",
		field(`{"type":"number","minimum":-1,"maximum":1.5,"default":0}`):                                                   "",
		field(`{"type":"integer"}`):                "",
		field(`{"type":"boolean","default":true}`): "",
		field(`{"type":"array","items":{"type":"string","enum":["x"]},"minItems":1,"default":["x"]}`): "",
		field(`{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}}`):                       "",
		field(`{"type":"object","properties":{}}`):                                                    "/b",
		field(`{"type":["string","null"]}`):                                                           "/b",
		field(`{}`):                                                                                   "/b",
		field(`true`):                                                                                 "/b",
		field(`{"type":"array","items":{"type":"string"}}`):                                           "items",
		field(`{"type":"array"}`):                                                                     "items",
		field(`{"type":"array","items":{"enum":["x"]}}`):                                              "items",
		field(`{"type":"string","format":"password"}`):                                                "format",
		field(`{"type":"string","title":1}`):                                                          "title",
		field(`{"type":"string","default":1}`):                                                        "default",
		field(`{"type":"string","enum":[1]}`):                                                         "enum",
		field(`{"type":"string","oneOf":[{"const":"x"}]}`):                                            "oneOf",
		field(`{"type":"integer","minimum":"1"}`):                                                     "minimum",
		field(`{"type":"boolean","default":"yes"}`):                                                   "default",
		field(`{"type":"string","description":null}`):                                                 "description",
		field(`{"type":"string","minLength":1,"maxLength":[]}`):                                       "maxLength",
	} {
		got := wrongQuestion(json.RawMessage(`{"inputRequests":{"ok":{"method":"roots/list"},"q":{"method":"elicitation/create","params":` + params + `}}}`))
		if (got == nil) != (want == "") || got != nil && !strings.Contains(got.Error(), want) {
			t.Errorf("%s: %v, want %q", params, got, want)
		}
	}
}
