package spec_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

func TestValidateNamesTheField(t *testing.T) {
	for _, test := range []struct {
		message any
		want    string
	}{
		{&spec.Hello{ProtocolVersion: "tabhub.v1"}, ""},
		{&spec.Hello{}, "protocolVersion is missing"},
		{&spec.Hello{ProtocolVersion: "v", TabKey: "ü"}, "tabKey must be printable ASCII"},
		{&spec.Hello{ProtocolVersion: "v", TabKey: strings.Repeat("k", 129)}, "tabKey must have at most 128 characters"},
		{&spec.Hello{ProtocolVersion: "v", Capabilities: make([]spec.Capability, 33)}, "capabilities must have at most 32 elements"},
		{&spec.Hello{ProtocolVersion: "v", Capabilities: []spec.Capability{"openTab", spec.Capability(strings.Repeat("c", 65))}}, "capabilities[1] must have at most 64 characters"},
		{&spec.Hello{TabKey: "\n"}, "protocolVersion is missing; tabKey must be printable ASCII"},
		{&spec.Progress{}, "requestId is missing"},
		{&spec.ScreenshotResult{MimeType: "image/png"}, "data is missing"},
		{&struct {
			Port   int    `json:"port" validate:"min=1,max=65535"`
			Reason string `json:"reason" validate:"oneof=stop upgrade"`
		}{Port: 70000, Reason: "no"}, "port must be at most 65535; reason must be one of stop, upgrade"},
	} {
		got := ""
		if err := spec.Validate(test.message); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%+v: %q, want %q", test.message, got, test.want)
		}
	}
}

// Programs before the hub look for "token", not for what is alike.
func TestMemberNamesAreExact(t *testing.T) {
	var h spec.Hello
	params := `{"protocolVersion":"tabhub.v1","TOKEN":"a","token":"b","to\u212aen":"c","\u0054oken":"d","BrowserID":"x","new":1}`
	if err := spec.Decode(json.RawMessage(params), &h); err != nil || h.Token != "b" || h.BrowserID != "" || h.ProtocolVersion != "tabhub.v1" {
		t.Errorf("%+v, %v", h, err)
	}
	h = spec.Hello{}
	if err := spec.Decode(json.RawMessage(`{"Token":"a"}`), &h); err == nil || err.Message != "protocolVersion is missing" || h.Token != "" {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestDecodeInbound(t *testing.T) {
	for _, test := range []struct{ method, params, want string }{
		{"browser/registerTools", `{"tools":[{"name":"a"},{"name":"b"}],"title":"T"}`, ""},
		{"browser/registerTools", `{"tools":null}`, "params.tools must be an array"},
		{"browser/registerTools", `{}`, "params.tools is missing"},
		{"browser/registerTools", `[]`, `params must be an object with an array "tools"`},
		{"browser/registerTools", `{"tools":[],"extensions":7}`, "params: extensions must be an object, not number"},
		{"browser/updateTools", `{"tools":[],"title":7}`, "params: title must be a string, not number"},
		{"browser/updateTools", `{"tools":[],"title":null,"TITLE":7,"new":1}`, ""},
		{"browser/registerResources", `{"resourceTemplates":[]}`, ""},
		{"browser/registerPrompts", `{"tools":[]}`, "params.prompts is missing"},
		{"browser/tabState", `{"active":"yes"}`, "params: active must be a boolean, not string"},
		{"browser/tabState", `[]`, "params must be an object"},
		{"browser/tabClosed", ``, ""},
		{"browser/resourceUpdated", `{"uri":""}`, "uri is missing"},
		{"browser/executeTool", `{}`, `unknown method "browser/executeTool"`},
	} {
		var params json.RawMessage
		if test.params != "" {
			params = json.RawMessage(test.params)
		}
		_, err := spec.DecodeInbound(test.method, params)
		got := ""
		if err != nil {
			got = err.Message
		}
		if got != test.want {
			t.Errorf("%s %s: %q, want %q", test.method, test.params, got, test.want)
		}
	}
}

// A page whose address is very long must not lose its tools.
func TestLongURLAndTitleAreCut(t *testing.T) {
	params, _ := json.Marshal(map[string]any{
		"tools":  []any{},
		"tabUrl": "https://example.com/p?q=" + strings.Repeat("q", spec.MaxURI) + "#f",
		"title":  strings.Repeat("é", 5000),
	})
	msg, err := spec.DecodeInbound(spec.MethodRegisterTools, params)
	if err != nil {
		t.Fatal(err)
	}
	reg := msg.(*spec.Register)
	if reg.TabURL != "https://example.com/p" || len(reg.Title) > 4096 || !strings.HasSuffix(reg.Title, "é") {
		t.Errorf("URL %q, title of %d bytes", reg.TabURL, len(reg.Title))
	}
	params, _ = json.Marshal(map[string]any{"url": "https://example.com/" + strings.Repeat("p", spec.MaxURI)})
	msg, err = spec.DecodeInbound(spec.MethodTabState, params)
	if err != nil || *msg.(*spec.TabState).URL != "" {
		t.Errorf("%+v, %v", msg, err)
	}
}

// FuzzDecodeInbound: no parameters that are valid JSON may crash the hub or pass
// with an item that is none.
func FuzzDecodeInbound(f *testing.F) {
	for _, m := range spec.MessageTypes() {
		if m.ToHub {
			params, _ := json.Marshal(m.Params)
			f.Add(m.Method, params)
		}
	}
	f.Add(spec.MethodRegisterTools, []byte(`{"tools":[{"name":"a"}],"tools":[],"tabUrl":7,"title":null}`))
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		if rawjson.Valid(params, spec.MaxDepth) != nil {
			return
		}
		// As the codecs do: without space around it.
		msg, err := spec.DecodeInbound(method, rawjson.Compact(nil, params))
		if (msg == nil) == (err == nil) {
			t.Fatalf("message %v, error %v", msg, err)
		}
		if err != nil && (err.Message == "" || err.Code != spec.CodeInvalidParams && err.Code != spec.CodeMethodNotFound) {
			t.Fatalf("error %+v", err)
		}
		if reg, ok := msg.(*spec.Register); ok {
			for _, item := range reg.Items {
				if !json.Valid(item) {
					t.Fatalf("item %q", item)
				}
			}
		}
	})
}
