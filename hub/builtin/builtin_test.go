package builtin

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec/rawjson"
)

func tools() []Tool {
	call := func(context.Context, *consent.Caller, json.RawMessage) (json.RawMessage, error) { return nil, nil }
	return []Tool{
		{Name: "proxy", Call: call},
		{Name: "browser_tab", Call: call},
		{Name: "browser_instance", Call: call, Listed: LocalOnly},
		{Name: "browser_without", Listed: LocalOnly},
	}
}

// What the user has switched off must not be offered to a model.
func TestSwitches(t *testing.T) {
	for _, test := range []struct{ switches, lists, want string }{
		{"", "", "proxy, browser_tab"},
		{"", "local", "proxy, browser_tab, browser_instance"},
		{"-proxy", "", "browser_tab"},
		{"-browser_instance", "local", "proxy, browser_tab"},
		{"browser_instance", "", "proxy, browser_tab, browser_instance"},
		{"browser_without", "", "proxy, browser_tab"}, // there is nothing to run it with
	} {
		var list []string
		if test.switches != "" {
			list = strings.Split(test.switches, ",")
		}
		s, err := ParseSwitches(list, tools())
		if err != nil {
			t.Fatal(err)
		}
		got := names(s.List(tools(), func(l Listed) bool { return l == LocalOnly && test.lists == "local" }))
		if got != test.want {
			t.Errorf("--tools %q: %s, want %s", test.switches, got, test.want)
		}
	}
	for _, bad := range []string{"", "browser", "--proxy", "+proxy"} {
		if _, err := ParseSwitches([]string{bad}, tools()); err == nil || !strings.Contains(err.Error(), "browser_tab") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestDefinition(t *testing.T) {
	tool := Tool{Name: "t", Title: "T", Description: "a < b", Input: json.RawMessage(`{"type": "object"}`), Annotations: &Annotations{ReadOnly: true}}
	want := `{"name":"t","title":"T","description":"a < b","inputSchema":{"type":"object"},` +
		`"annotations":{"readOnlyHint":true,"destructiveHint":false}}`
	if got := string(tool.Definition()); !reflect.DeepEqual(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A model must be told what to correct; what a client sends as null is not given.
func TestInput(t *testing.T) {
	in := NewInput(json.RawMessage(`{"type":"object","required":["a"],"additionalProperties":false,"properties":{"a":{"type":"integer"},"b":{}}}`))
	for args, want := range map[string]string{
		`{"a":1,"b":null}`: "",
		`{"a":null}`:       "/a: is required",
		``:                 "/a: is required",
		`null`:             "/a: is required",
		`[]`:               "the arguments must be an object",
		`{"a":"x"}`:        "/a: must be integer, got string",
	} {
		members, object, err := in.Read(json.RawMessage(args))
		switch {
		case want == "" && (err != nil || string(object) != `{"a":1}` || len(members) != 1):
			t.Errorf("%s: %v, %s, %v", args, members, object, err)
		case want != "" && (err == nil || err.Error() != want):
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// What a tool does, and what the log says that it did, must be the same, also if a client
// sends an argument twice.
func TestArgumentTwice(t *testing.T) {
	in := NewInput(json.RawMessage(`{"type":"object","properties":{"action":{"type":"string"}}}`))
	for args, want := range map[string]string{
		`{"action":"close","action":"list"}`:               "list",
		`{"action":"close","action":null}`:                 "",
		`{"action":null,"action":"list"}`:                  "list",
		`{"action":"close","action":null,"\u0061ction":1}`: "",
	} {
		did := ""
		var got record.Entry
		tool := Recorded(Tool{Name: "browser_tab", Call: func(_ context.Context, _ *consent.Caller, args json.RawMessage) (json.RawMessage, error) {
			members, object, err := in.Read(args)
			if did, _ = rawjson.String(members["action"]); did == "" && err == nil && string(object) != "{}" {
				t.Errorf("%s: %s", args, object)
			}
			return Text(""), nil
		}}, (*owner)(&got))
		tool.Call(t.Context(), consent.As(policy.Owner), json.RawMessage(args))
		if did != want || got.Tool != strings.TrimSpace("browser_tab "+want) {
			t.Errorf("%s: did %q, and recorded %q", args, did, got.Tool)
		}
	}
}

// owner keeps the record of the last call.
type owner record.Entry

func (o *owner) Record(e record.Entry) { *o = owner(e) }

func (o *owner) Track(ctx context.Context, _ *consent.Caller, tool string) (context.Context, string, func(json.RawMessage, error) (json.RawMessage, error)) {
	return ctx, "id of " + tool, func(result json.RawMessage, err error) (json.RawMessage, error) { return result, err }
}

// The log must say what a client did with a tool, by which way, and how it ended.
func TestRecorded(t *testing.T) {
	failure := func(text string) json.RawMessage {
		return json.RawMessage(strings.TrimSuffix(string(Text(text)), "}") + `,"isError":true}`)
	}
	for _, c := range []struct {
		result  json.RawMessage
		outcome string
	}{
		{Text("{}"), "ok"},
		{nil, "cancelled"},
		{failure(`{"error":{"code":"TAB_NOT_FOUND"}}`), "TAB_NOT_FOUND"},
		{failure(`{`), "TOOL_ERROR"},
		{failure(`{"error":{"code":"ok"}}`), "TOOL_ERROR"},
		{failure(`{"error":{"code":"` + strings.Repeat("A", 33) + `"}}`), "TOOL_ERROR"},
	} {
		var got record.Entry
		tool := Recorded(Tool{Name: "browser_tab", Call: func(context.Context, *consent.Caller, json.RawMessage) (json.RawMessage, error) {
			return c.result, nil
		}}, (*owner)(&got))
		by := &consent.Caller{Principal: &policy.Principal{ID: "c", Name: "C"}}
		args := json.RawMessage(`{"action":"list"}`)
		tool.Call(t.Context(), by.Through("proxy"), args)
		want := record.Entry{
			Time: got.Time, Event: record.Call, Call: "id of browser_tab list", Client: "c", Name: "C", Via: "proxy", Tool: "browser_tab list",
			Args: args, Result: c.result, Outcome: c.outcome, Duration: got.Duration,
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: recorded %+v", c.result, got)
		}
	}
}
