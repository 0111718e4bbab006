package hub

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	"tabhub/hub/call"
	"tabhub/spec"
	"tabhub/storage"
)

// A page that is stricter in its schema than in its code must get the calls that it can
// serve, unless the user wants otherwise.
func TestArgumentsThatThePageMayAccept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, &spec.Register{Kind: spec.KindTool, Items: []json.RawMessage{json.RawMessage(
			`{"name":"x","inputSchema":{"type":"object","properties":{"code":{"type":"string","pattern":"^[A-Z]$"},"n":{"type":"integer"}},"additionalProperties":false}}`)}})
		call := func(args string) *pendingCall {
			c := &pendingCall{done: make(chan struct{})}
			go func() {
				defer close(c.done)
				c.result, c.err = w.hub.Calls.Call(t.Context(), call.Request{By: tester, Name: "website_tool_e_com_x", Args: json.RawMessage(args)})
			}()
			return c
		}
		check := func(check storage.ArgumentCheck) {
			if err := w.hub.SetSite(storage.Site{Domain: "e.com", Check: check}); err != nil {
				t.Fatal(err)
			}
		}
		const mild, wrong, unknown = `{"code":"ab"}`, `{"n":"one"}`, `{"cod":"A"}`
		const doubts = `/code: must match the pattern`

		c := call(mild)
		answer(p, p.Next(), "fine")
		c.want(t, `,"content":[{"type":"text","text":"fine"}]}`)
		c = call(mild)
		p.Answer(p.Next(), spec.Response{Result: json.RawMessage(`"bad code"`), Failed: true}, nil)
		c.want(t, `bad code\\nThe arguments do not fit the tool's schema, which may be why: `+doubts)
		c = call(mild)
		p.Answer(p.Next(), spec.Response{}, spec.Errorf(spec.CodeInternal, "it broke"))
		c.want(t, doubts)
		c = call(`{"code":null}`)
		answer(p, p.Next(), "none")
		c.want(t, "none")
		call(wrong).want(t, "INVALID_ARGUMENTS")
		call(unknown).want(t, "INVALID_ARGUMENTS")

		check(storage.CheckStrict)
		call(mild).want(t, "INVALID_ARGUMENTS")
		check(storage.CheckOff)
		for _, args := range []string{mild, wrong, unknown} {
			c = call(args)
			answer(p, p.Next(), "off")
			c.want(t, "off")
		}
		if err := w.hub.SetSite(storage.Site{Domain: "e.com", Check: "hardly"}); err == nil {
			t.Error("a check that there is not was taken")
		}
	})
}
