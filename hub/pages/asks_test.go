package pages_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tabhub/hub"
	"tabhub/hub/hubtest"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// asking is a page whose tools run the code that they are given, which may ask. They differ in where
// they have the function from.
const asking = `<script src="http://HUB/tab.js"></script><script>
	let runs = 0, late;
	const form = (message) => ({message: message + "?", requestedSchema: {type: "object", properties: {answer: {type: "string"}}}});
	const name = (error) => error.name;
	const run = ({code}, signal, ask) => (runs++, new Function("ask", "signal", "return (async () => {" + code + "})()")(ask, signal));
	const tool = {description: "d", inputSchema: {type: "object", properties: {code: {type: "string"}}}};
	document.modelContext.registerTool({...tool, name: "options", execute: (input, {signal, requestUserInput}) => run(input, signal, requestUserInput)});
	document.modelContext.registerTool({...tool, name: "invocation", execute: (input, {signal, invocation}) => run(input, signal, (...how) => invocation.requestUserInput(...how))});
	tabhub.registerTool({...tool, name: "own", execute: (input, {signal, requestUserInput}) => run(input, signal, requestUserInput)});
</script>`

const (
	asksForms    = `{"elicitation":{"form":{}}}`
	asksAnything = `{"elicitation":{"form":{},"url":{}}}`
)

// rounds is a call of a tool that asks, as its client makes it.
type rounds struct {
	s    *site
	call hub.Call
	by   consent.Caller
}

// rounds begins no call yet. can is what the client can be asked, "" if nothing.
func (s *site) rounds(tool, can, code string) *rounds {
	args, _ := json.Marshal(map[string]string{"code": code})
	r := &rounds{s: s, call: hub.Call{Name: s.name(tool), Args: args}, by: *tester}
	r.by.AskedBy, r.by.Extensions = &consent.Frame{}, spec.Extensions{}
	if can != "" {
		r.by.Extensions["clientCapabilities"] = json.RawMessage(can)
	}
	return r
}

// next makes the next request of the call, with an answer to what the page has asked if it has, and
// returns the result: what the page asks, as "MESSAGE URL", or what the tool has returned.
func (r *rounds) next(answer string) string {
	r.s.t.Helper()
	if answer != "" {
		r.by.Extensions["inputResponses"] = json.RawMessage(`{"input":` + answer + `}`)
	}
	by := r.by
	r.call.By = &by
	raw, err := r.s.hub.Call(r.s.t.Context(), r.call)
	if err != nil {
		return err.Error()
	}
	var back struct {
		ResultType, RequestState string
		InputRequests            map[string]struct {
			Method string
			Params struct{ Mode, Message, URL string }
		}
	}
	if err := json.Unmarshal(raw, &back); err != nil {
		r.s.t.Fatal(err)
	}
	if back.ResultType != "input_required" {
		var result reply
		if json.Unmarshal(raw, &result); result.IsError {
			return result.text()
		}
		return hubtest.Said(raw)
	}
	question := back.InputRequests["input"]
	if len(back.InputRequests) != 1 || question.Method != "elicitation/create" {
		r.s.t.Errorf("the page asks %s", raw)
	}
	r.by.Extensions["requestState"], _ = json.Marshal(back.RequestState)
	_, message, _ := strings.Cut(question.Params.Message, " asks: ") // after the hub's word for the site
	return strings.TrimSpace(message + " " + question.Params.URL)
}

// A tool asks the user of the agent while it runs: each answer reaches the tool that waits for it,
// which runs once.
func TestToolAsksTheUser(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := chromium.Shared(t, chromium.Options{}).Open(s.host(asking, ""))
	text := func(s string) string { return fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, s) }
	const ada, bob = `{"action":"accept","content":{"answer":"Ada"}}`, `{"action":"accept","content":{"answer":"Bob"}}`
	const returns = `const {action, content} = await ask(form("Who")); return action + JSON.stringify(content)`
	for _, c := range []struct {
		name, can, code string
		steps           []string // a result, an answer, a result…
	}{
		{"accepted", asksForms, returns, []string{"Who?", ada, text(`accept{"answer":"Ada"}`)}},
		{"by a client of the time before modes", `{"elicitation":{}}`, returns, []string{"Who?", ada, text(`accept{"answer":"Ada"}`)}},
		{"declined", asksForms, returns, []string{"Who?", `{"action":"decline"}`, text(`declineundefined`)}},
		{"cancelled", asksForms, returns, []string{"Who?", `{"action":"cancel","content":{"answer":"Ada"}}`, text(`cancelundefined`)}},
		{"an action that there is not", asksForms, returns, []string{"Who?", `{"action":"ACCEPT"}`, text(`cancelundefined`)}},
		{"no answer", asksForms, returns, []string{"Who?", `null`, text(`cancelundefined`)}},
		{"one after the other", asksForms, `const one = await ask(form("One")); return one.content.answer + " and " + (await ask(form("Two"))).content.answer`,
			[]string{"One?", ada, "Two?", bob, text("Ada and Bob")}},
		{"two at once", asksForms, `const both = await Promise.all([ask(form("One")), ask(form("Two"))]); return both.map(({content}) => content.answer).join(" and ")`,
			[]string{"One?", ada, "Two?", bob, text("Ada and Bob")}},
		{"fails after the answer", asksForms, `await ask(form("Who")); throw new Error("out of stock")`,
			[]string{"Who?", ada, `{"error":{"code":"TOOL_ERROR","message":"out of stock"}}`}},
		{"over before the answer", asksForms, `ask(form("Who")); ask(form("What")).catch((error) => (late = error.name)); return "done"`, []string{"Who?", ada, text("done")}},
		{"a client that cannot ask", "", `return ask(form("Who")).catch(name)`, []string{text("NotSupportedError")}},
		{"a client that asks for addresses alone", `{"elicitation":{"url":{}}}`, `return ask(form("Who")).catch(name)`, []string{text("NotSupportedError")}},
		{"an address", asksAnything, `return (await ask({mode: "url", message: "Pay", url: "https://pay.example/1"})).action`, []string{"Pay https://pay.example/1", `{"action":"accept"}`, text("accept")}},
		{"an address, to a client of forms", asksForms, `return ask({mode: "url", message: "Pay", url: "/pay"}).catch(name)`, []string{text("NotSupportedError")}},
		{"no message", asksAnything, `return ask({...form("x"), message: undefined}).catch(name)`, []string{text("TypeError")}},
		{"no schema", asksAnything, `return ask({message: "Who"}).catch(name)`, []string{text("TypeError")}},
		{"a schema that is none of a form", asksAnything, `return ask({message: "Who", requestedSchema: {answer: {type: "string"}}}).catch(name)`, []string{text("TypeError")}},
		{"a schema that is not JSON", asksAnything, `const f = form("Who"); f.requestedSchema.properties.self = f; return ask(f).catch(name)`, []string{text("TypeError")}},
		{"no address", asksAnything, `return ask({mode: "url", message: "Pay"}).catch(name)`, []string{text("TypeError")}},
		{"an address that is none of the web", asksAnything, `return ask({mode: "url", message: "Pay", url: "javascript:alert(1)"}).catch(name)`, []string{text("TypeError")}},
		{"a mode that there is not", asksAnything, `return ask({...form("x"), mode: "voice"}).catch(name)`, []string{text("TypeError")}},
		{"nothing", asksAnything, `return ask().catch(name)`, []string{text("TypeError")}},
		{"interactive, with nobody who asks", asksAnything, `return ask({mode: "interactive"}).catch(name)`, []string{text("TypeError")}},
	} {
		for _, tool := range []string{"options", "invocation", "own"} {
			page.Eval("void (runs = 0)")
			r := s.rounds(tool, c.can, c.code)
			answer := ""
			for i, step := range c.steps {
				if i%2 == 1 {
					answer = step
				} else if got := r.next(answer); got != step {
					t.Errorf("%s, %s: %s, want %s", tool, c.name, got, step)
				}
			}
			if got := page.Eval("runs"); got != "1" {
				t.Errorf("%s, %s: the tool ran %s times", tool, c.name, got)
			}
		}
	}
}

// An answer is taken once, by the document that has asked.
func TestAnswerIsTakenOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := chromium.Shared(t, chromium.Options{}).Open(s.host(asking, ""))
	const refused = `{"error":{"code":"TOOL_ERROR","message":"the page does not wait for this answer any more; what it was about to do may have taken effect"}}`
	const yes = `{"action":"accept","content":{}}`
	for _, tool := range []string{"options", "own"} {
		page.Eval("void (runs = 0)")
		r := s.rounds(tool, asksForms, `await ask(form("One")); return (await ask(form("Two"))).action`)
		r.next("")
		used := r.by.Extensions["requestState"]
		r.next(yes)
		second := r.by.Extensions["requestState"]
		for what, state := range map[string]json.RawMessage{"used": used, "of another document": json.RawMessage(`"tabhub-asked-0"`)} {
			r.by.Extensions["requestState"] = state
			if got := r.next(yes); got != refused {
				t.Errorf("%s: a state that is %s: %s", tool, what, got)
			}
		}
		r.by.Extensions["requestState"] = second
		if got := r.next(yes); !strings.Contains(got, "accept") {
			t.Errorf("%s: after that the answer: %s", tool, got)
		}
		if got := page.Eval("runs"); got != "1" {
			t.Errorf("%s: the tool ran %s times", tool, got)
		}
	}
	r := s.rounds("own", asksForms, `return ask(form("Who"))`)
	r.next("")
	page.Reload()
	if got := r.next(yes); got != refused {
		t.Errorf("after a reload: %s", got)
	}
	if got := page.Eval("runs"); got != "0" {
		t.Errorf("after a reload the tool ran %s times", got)
	}
}

// A tool whose call is cancelled, or over, asks nobody.
func TestCancelledToolAsksNobody(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := chromium.Shared(t, chromium.Options{}).Open(s.host(asking, ""))
	for _, tool := range []string{"options", "invocation", "own"} {
		for _, how := range []string{`form("Who")`, `{mode: "interactive"}, () => "asked"`} {
			r := s.rounds(tool, asksForms, `setTimeout(() => ask(`+how+`).catch((error) => (late = error.name))); return "done"`)
			if got := r.next(""); !strings.Contains(got, "done") {
				t.Errorf("%s: %s", tool, got)
			}
			page.WaitFor(`late === "InvalidStateError"`)

			ctx, cancel := context.WithCancel(t.Context())
			r = s.rounds(tool, asksForms, `window.begun = true; await new Promise((aborted) => (signal.onabort = aborted)); return ask(`+how+`).catch((error) => (late = error.name))`)
			r.call.By = &r.by
			done := make(chan error)
			go func() {
				_, err := s.hub.Call(ctx, r.call)
				done <- err
			}()
			page.WaitFor("window.begun")
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("%s: the cancelled call ended with %v", tool, err)
			}
			page.WaitFor(`late === "AbortError"`)
			page.Eval("void (begun = false)")
		}
	}
}

// A tool that is over does not have its tab wait for anybody.
func TestToolThatIsOverWaitsForNobody(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := chromium.Shared(t, chromium.Options{}).Open(s.host(`<script src="http://HUB/tab.js"></script><script>
		let wait;
		tabhub.registerTool({name: "book", description: "d", execute: (_, {waiting}) => ((wait = waiting), "booked")});
	</script>`, ""))
	s.call("book", `{}`)
	page.Eval("void wait()")
	s.call("book", `{}`) // what the page has said before it answers the hub has heard
	if tabs := s.hub.Tabs(nil); len(tabs) != 1 || tabs[0].Waiting {
		t.Errorf("%+v", tabs)
	}
}

// In the mode interactive the page itself asks: the tab says that it waits for the person, for as long
// as any question of the call does.
func TestToolAsksInThePage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := chromium.Shared(t, chromium.Options{}).Open(s.host(asking, ""))
	waits := func(want bool) {
		t.Helper()
		s.await(fmt.Sprint("the tab waits for the person: ", want), func() bool {
			return want == slices.ContainsFunc(s.hub.Tabs(nil), func(tab state.TabInfo) bool { return tab.Connected && tab.Waiting })
		})
	}
	const asks = `const inPage = (n) => ask({mode: "interactive"}, () => new Promise((answer, refuse) => (window["answer" + n] = answer, window["refuse" + n] = refuse))); `
	for _, tool := range []string{"options", "invocation", "own"} {
		done := make(chan string)
		begin := func(r *rounds, answer string) { go func() { done <- r.next(answer) }() }

		begin(s.rounds(tool, "", asks+`const {yes} = await inPage(1); await new Promise((go) => (window.go = go)); return {yes}`), "")
		waits(true)
		page.WaitFor("window.answer1")
		page.Eval("void answer1({yes: 7})")
		waits(false)
		page.WaitFor("window.go")
		page.Eval("void go()")
		if got := <-done; !strings.Contains(got, `"structuredContent":{"yes":7}`) {
			t.Errorf("%s: answered: %s", tool, got)
		}

		begin(s.rounds(tool, "", asks+`return inPage(2)`), "")
		page.WaitFor("window.refuse2")
		page.Eval(`void refuse2(new Error("the user has closed the dialog"))`)
		if got := <-done; !strings.Contains(got, "closed the dialog") {
			t.Errorf("%s: refused: %s", tool, got)
		}
		waits(false)

		// Beside another question in the page, and over one to the user of the agent.
		r := s.rounds(tool, asksForms, asks+`const both = [inPage(3), inPage(4)]; await both[0]; window.one = true; const {action} = await ask(form("Who")); return action + await both[1]`)
		begin(r, "")
		page.WaitFor("window.answer4")
		waits(true)
		page.Eval("void answer3(3)")
		if got := <-done; got != "Who?" {
			t.Errorf("%s: two in the page: %s", tool, got)
		}
		waits(false) // no call is open
		begin(r, `{"action":"accept"}`)
		waits(true)
		page.Eval("void answer4(4)")
		if got := <-done; !strings.Contains(got, "accept4") {
			t.Errorf("%s: after both: %s", tool, got)
		}
		waits(false)
		page.Eval("void Object.assign(window, {go: undefined, answer1: undefined, refuse2: undefined, answer4: undefined})")
	}
}
