package proxytool

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

const asking = `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"Sure?"}}},"requestState":"s"}`

// askingHub is a fakeHub where everything called "ask" asks back.
func askingHub() *fakeHub {
	w := newFakeHub()
	w.tools["ask"] = returns(asking)
	w.reads["r:ask"] = asking
	w.prompts = map[string]string{"ask": asking}
	return w
}

// A page that needs something of the person first must be able to ask through proxy,
// too, whatever was asked of it: else its question comes as the answer, or as an error.
func TestPageAsksBackThroughProxy(t *testing.T) {
	for kind, path := range map[string]string{"tool": "ask", "resource": "r:ask", "prompt": "ask"} {
		got := run(t, askingHub(), `{"action":"call","type":"`+kind+`","path":"`+path+`"}`)
		if want := `{"content":[],` + asking[1:]; got != want {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

// A batch has one answer and could not say which of its operations asks. The others'
// results must not be lost for it.
func TestPageCannotAskBackInBatch(t *testing.T) {
	got := decode(t, run(t, askingHub(), `{"action":"batch","operations":[
		{"action":"call","type":"tool","path":"ask"},
		{"action":"call","type":"resource","path":"r:ask"},
		{"action":"call","type":"prompt","path":"ask"},
		{"action":"call","type":"tool","path":"calculator_add"}
	]}`))
	for i, r := range got.Meta[metaKey].Results {
		if r.IsError != (i < 3) {
			t.Errorf("operation %d: error %t", i, r.IsError)
		}
	}
	if len(got.Content) != 8 || !strings.HasPrefix(got.Content[1].Text, "The page asks back") || got.Content[7].Text != "8" {
		t.Errorf("got %+v", got.Content)
	}
}

// The state that a page gives for its question must not reach another page.
func TestSubject(t *testing.T) {
	seen := map[string]string{}
	for _, args := range []string{
		`{"action":"call","type":"tool","path":"a"}`, `{"action":"call","type":"tool","path":"b"}`, `{"action":"call","type":"prompt","path":"a"}`, `{}`,
	} {
		s := subject(json.RawMessage(args))
		if other, ok := seen[s]; ok {
			t.Errorf("%s and %s are about the same", args, other)
		}
		seen[s] = args
	}
	if one, two := subject(json.RawMessage(`{"path":"a","action":"call","args":{},"type":"tool"}`)), subject(json.RawMessage(`{"action":"call","type":"tool","path":"\u0061"}`)); one != two {
		t.Errorf("%q and %q are about the same", one, two)
	}
}

// What went wrong within the hub may name files and addresses, which are not for
// models or their providers.
func TestInternalErrorsAreHidden(t *testing.T) {
	w := newFakeHub()
	w.fails["r:x"] = errors.New("open /home/ann/.local/share/tabhub/token: permission denied")
	if got := textOf(t, run(t, w, `{"action":"call","type":"resource","path":"r:x"}`)); got != "internal error" {
		t.Errorf("told %q", got)
	}
}

// JSON has one number type: some clients write an integer with a point or exponent.
func TestIntegersAreNumbers(t *testing.T) {
	for limit, want := range map[string]string{"1.0": "1", "1e1": "10", "1000.0e0": "1000"} {
		got := run(t, newFakeHub(), `{"action":"list","type":"tool","limit":`+limit+`,"offset":0.0}`)
		if !strings.Contains(got, `"offset":0,"limit":`+want+`}`) {
			t.Errorf("limit %s: %s", limit, got)
		}
	}
	for _, limit := range []string{"0.9", "1000.5", "1e3000", "-1e0", "1001.0"} {
		if got := textOf(t, run(t, newFakeHub(), `{"action":"list","type":"tool","limit":`+limit+`}`)); !strings.HasPrefix(got, "Parameter 'limit' is "+limit) {
			t.Errorf("limit %s: %s", limit, got)
		}
	}
}
