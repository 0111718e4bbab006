package extension_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// checkout is a site whose tool goes on in the pages after it: the first takes a token and leads to
// /shipping, which resumes the call, and leads on to /done if it is asked to.
var checkout = map[string]string{
	"/": `<!doctype html><title>Cart</title><script>
		document.modelContext.registerTool({name: "checkout", description: "d", execute: async (input, {invocation}) => {
			sessionStorage.runs = Number(sessionStorage.runs ?? 0) + 1;
			const token = await invocation.requestToken();
			sessionStorage.token = token;
			if (input.stay) return "half";
			location.href = (input.at ?? "/shipping") + "?token=" + token;
		}});
	</script>`,
	"/shipping": `<!doctype html><title>Shipping</title><script type="application/ld+json">{"not": "this"}</script><script>
		const token = new URLSearchParams(location.search).get("token");
		window.resumed = document.modelContext.resumeTool(token, async (input, {signal, invocation}) => {
			sessionStorage.resumed = Number(sessionStorage.resumed ?? 0) + 1;
			if (input.fail) throw new Error("no such address");
			if (input.wait) return new Promise((_, reject) => (signal.onabort = () => ((sessionStorage.aborted = 1), reject(signal.reason))));
			if (input.on) location.href = "/done?token=" + (await invocation.requestToken());
			return {shipped: input.to};
		}).then(() => "accepted", ({name}) => name);
	</script>`,
	"/done": `<!doctype html><title>Done</title><script>
		document.modelContext.resumeTool(new URLSearchParams(location.search).get("token"), async (input) => ({done: input.to}));
	</script>`,
	"/login": `<!doctype html><title>Log in</title><script type="application/ld+json">{"please": "log in"}</script>`,
}

// shows waits until a tab shows a page of a title.
func (h *hub) shows(tab int64, title string) {
	h.t.Helper()
	h.wait("the tab shows "+title, func() bool {
		now := h.tabs[tab].state.Title
		return now != nil && *now == title
	})
}

// A call whose tool takes a token goes on in the next document: it has one result, that of the document
// that resumed it, and neither runs twice.
func TestCallGoesOnInTheNextDocument(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	for _, c := range []struct{ args, want, at string }{
		{`{"to":"Ada"}`, `{"content":[{"type":"text","text":"{\"shipped\":\"Ada\"}"}],"structuredContent":{"shipped":"Ada"}}`, "/shipping"},
		{`{"to":"Ada","on":true}`, `{"content":[{"type":"text","text":"{\"done\":\"Ada\"}"}],"structuredContent":{"done":"Ada"}}`, "/done"},
		{`{"to":"Ada","fail":true}`, `failed: "no such address"`, "/shipping"},
	} {
		url := site(t, checkout)
		p := b.Open(url)
		tab := h.tabWith("checkout")
		got, err := h.call(tab, "checkout", c.args)
		if err != nil || !strings.HasPrefix(got, c.want+" at "+url+c.at) {
			t.Errorf("%s: %s, %v", c.args, got, err)
		}
		if got := p.Eval(`[sessionStorage.runs, sessionStorage.resumed].join()`); got != `"1,1"` {
			t.Errorf("%s: the callbacks ran %s times", c.args, got)
		}
		h.closeTab(p)
	}
}

// The worker may be restarted between the documents, and while the second runs.
func TestCallGoesOnOverARestart(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	slow := map[string]string{"/": checkout["/"], "/shipping": `<!doctype html><title>Shipping</title><script>
		document.modelContext.registerTool({name: "track", description: "d", execute() {}});
		const resume = () => document.modelContext.resumeTool(new URLSearchParams(location.search).get("token"), async ({to}) => {
			await new Promise((done) => (window.finish = done));
			return {shipped: to};
		});
	</script>`}
	url := site(t, slow)
	p := b.Open(url)
	tab := h.tabWith("checkout")
	done := h.begin(tab, 0, "checkout", `{"to":"Ada"}`)
	h.tabAt(url+"/shipping", "track")
	h.stopWorker(b)
	p.Eval("resume()")
	p.WaitFor("window.finish")
	h.stopWorker(b)
	p.Eval("finish()")
	if got := <-done; !strings.Contains(got, `{"shipped":"Ada"}`) {
		t.Error(got)
	}
}

// A token is good once, in its tab and at its origin, and for as long as its call is wanted.
func TestTokenIsGoodOnce(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, checkout)
	p := b.Open(url)
	tab := h.tabWith("checkout")
	resume := func(p *chromium.Page, token string) string {
		return p.Eval(fmt.Sprintf(`document.modelContext.resumeTool(%s, () => "stolen").then(() => "accepted", ({name}) => name)`, token))
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	call := h.beginWith(ctx, tab, 0, "checkout", `{"at":"/login"}`, tabtransport.Wait{})
	h.shows(tab, "Log in")
	token := p.Eval("sessionStorage.token")
	other := b.Open(site(t, checkout))
	second := b.Open(url + "/login")
	for name, p := range map[string]*chromium.Page{"another origin": other, "another tab": second} {
		if got := resume(p, token); got != `"InvalidStateError"` {
			t.Errorf("%s: %s", name, got)
		}
	}
	cancel(errors.New("not any more"))
	<-call
	if got := resume(p, token); got != `"InvalidStateError"` {
		t.Errorf("after the call was cancelled: %s", got)
	}

	p.Navigate(url)
	tab = h.tabAt(url, "checkout")
	h.call(tab, "checkout", `{"to":"Ada"}`)
	if got := p.Eval("resumed"); got != `"accepted"` {
		t.Errorf("in the next document: %s", got)
	}
	p.Reload()
	if got := p.Eval("resumed"); got != `"InvalidStateError"` {
		t.Errorf("when it was used: %s", got)
	}
	if got := p.Eval("sessionStorage.resumed"); got != `"1"` {
		t.Errorf("the callback ran %s times", got)
	}
}

// Of several callbacks that a page resumes a call with at a time one runs.
func TestTokenUsedAtOnce(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	p := h.browse(chromium.Options{}).Open(site(t, checkout))
	done := h.begin(h.tabWith("checkout"), 0, "checkout", `{"to":"Ada","stay":true}`)
	p.WaitFor("sessionStorage.token")
	p.Reload()
	got := p.Eval(`Promise.all([1, 2, 3].map((n) => document.modelContext.resumeTool(sessionStorage.token, () => "callback " + n).catch(({name}) => name))).then(String)`)
	if want := `",InvalidStateError,InvalidStateError"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := <-done; !strings.Contains(got, "callback 1") {
		t.Error(got)
	}
}

// A client that cancels a call stops the document that has resumed it.
func TestCancelWhereTheCallGoesOn(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	p := b.Open(site(t, checkout))
	tab := h.tabWith("checkout")
	ctx, cancel := context.WithCancelCause(t.Context())
	call := h.beginWith(ctx, tab, 0, "checkout", `{"wait":true}`, tabtransport.Wait{})
	h.shows(tab, "Shipping")
	p.WaitFor("sessionStorage.resumed")
	cancel(errors.New("not any more"))
	<-call
	p.WaitFor("sessionStorage.aborted")
}

// A call may be resumed beside the document that runs it: in the same one, or in a frame.
func TestCallGoesOnBeside(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	p := b.Open(site(t, checkout))
	tab := h.tabWith("checkout")
	const resume = `.modelContext.resumeTool(sessionStorage.token, async ({to}) => "to " + to).then(() => "accepted", ({name}) => name)`
	for name, where := range map[string]string{
		"the same document": "document",
		"a frame":           `(document.querySelector("iframe") ?? document.body.appendChild(document.createElement("iframe"))).contentDocument`,
	} {
		done := h.begin(tab, 0, "checkout", `{"to":"Ada","stay":true}`)
		p.WaitFor("sessionStorage.token")
		if got := p.Eval(where + resume); got != `"accepted"` {
			t.Errorf("%s: %s", name, got)
		}
		if got := <-done; got != `{"content":[{"type":"text","text":"to Ada"}]}` {
			t.Errorf("%s: %s", name, got)
		}
		if got := p.Eval(where + resume); got != `"InvalidStateError"` {
			t.Errorf("%s, again: %s", name, got)
		}
		p.Eval("delete sessionStorage.token")
	}
}

// A call goes on beside the tool that the page calls itself, too, whether it gives a signal or not.
func TestPagesOwnCallGoesOn(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	p := h.browse(chromium.Options{}).Open(site(t, checkout))
	h.tabWith("checkout")
	for _, options := range []string{"", ", {signal: new AbortController().signal}"} {
		got := p.Eval(`(async () => {
			const [tool] = await document.modelContext.getTools();
			sessionStorage.token = "";
			const result = document.modelContext.executeTool(tool, {to: "Ada", stay: true}` + options + `);
			while (!sessionStorage.token) await new Promise((done) => setTimeout(done));
			await document.modelContext.resumeTool(sessionStorage.token, ({to}) => "to " + to);
			return result;
		})().catch(String)`)
		if got != `"to Ada"` {
			t.Errorf("executeTool(tool, input%s): %s", options, got)
		}
	}
}

// What a tool returns that has asked for a token in vain is its result, at once.
func TestTokenThatCannotBeKept(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	h.browse(chromium.Options{}).Open(site(t, map[string]string{"/": `<!doctype html><script>
		document.modelContext.registerTool({name: "save", description: "d", execute: async (_, {invocation}) => {
			const refused = await invocation.requestToken().catch(({name}) => name);
			return "saved here: " + refused;
		}});
	</script>`}))
	tab := h.tabWith("save")
	got, err := h.call(tab, "save", fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 1<<20)))
	if want := `{"content":[{"type":"text","text":"saved here: NotSupportedError"}]}`; got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

// What a page makes of its own calls does nothing to those of other tabs: not if it knows the token of
// one, nor if it takes tokens as fast as it can.
func TestTokensOfAHostilePage(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	hostile := b.Open(site(t, map[string]string{"/": `<!doctype html><script>
		addEventListener("tabhub-port", (event) => {
			const [far] = event.ports;
			if (event.forged) return;
			event.stopImmediatePropagation();
			const {port1: near, port2} = new MessageChannel();
			near.onmessage = ({data}) => far.postMessage(data);
			far.onmessage = ({data}) => near.postMessage({...data, token: window.stolen ?? data.token});
			dispatchEvent(Object.assign(new MessageEvent("tabhub-port", {ports: [port2]}), {forged: true}));
		});
		document.modelContext.registerTool({name: "steal", description: "d", execute(_, {invocation}) {
			window.take = () => invocation.requestToken().then(() => "taken", ({name}) => name);
			return new Promise(() => {});
		}});
	</script>`}))
	h.begin(h.tabWith("steal"), 0, "steal", `{}`)
	hostile.WaitFor("window.take")

	url := site(t, checkout)
	p := b.Open(url)
	done := h.begin(h.tabAt(url, "checkout"), 0, "checkout", `{"to":"Ada","stay":true}`)
	p.WaitFor("sessionStorage.token")
	token := p.Eval("sessionStorage.token")
	hostile.Eval("window.stolen = " + token)
	hostile.Eval("take()")
	p.Navigate(url + "/shipping?token=" + strings.Trim(token, `"`))
	if got := <-done; !strings.Contains(got, `{"shipped":"Ada"}`) {
		t.Error(got)
	}

	hostile.Eval("void (window.stolen = undefined)")
	taken := hostile.Eval(`Promise.all(Array.from({length: 1000}, take)).then((all) => all.filter((one) => one === "taken").length)`)
	if n, _ := strconv.Atoi(taken); n == 0 || n > 100 {
		t.Errorf("%s tokens taken", taken)
	}
}

// A call does not wait for the person any more in front of a document that it has left.
func TestNobodyWaitsInTheNextDocument(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	p := h.browse(chromium.Options{}).Open(site(t, map[string]string{
		"/": `<!doctype html><title>Cart</title><script>
			document.modelContext.registerTool({name: "checkout", description: "d", execute: async (_, {invocation, requestUserInput}) => {
				void requestUserInput({mode: "interactive"}, () => new Promise(() => {}));
				await new Promise((leave) => (window.leave = leave));
				location.href = "/shipping?token=" + (await invocation.requestToken());
			}});
		</script>`,
		"/shipping": `<!doctype html><title>Shipping</title><script>
			void document.modelContext.resumeTool(new URLSearchParams(location.search).get("token"), () => new Promise((done) => (window.finish = done)));
		</script>`,
	}))
	tab := h.tabWith("checkout")
	done := h.begin(tab, 0, "checkout", `{}`)
	waits := func(want bool) {
		t.Helper()
		h.wait(fmt.Sprint("the tab waits: ", want), func() bool { w := h.tabs[tab].state.Waiting; return w != nil && *w == want })
	}
	waits(true)
	p.Eval("void leave()")
	h.shows(tab, "Shipping")
	p.WaitFor("window.finish")
	waits(false)
	p.Eval(`void finish("shipped")`)
	if got := <-done; !strings.Contains(got, "shipped") {
		t.Error(got)
	}
}

// A frame that has resumed a call may go before it has ended it.
func TestFrameGoesThatHasTheCall(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	p := h.browse(chromium.Options{}).Open(site(t, checkout))
	done := h.begin(h.tabWith("checkout"), 0, "checkout", `{"to":"Ada","stay":true}`)
	p.WaitFor("sessionStorage.token")
	p.Eval(`new Promise((runs) => {
		const frame = document.body.appendChild(document.createElement("iframe"));
		void frame.contentDocument.modelContext.resumeTool(sessionStorage.token, () => new Promise(runs));
	})`)
	p.Eval(`document.querySelector("iframe").remove()`)
	if got := <-done; !strings.HasPrefix(got, "failed: ") {
		t.Error(got)
	}
}

// Where the browser has continuations of its own, its tools go on in the same way, whether it runs the
// next document's callback itself, or has given the call up with the document that its caller was in.
func TestBrowsersOwnCallGoesOn(t *testing.T) {
	t.Parallel()
	over, err := os.ReadFile("testdata/continuations.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"false", "true"} {
		t.Run("caller gone "+gone, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			opts := chromium.Options{Extension: h.write(), WebMCP: true}
			prepend(t, filepath.Join(opts.Extension, "content", "page.js"), strings.ReplaceAll(string(over), "CALLER_GONE", gone))
			b := h.browse(opts)
			for args, want := range map[string]string{
				`{"to":"Ada"}`:           `"structuredContent":{"shipped":"Ada"}} at `,
				`{"to":"Ada","on":true}`: `"structuredContent":{"done":"Ada"}} at `,
				`{"fail":true}`:          `failed: "no such address" at `,
			} {
				if gone == "true" && strings.Contains(args, "on") {
					continue // the browser gives no handle for a call that it does not know any more
				}
				p := b.Open(site(t, checkout))
				tab := h.tabWith("checkout")
				if got, err := h.call(tab, "checkout", args); err != nil || !strings.Contains(got, want) {
					t.Errorf("%s: %s, %v", args, got, err)
				}
				if got := p.Eval(`[sessionStorage.runs, sessionStorage.resumed].join()`); got != `"1,1"` {
					t.Errorf("%s: the callbacks ran %s times", args, got)
				}
				h.closeTab(p)
			}
		})
	}
}
