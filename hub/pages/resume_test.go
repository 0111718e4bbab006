package pages_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"tabhub/hub/call"
	"tabhub/hub/state"
	"tabhub/tabtransport/tabtest/chromium"
)

// leading is a page whose tool leads to further documents, each of which goes on with the call once
// its goOn is called, or at once.
const leading = `<script src="http://HUB/tab.js"></script><script>
	const query = new URLSearchParams(location.search);
	const count = (name) => (sessionStorage[name] = 1 + Number(sessionStorage[name] ?? 0));
	const lead = async ({invocation}, {hops, ...input}, hop) => {
		const token = await invocation.requestToken();
		location.href = "/next?" + new URLSearchParams({token, hop, ...(input.held && {held: 1})});
	};
	let refused = "";
	const goOn = () => document.modelContext.resumeTool(query.get("token"), async (input, options) => {
		count("resumed");
		const hop = Number(query.get("hop"));
		if (hop < input.hops) return lead(options, input, hop + 1);
		return {total: input.n * 2};
	}).catch((error) => (refused = error.name));
	if (!query.has("token")) {
		document.modelContext.registerTool({name: "sum", description: "d", execute: (input, options) => {
			count("ran");
			return lead(options, input, 1);
		}});
	} else if (!query.has("held")) goOn();
</script>`

// A call whose tool takes a token has one result: that of the document that resumes the call.
func TestToolGoesOnInTheNextDocument(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, args, resumed string }{
		{"in the next one", `{"n":21}`, "1"},
		{"which goes on in a third one", `{"n":21,"hops":2}`, "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			page := chromium.Shared(t, chromium.Options{}).Open(s.host(leading, ""))
			if r := s.call("sum", c.args); r.IsError || string(r.StructuredContent) != `{"total":42}` {
				t.Errorf("sum: %+v", r)
			}
			if got := page.Eval(`sessionStorage.ran + " " + sessionStorage.resumed`); got != `"1 `+c.resumed+`"` {
				t.Errorf("the tool and its callbacks ran %s times", got)
			}
			if n := s.calls.Load(); n != 1 {
				t.Errorf("%d records", n)
			}
			page.Eval("goOn()")
			page.WaitFor(`refused === "InvalidStateError"`)
		})
	}
}

// A call that its client has cancelled between two documents is not run in the next one.
func TestCancelledToolDoesNotGoOn(t *testing.T) {
	t.Parallel()
	for name, goOn := range map[string]func(page *chromium.Page, cancel func()){
		"cancelled before it is resumed": func(page *chromium.Page, cancel func()) {
			cancel()
			page.Eval("goOn()")
			page.WaitFor(`refused === "InvalidStateError"`)
		},
		"cancelled before the callback runs": func(page *chromium.Page, cancel func()) {
			page.Eval(`(async () => {
				const {id} = JSON.parse(sessionStorage["tabhub.token." + query.get("token")]);
				await goOn();
				const params = {requestId: id, reason: "cancelled"};
				socket.dispatchEvent(new MessageEvent("message", {data: JSON.stringify({jsonrpc: "2.0", method: "browser/cancel", params})}));
				await new Promise((later) => setTimeout(later, 100));
			})()`)
			cancel()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			page := chromium.Shared(t, chromium.Options{}).Open("about:blank")
			page.Prepend(`window.WebSocket = class extends WebSocket { constructor(...given) { super(...given); window.socket = this; } }`)
			page.Navigate(s.host(leading, ""))
			name := s.name("sum")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			done := make(chan error, 1)
			go func() {
				_, err := s.hub.Calls.Call(ctx, call.Request{Name: name, Args: []byte(`{"n":21,"held":true}`), By: tester})
				done <- err
			}()
			s.await("the next document", func() bool {
				return slices.ContainsFunc(s.hub.Tabs(nil), func(tab state.TabInfo) bool { return tab.Connected && strings.Contains(tab.URL, "/next") })
			})
			goOn(page, func() {
				cancelled := errors.New("the client has cancelled")
				cancel(cancelled)
				if err := <-done; !errors.Is(err, cancelled) {
					t.Errorf("the call ended with %v", err)
				}
			})
			if got := page.Eval(`sessionStorage.ran + " " + sessionStorage.resumed`); got != `"1 undefined"` {
				t.Errorf("the tool and its callback ran %s times", got)
			}
		})
	}
}

// Unused tokens are removed from the page's storage when they expire.
func TestUnusedTokensGo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := chromium.Shared(t, chromium.Options{}).Open(s.host(`<script src="http://HUB/tab.js"></script><script>
		sessionStorage["tabhub.token.old"] = JSON.stringify({id: "x", until: Date.now() - 1});
		document.modelContext.registerTool({name: "save", description: "d", execute: async (_, {invocation}) => {
			await invocation.requestToken();
			throw new Error("no more");
		}});
	</script>`, ""))
	s.call("save", `{}`)
	s.call("save", `{}`)
	if got := page.Eval(`Object.keys(sessionStorage).filter((key) => key.startsWith("tabhub.token.")).length`); got != "2" {
		t.Errorf("%s tokens are stored", got)
	}
}

// While a tool asks, the hub has no call of it that could go on in another document.
func TestToolThatAsksTakesNoToken(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := chromium.Shared(t, chromium.Options{}).Open(s.host(`<script src="http://HUB/tab.js"></script><script>
		let take;
		document.modelContext.registerTool({name: "ask", description: "d", execute: async (_, {invocation, requestUserInput}) => {
			take = () => invocation.requestToken().then(() => "taken", ({name}) => name);
			return requestUserInput({message: "Who?", requestedSchema: {type: "object", properties: {}}});
		}});
	</script>`, ""))
	r := s.rounds("ask", asksForms, "")
	r.next("")
	if got := page.Eval("take()"); got != `"NotSupportedError"` {
		t.Errorf("while it asks: %s", got)
	}
	if got := r.next(`{"action":"decline"}`); !strings.Contains(got, "decline") {
		t.Error(got)
	}
}
