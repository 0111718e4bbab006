package wsserver

import (
	"encoding/json"
	"reflect"
	"testing"

	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
)

// The encoder of a call's frame is written by hand; it must not miss a field.
func TestCallFrameHasEveryField(t *testing.T) {
	call := &spec.ExecuteTool{
		ToolName:   "a \"quoted\" name",
		Args:       json.RawMessage(`{"n":1e400}`),
		FrameID:    new(int64(7)),
		Origin:     "https://frame.example.com",
		Extensions: spec.Extensions{"x": json.RawMessage(`{"<":1}`)},
	}
	v := reflect.ValueOf(*call)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Fatalf("the test does not set %s", v.Type().Field(i).Name)
		}
	}
	d := &tabhub{greeted: true, browser: true}
	frame, err := d.appendRequest(nil, tabtransport.Outgoing{Tab: 3, ID: "id-1", Request: call}, 0)
	if err != nil {
		t.Fatal(err)
	}
	params := rawjson.Get(frame, "params")
	want, _ := json.Marshal(call)
	var g, w map[string]json.RawMessage
	if err := json.Unmarshal(params, &g); err != nil {
		t.Fatalf("%s: %v", frame, err)
	}
	json.Unmarshal(want, &w)
	if len(g) != len(w) || string(g["origin"]) != string(w["origin"]) || string(g["frameId"]) != "7" || string(g["args"]) != `{"n":1e400}` {
		t.Errorf("params are %s, want %s", params, want)
	}
	if string(rawjson.Get(frame, "tabId")) != "3" {
		t.Errorf("no tabId in %s", frame)
	}
}

func TestOutcome(t *testing.T) {
	for _, test := range []struct {
		result, want string
		failed       bool
	}{
		{`{"success":true,"payload":{"content":[]}}`, `{"content":[]}`, false},
		{`{"payload":[1],"success":true}`, `[1]`, false},
		{`{"success":true}`, `null`, false},
		{`{"success":false,"payload":"why"}`, `"why"`, true},
		{`{"success":false,"payload":{"content":[],"isError":true}}`, `{"content":[],"isError":true}`, true},
		{`{"success":false,"payload":{"code":7}}`, `"{\"code\":7}"`, true},
		{`{"success":false,"payload":null}`, `"the tool failed and did not say why"`, true},
		{`{"success":false}`, `"the tool failed and did not say why"`, true},
		{`{"content":[],"success":"yes"}`, `{"content":[],"success":"yes"}`, false},
		{`{"content":[]}`, `{"content":[]}`, false},
		{`"text"`, `"text"`, false},
		{`null`, `null`, false},
		{``, `null`, false},
	} {
		got := outcomeOf(json.RawMessage(test.result))
		if string(got.Result) != test.want || got.Failed != test.failed {
			t.Errorf("%s is %s, failed %t; want %s, failed %t", test.result, got.Result, got.Failed, test.want, test.failed)
		}
	}
	for result, want := range map[string]*spec.Page{
		`{"success":true,"payload":1,"page":{"url":"https://a.example/","title":"A"}}`: {URL: "https://a.example/", Title: "A"},
		`{"page":{},"success":false,"payload":"why"}`:                                  {},
		`{"success":true,"payload":1,"page":7}`:                                        nil,
		`{"success":true,"payload":1}`:                                                 nil,
		`{"page":{}}`:                                                                  nil,
	} {
		if got := outcomeOf(json.RawMessage(result)); !reflect.DeepEqual(got.Page, want) {
			t.Errorf("%s is of the page %v, want %v", result, got.Page, want)
		}
	}
}

// FuzzDecode feeds frames to every dialect. Whatever a page sends, the hub must not
// crash, must get only valid JSON, and must own its bytes: the frame's memory is reused.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"browser/hello","params":{"protocolVersion":"tabhub.v1","browserId":"b","capabilities":["openTab"]}}`,
		`{"jsonrpc":"2.0","tabId":7,"id":"r","method":"browser/registerTools","params":{"tools":[{"name":"a"}],"tabUrl":"https://x/?q","title":"t","extensions":{"a":1}}}`,
		`{"jsonrpc":"2.0","method":"browser/updateResources","params":{"resources":[1],"resourceTemplates":[2]}}`,
		`{"jsonrpc":"2.0","method":"browser/tabState","params":{"url":"u","active":true,"windowId":1}}`,
		`{"jsonrpc":"2.0","method":"browser/progress","params":{"requestId":"r","progress":0.5,"total":1,"message":"m"}}`,
		`{"jsonrpc":"2.0","id":"r","result":{"success":true,"payload":{"content":[]}}}`,
		`{"jsonrpc":"2.0","id":"r","error":{"code":-32001,"message":"gone"}}`,
		`{"type":"register-tools","tools":[{"name":"a"}]}`,
		`{"type":"tool-result","requestId":"r","data":{"success":false,"payload":"p"}}`,
		`{"type":"hello","tabId":"t","origin":"https://x","url":"https://x/","title":"X"}`,
		`{"type":"tools/changed","tools":[]}`,
		`{"type":"result","callId":"r","result":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		for _, d := range []dialect{
			&opening{conn: &conn{}}, &tabhub{}, &tabhub{greeted: true, browser: true}, &port{}, &webmcp{}, &webmcp{tabID: "t"},
		} {
			buf := append([]byte{}, frame...)
			ev := event{}
			if d.decode(buf, &ev) != nil {
				continue
			}
			var resp spec.Response
			if ev.kind == evAnswer {
				resp, _ = ev.answer(&spec.ExecuteTool{})
			}
			before := outliving(ev, resp)
			clear(buf)
			if after := outliving(ev, resp); before != after {
				t.Fatalf("%s keeps the frame's memory: %s became %s", d.name(), before, after)
			}
			if resp.Result != nil && !json.Valid(resp.Result) {
				t.Fatalf("%s: result %q of %q", d.name(), resp.Result, frame)
			}
			if reg, ok := ev.msg.(*spec.Register); ok {
				for _, item := range reg.Items {
					if !json.Valid(item) {
						t.Fatalf("%s: item %q of %q", d.name(), item, frame)
					}
				}
			}
		}
	})
}

// outliving is what outlives the frame.
func outliving(ev event, resp spec.Response) string {
	out, _ := json.Marshal([]any{ev.kind, ev.tab, string(ev.id), ev.hello, ev.claimedOrigin, ev.msg, ev.err, ev.progress, string(resp.Result), resp.Failed})
	if reg, ok := ev.msg.(*spec.Register); ok {
		for _, item := range reg.Items {
			out = append(out, item...)
		}
	}
	return string(out)
}
