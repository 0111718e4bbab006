package extension_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// greeting is a page whose tools ask: the user of the agent, and the person in front of the tab.
const greeting = `<!doctype html><title>Asking</title><script>
	let runs = 0;
	document.modelContext.registerTool({name: "greet", description: "Greets", async execute(input, {requestUserInput}) {
		runs++;
		const ask = (message) => requestUserInput({message, requestedSchema: {type: "object", properties: {answer: {type: "string"}}}});
		const {content: {answer}} = await ask("Who");
		return (await ask("How")).content.answer + " " + answer;
	}});
	document.modelContext.registerTool({name: "sign", description: "Signs", execute: (input, {invocation}) =>
		invocation.requestUserInput({mode: "interactive"}, () => new Promise((answer) => (window.answer = answer)))});
</script>`

// A tool of the WebMCP that the extension gives asks while it runs: the answers reach it, also when the
// worker was stopped meanwhile, and in the mode interactive the tab says that it waits.
func TestToolAsks(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	p := b.Open(site(t, map[string]string{"/": greeting}))
	tab := h.tabWith("greet", "sign")

	round := func(extensions map[string]string) spec.Response {
		t.Helper()
		req := &spec.ExecuteTool{ToolName: "greet", Args: json.RawMessage("{}"), FrameID: new(int64), Extensions: spec.Extensions{}}
		for key, value := range extensions {
			req.Extensions[key] = json.RawMessage(value)
		}
		resp, err := h.wire.SendRequest(t.Context(), spec.TabAddr{Peer: browserPeer, Tab: tab}, req, tabtransport.Wait{Timeout: chromium.Timeout})
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	const can = `{"elicitation":{}}`
	// goesOn answers what the page has asked, which is to be message.
	goesOn := func(asked spec.Response, message, answer string) spec.Response {
		t.Helper()
		var question struct {
			RequestState  string
			InputRequests struct {
				Input struct{ Params struct{ Message string } }
			}
		}
		if err := json.Unmarshal(asked.Result, &question); err != nil || question.InputRequests.Input.Params.Message != message {
			t.Fatalf("the page says %s, %v; it is to ask %s", asked.Result, err, message)
		}
		return round(map[string]string{
			"clientCapabilities": can,
			"requestState":       `"` + question.RequestState + `"`,
			"inputResponses":     `{"input":{"action":"accept","content":{"answer":"` + answer + `"}}}`,
		})
	}
	asked := round(map[string]string{"clientCapabilities": can})
	h.stopWorker(b)
	first := goesOn(asked, "Who", "Ada")
	if got := goesOn(first, "How", "hello"); string(got.Result) != `{"content":[{"type":"text","text":"hello Ada"}]}` {
		t.Errorf("the tool returned %s", got.Result)
	}
	if got := goesOn(first, "How", "hello"); !got.Failed || !strings.Contains(string(got.Result), "does not wait for this answer any more") {
		t.Errorf("the same answer again: %s", got.Result)
	}
	if got := round(nil); !got.Failed || !strings.Contains(string(got.Result), "cannot ask its user") {
		t.Errorf("a client that cannot ask: %s", got.Result)
	}
	if got := p.Eval("runs"); got != "2" {
		t.Errorf("the tool ran %s times in two calls", got)
	}

	saysWaiting := func(want bool) {
		t.Helper()
		h.wait("the tab waits, or not", func() bool {
			w := h.tabs[tab].state.Waiting
			return w != nil && *w == want
		})
	}
	done := h.begin(tab, 0, "sign", "{}")
	saysWaiting(true)
	p.WaitFor("window.answer")
	p.Eval(`answer({signed: true})`)
	if got := <-done; !strings.Contains(got, `"structuredContent":{"signed":true}`) {
		t.Errorf("sign: %s", got)
	}
	saysWaiting(false)
}
