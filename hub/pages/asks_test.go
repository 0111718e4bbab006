package pages_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tabhub/hub/call"
	"tabhub/hub/hubtest"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// asking is a page whose tools run the code that they are given, which may ask. They differ in where
// they have the function from.
const asking = `<script src="http://HUB/tab.js"></script><script>
	let runs = 0;
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
	call call.Request
	by   consent.Caller
}

// rounds begins no call yet. can is what the client can be asked, "" if nothing.
func (s *site) rounds(tool, can, code string) *rounds {
	args, _ := json.Marshal(map[string]string{"code": code})
	r := &rounds{s: s, call: call.Request{Name: s.name(tool), Args: args}, by: *tester}
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
	raw, err := r.s.hub.Calls.Call(r.s.t.Context(), r.call)
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
// which runs once. (What may be asked, and which answers count, is tested without a browser:
// toolcalls.test.mjs.)
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
		{"two at once", asksForms, `const both = await Promise.all([ask(form("One")), ask(form("Two"))]); return both.map(({content}) => content.answer).join(" and ")`,
			[]string{"One?", ada, "Two?", bob, text("Ada and Bob")}},
		{"fails after the answer", asksForms, `await ask(form("Who")); throw new Error("out of stock")`,
			[]string{"Who?", ada, `{"error":{"code":"TOOL_ERROR","message":"out of stock"}}`}},
		{"a client that cannot ask", "", `return ask(form("Who")).catch(name)`, []string{text("NotSupportedError")}},
		{"an address", asksAnything, `return (await ask({mode: "url", message: "Pay", url: "https://pay.example/1"})).action`, []string{"Pay https://pay.example/1", `{"action":"accept"}`, text("accept")}},
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
