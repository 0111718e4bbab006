package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"tabhub/hub/call"
	"tabhub/hub/lists"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// recorded returns what the fixture's hub has recorded of an event, as "tool decision outcome".
func (w *fixture) recorded(event record.Event) (found []string) {
	for _, e := range w.record.Entries(record.Query{Event: event}) {
		found = append(found, fmt.Sprintf("%s %s %s", e.Tool, e.Decision, e.Outcome))
	}
	return found
}

// Of a call there is to be found who made it, where, what was decided and how it ended; and
// of one that cannot be undone that it began, even if the hub is killed meanwhile.
func TestRecordOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, tools("https://e.com/cart", `look:"annotations":{"readOnlyHint":true}`, `pay:"annotations":{"destructiveHint":true}`))
		c := w.call(t.Context(), "e_com_look")
		answer(p, p.Next(), "seen")
		c.want(t, "seen")
		if got := w.recorded(record.Begun); len(got) > 0 {
			t.Errorf("of what only reads: %q", got)
		}
		c = w.call(t.Context(), "e_com_pay")
		r := p.Next()
		if got := w.recorded(record.Begun); !slices.Equal(got, []string{"pay allow begun"}) {
			t.Errorf("begun: %q", got)
		}
		answer(p, r, "paid")
		c.want(t, "paid")
		if got, want := w.recorded(record.Call), []string{"look allow ok", "pay allow ok"}; !slices.Equal(got, want) {
			t.Errorf("calls: %q, want %q", got, want)
		}
		es := w.record.Entries(record.Query{Tool: "pay"})
		begun, call := es[0], es[1]
		if begun.Call != call.Call || len(call.Call) != 10 || call.Client != tester.Principal.ID || call.Domain != "e.com" || call.Origin != "https://e.com" ||
			call.URL != "https://e.com/cart" || call.Class != "destructive" || string(call.Args) != "{}" || call.Tab == "" || call.Rule == "" {
			t.Errorf("%+v\n%+v", begun, call)
		}
	})
}

// The owner can see what of an answer the client got in another form.
func TestRecordOfAChangedAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		p := w.page("https://e.com", "a")
		w.register(p, 0, tools("https://e.com/", "x"))
		c := w.call(t.Context(), "e_com_x")
		answered := json.RawMessage(`{"content":[{"type":"json","json":{"order":7}}],"isError":"false"}`)
		p.Answer(p.Next(), spec.Response{Result: answered}, nil)
		c.want(t, `{\"order\":7}`)
		e := w.record.Entries(record.Query{Tool: "x"})[0]
		if e.Changed != "a block that is none of MCP's, isError that was no boolean" || string(e.Result) != string(answered) {
			t.Errorf("%+v", e)
		}
	})
}

// The owner sees later when a rule was made, and by what means.
func TestRecordOfThePolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		edit := func(edit func(*policy.Document)) {
			t.Helper()
			if err := w.hub.Rules.EditPolicy("command", func(d *policy.Document) error { edit(d); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		edit(func(d *policy.Document) {
			d.Rules = []policy.Rule{{ID: "r1", Effect: policy.Deny, Site: "e.com", Tool: "pay", By: "command"}}
		})
		edit(func(d *policy.Document) { d.Rules = nil; d.Private = []string{"bank.com"} })
		edit(func(d *policy.Document) { d.Pauses = []policy.Pause{{Site: "e.com"}}; d.Mode = policy.ModeAsk })
		edit(func(d *policy.Document) { d.Pauses = nil })
		want := []string{"pay deny made", "pay deny removed", "  private", "  paused", "  mode", "  resumed"}
		if got := w.recorded(record.Policy); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if e := w.record.Entries(record.Query{Event: record.Policy})[0]; e.By != "command" || e.Rule != "r1" || e.Domain != "e.com" || e.Time.IsZero() {
			t.Errorf("%+v", e)
		}
	})
}

// The record must say what a page has ceased to offer, and what was asked for in vain.
func TestEndsAreRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t, Options{})
		chrome := w.chrome("b1", "s1")
		w.register(chrome, 7, tools("https://e.com/", "x", "y"))
		chrome.Notify(7, &spec.TabClosed{})
		synctest.Wait()
		if _, err := w.hub.Calls.Call(t.Context(), call.Request{By: tester, Name: "website_tool_e_com_x"}); !errors.As(err, new(*lists.UnknownError)) {
			t.Fatalf("a tool that is gone: %v", err)
		}
		if _, err := w.hub.Calls.Call(t.Context(), call.Request{By: tester.Through("proxy"), Name: "z"}); !errors.As(err, new(*lists.UnknownError)) {
			t.Fatalf("an unknown tool: %v", err)
		}
		gone, refused := w.record.Entries(record.Query{Event: record.Gone}), w.record.Entries(record.Query{Event: record.Refused})
		if len(gone) != 1 || gone[0].Tab != "browser:b1/7" || gone[0].Domain != "e.com" || gone[0].Reason != "it offered 2" {
			t.Errorf("gone: %+v", gone)
		}
		if len(refused) != 1 || refused[0].Tool != "website_tool_e_com_x" || refused[0].Outcome != "unknown" || refused[0].Said != "test" {
			t.Errorf("refused: %+v", refused) // proxy records what it is asked itself
		}
	})
}
