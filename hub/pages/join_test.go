package pages_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tabhub/hub/call"
	"tabhub/hub/hubtest"
	"tabhub/hub/lists"
	"tabhub/hub/state"
	"tabhub/tabtransport/tabtest/chromium"
)

// numbers returns the numbers of the connected tabs, sorted.
func (s *site) numbers() []int {
	var out []int
	for _, tab := range s.hub.Tabs(nil) {
		if tab.Connected && len(tab.Domains) == 1 && tab.Domains[0].Tools > 0 {
			out = append(out, tab.Domains[0].Number)
		}
	}
	slices.Sort(out)
	return out
}

func (s *site) awaitNumbers(what string, want ...int) {
	s.t.Helper()
	s.await(fmt.Sprintf("%s: tabs %v", what, want), func() bool { return slices.Equal(s.numbers(), want) })
}

// A model that remembers a tab's name reaches that tab after a reload, and never a
// copy of it.
func TestTabKeepsItsNumber(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var toolChanges atomic.Int32
	stop := s.hub.Lists.Watch(func(c lists.Change) {
		if c.Tools {
			toolChanges.Add(1)
			s.happened()
		}
	})
	b := chromium.Shared(t, chromium.Options{})
	page := b.Open(s.url("/demo"))
	s.awaitNumbers("opened", 1)
	s.await("clients are told of the tools", func() bool { return toolChanges.Load() == 1 })

	key := page.Eval("tabhub.status.tabKey")
	page.Reload()
	page.WaitFor(`tabhub.status.state === "open"`)
	s.awaitNumbers("reloaded", 1)
	if got := page.Eval("tabhub.status.tabKey"); got != key {
		t.Errorf("the key changed with a reload from %s to %s", key, got)
	}
	stop()
	if n := toolChanges.Load(); n != 1 {
		t.Errorf("clients were told %d times that the tools changed; a reload changes nothing", n-1)
	}

	// A tab that the user duplicates has a copy of the session storage.
	second := b.Open(s.url("/nothing"))
	second.Eval("sessionStorage.setItem('tabhub.tabKey', " + key + ")")
	second.Navigate(s.url("/demo"))
	s.awaitNumbers("duplicated", 1, 2)
	if got := second.Eval("tabhub.status.tabKey"); got == key {
		t.Error("two tabs have one key")
	}
	second.Reload()
	second.WaitFor(`tabhub.status.state === "open"`)
	s.awaitNumbers("the copy reloaded", 1, 2)

	// Each call reaches the tab that it names.
	second.Eval(`void document.querySelector("[data-product='1'] button").click()`)
	for n, want := range map[int]string{1: `"totalCents":0`, 2: `"totalCents":1850`} {
		name := strings.Replace(s.name("view_cart"), "_view_cart", fmt.Sprintf("_tab%d_view_cart", n), 1)
		if r := s.send(t.Context(), name, `{}`, nil); !strings.Contains(string(r.StructuredContent), want) {
			t.Errorf("tab %d: %s, want %s", n, r.StructuredContent, want)
		}
	}
}

// Outside of secure contexts there are no locks to tell a copied key by.
func TestTabKeyWithoutLocks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	url := s.host(`<script>Object.defineProperty(navigator, "locks", {value: undefined})</script>
		<script src="http://HUB/tab.js"></script>`+offerOne, "")
	b := chromium.Shared(t, chromium.Options{})
	page := b.Open(url)
	s.awaitNumbers("opened", 1)
	key := page.Eval("tabhub.status.tabKey")
	second := b.Open(url)
	s.awaitNumbers("another tab", 1, 2)
	second.Eval("sessionStorage.setItem('tabhub.tabKey', " + key + ")")
	second.Reload()
	s.awaitNumbers("the other tab with a copied key", 1, 3)
	if got := page.Eval("[tabhub.status.tabKey, tabhub.status.state]"); got != "["+key+`,"open"]` {
		t.Errorf("the first tab lost its place: %s", got)
	}
	page.Reload()
	page.WaitFor(`tabhub.status.state === "open"`)
	if got := page.Eval("tabhub.status.tabKey"); got != key {
		t.Errorf("the key changed with a reload from %s to %s", key, got)
	}
}

// A page that comes back from a reload without its tools does not leave them
// behind.
func TestReloadWithoutTools(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	url := s.host(`<script src="http://HUB/tab.js"></script><script>
		if (!sessionStorage.again) tabhub.registerTool({name: "once", description: "d", execute: () => 1});
		sessionStorage.again = true;
	</script>`, "")
	page := chromium.Shared(t, chromium.Options{}).Open(url)
	s.name("once")
	page.Reload()
	s.await("the tool is gone", func() bool { return len(s.names()) == 0 })
}

// A page that registers bit by bit while it loads is reloaded: clients see no
// difference.
func TestReloadOfASlowPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var toolChanges atomic.Int32
	var prompt atomic.Bool // clients were told of the prompt
	stop := s.hub.Lists.Watch(func(c lists.Change) {
		if c.Tools {
			toolChanges.Add(1)
		}
		if c.Prompts {
			prompt.Store(true)
		}
		s.happened()
	})
	defer stop()
	url := s.host(`<script src="http://HUB/tab.js"></script><script>
		const tool = (name) => tabhub.registerTool({name, description: "d", execute: () => name});
		tool("a");
		addEventListener("DOMContentLoaded", () => tool("b"));
		addEventListener("load", () => setTimeout(() => tool("c"), 100));
	</script>`, "")
	page := chromium.Shared(t, chromium.Options{}).Open(url)
	s.await("all tools", func() bool { return len(s.names()) == 3 })
	// A client that knows of what came after the tools knows of all tools.
	page.Eval(`void tabhub.registerPrompt({name: "p", get: () => "p"})`)
	s.await("clients know the prompt", prompt.Load)
	before := toolChanges.Load()
	page.Reload()
	page.WaitFor(`tabhub.status.state === "open" && tabhub.status.tools === 3`)
	if r := s.call("c", `{}`); r.text() != "c" {
		t.Errorf("reply %+v", r)
	}
	if n := toolChanges.Load() - before; n != 0 {
		t.Errorf("clients were told %d times that the tools changed", n)
	}
}

// awaitNames waits until checkout is offered by the domain and by these tabs.
func (s *site) awaitNames(what string, tabs ...int) {
	s.t.Helper()
	s.await(fmt.Sprintf("%s: the domain and the tabs %v", what, tabs), func() bool {
		var got []int
		for _, it := range s.hub.Lists.List(lists.ListTools).Items {
			if it.Source == "checkout" {
				got = append(got, it.Tab)
			}
		}
		return slices.Equal(got, append([]int{0}, tabs...))
	})
}

// The life of two tabs of one site: names come and go with them, the domain's name
// means the tab that the user looks at, and no number is used twice.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := chromium.Shared(t, chromium.Options{})
	first := b.Open(s.url("/demo"))
	s.awaitNames("one tab")
	second := b.Open(s.url("/demo"))
	s.awaitNames("two tabs", 1, 2)
	for i, page := range []*chromium.Page{first, second, first} {
		page.Front()
		want := []int{1, 2, 1}[i]
		s.await(fmt.Sprintf("tab %d is active", want), func() bool {
			for _, tab := range s.hub.Tabs(nil) {
				if tab.Focused && len(tab.Domains) == 1 {
					return tab.Domains[0].Number == want
				}
			}
			return false
		})
		s.call("search_products", `{}`)
		page.WaitFor(fmt.Sprintf(`document.querySelector("[data-count=search_products]")?.textContent === "%d"`, 1+i/2))
	}

	first.Close()
	s.awaitNames("the first is closed")
	third := b.Open(s.url("/demo"))
	s.awaitNames("another is opened", 2, 3)
	second.Close()
	third.Close()
	s.await("only what is cached is left", func() bool {
		items := s.hub.Lists.List(lists.ListTools).Items
		return len(items) == 1 && items[0].Source == "search_products" && items[0].Tab == 0
	})
}

// Going back to a page that the browser has kept brings its tools back, as the tab
// that it was.
func TestBackToAKeptPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := chromium.Shared(t, chromium.Options{}).Open(s.url("/demo"))
	s.awaitNumbers("opened", 1)
	page.Eval("void (window.kept = true)")
	elsewhere := s.host("<p>nothing here", "")
	page.Navigate(elsewhere)
	s.awaitNumbers("away")
	page.Eval("void setTimeout(() => history.back())")
	s.awaitNumbers("back", 1)
	if page.Eval("window.kept === true") != "true" {
		t.Skip("this browser did not keep the page, which is what the test is about")
	}
	if r := s.call("search_products", `{}`); r.IsError {
		t.Errorf("a call after going back: %+v", r)
	}
}

// An answer that was ready while the connection was away is delivered by the next
// one: the call is not lost, and not run again.
func TestAnswerOverTheNextConnection(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	url := s.host(`<script src="http://HUB/tab.js"></script><script>
		let runs = 0, finish;
		tabhub.registerTool({name: "wait", description: "d", execute: () => { runs++; return new Promise(done => finish = done) }});
		// The socket is taken away while the call runs, and the answer comes meanwhile.
		const Real = WebSocket;
		let socket;
		window.WebSocket = class extends Real { constructor(...args) { super(...args); socket = this; } };
	</script>`, "")
	page := chromium.Shared(t, chromium.Options{}).Open(url)
	name := s.name("wait")
	done := make(chan reply)
	go func() { done <- s.send(t.Context(), name, `{}`, nil) }()
	page.WaitFor("runs === 1")
	page.Eval(`void (socket.close(), finish("late but there"))`)
	if r := <-done; r.IsError || r.text() != "late but there" {
		t.Errorf("reply %+v", r)
	}
	if got := page.Eval("runs"); got != "1" {
		t.Errorf("the tool ran %s times", got)
	}
}

// A page registers in bursts and changes its mind: the last state counts, and the
// hub is not flooded.
func TestBurstOfRegistrations(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var sent atomic.Int32
	url := s.host(`<script src="http://HUB/tab.js"></script><script>
		const all = [];
		for (let i = 0; i < 50; i++) all.push(tabhub.registerTool({name: "t" + i, description: "d", execute: () => i}));
		addEventListener("load", async () => {
			for (const tool of all.slice(3)) { await new Promise(r => setTimeout(r, 5)); tool.unregister(); }
			const abort = new AbortController();
			tabhub.registerTool({name: "late", description: "d", execute: () => 1}, {signal: abort.signal});
			tabhub.registerTool({name: "gone", description: "d", execute: () => 1}, {signal: abort.signal});
			abort.abort();
			tabhub.registerTool({name: "last", description: "d", execute: () => [1, 2]});
		});
	</script>`, "")
	stop := s.hub.Lists.Watch(func(c lists.Change) {
		if c.Tools {
			sent.Add(1)
		}
	})
	defer stop()
	chromium.Shared(t, chromium.Options{}).Open(url)
	s.await("the last state", func() bool { return len(s.names()) == 4 })
	if r := s.call("last", `{}`); r.text() != "[1,2]" {
		t.Errorf("reply %+v", r)
	}
	if n := sent.Load(); n > 3 {
		t.Errorf("the tools changed %d times for one burst", n)
	}
}

// What a page's tool returns arrives as it is; what it throws says so.
func TestResults(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	url := s.host(`<script src="http://HUB/tab.js"></script><script>
		const tool = (name, execute) => tabhub.registerTool({name, description: "d", execute});
		tool("full", () => ({content: [{type: "text", text: "t", x: [1, {y: null}]}], structuredContent: {deep: {a: "ä\u2028"}}, isError: false, _meta: {k: 1}}));
		tool("object", () => ({answer: 42}));
		tool("structured", () => ({structuredContent: {a: 1}}));
		tool("text", () => "plain");
		tool("nothing", () => {});
		tool("number", () => 7);
		tool("throws", () => { throw new Error("out of stock") });
		tool("rejects", async () => { throw "just a string" });
		tool("cyclic", () => { const x = {}; x.x = x; return x });
		tool("fn", () => () => 1);
		tool("big", () => "x".repeat(5 << 20));
		tool("huge", () => "x".repeat(33 << 20));
	</script>`, "")
	chromium.Shared(t, chromium.Options{}).Open(url)
	for _, tc := range []struct{ tool, want string }{
		{"full", `{"content":[{"type":"text","text":"t","x":[1,{"y":null}]}],"structuredContent":{"deep":{"a":"ä` + "\u2028" + `"}},"isError":false}`},
		{"object", `{"content":[{"type":"text","text":"{\"answer\":42}"}],"structuredContent":{"answer":42}}`},
		{"structured", `{"structuredContent":{"a":1},"content":[{"type":"text","text":"{\"a\":1}"}]}`},
		{"text", `{"content":[{"type":"text","text":"plain"}]}`},
		{"nothing", `{"content":[]}`},
		{"number", `{"content":[{"type":"text","text":"7"}]}`},
	} {
		raw, err := s.hub.Calls.Call(t.Context(), call.Request{By: tester, Name: s.name(tc.tool)})
		if err != nil || hubtest.Said(raw) != tc.want {
			t.Errorf("%s: %s %v, want %s", tc.tool, raw, err, tc.want)
		}
	}
	for tool, want := range map[string]string{
		"throws": "out of stock", "rejects": "just a string", "cyclic": "circular", "fn": "not JSON", "huge": "larger than",
	} {
		if r := s.call(tool, `{}`); !r.IsError || !strings.Contains(r.text(), want) {
			t.Errorf("%s: %.300v, want an error with %q", tool, r, want)
		}
	}
	if r := s.call("big", `{}`); len(r.text()) != 5<<20 {
		t.Errorf("big: %d bytes of text", len(r.text()))
	}
}

// A tool that the hub does not take is named where the page's author looks, and the
// others work.
func TestRejectedToolIsTold(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	url := s.host(`<script src="http://HUB/tab.js"></script><script>
		tabhub.registerTool({name: "good", description: "d", execute: () => 1});
		tabhub.registerTool({name: "bad\u202e", description: "d", execute: () => 1});
		let errors = [];
		for (const wrong of [null, {}, {name: "x"}, {name: "good", execute() {}}]) try { tabhub.registerTool(wrong) } catch (e) { errors.push(e.message) }
	</script>`, "")
	page := chromium.Shared(t, chromium.Options{}).Open(url)
	s.name("good")
	page.WaitFor(`tabhub.status.rejected.length === 1 && tabhub.status.rejected[0].name === "bad"`)
	var errs []string
	page.Into("errors", &errs)
	want := []string{"a tool needs a name", "a tool needs a name", "tool x needs a function execute", "tool good is registered already"}
	if !slices.Equal(errs, want) {
		t.Errorf("errors %q, want %q", errs, want)
	}
}

// Resources of a page: a template, what the hub subscribed to, one that is gone.
func TestResources(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	url := s.host(`<script src="http://HUB/tab.js"></script><script>
		let text = "one";
		const note = tabhub.registerResource({uri: "note://1", name: "note", mimeType: "text/plain", read: () => text});
		tabhub.registerResource({uriTemplate: "file:///{dir}/{+path}", name: "file", read: (uri) => ({contents: [{uri, blob: "AAEC"}]})});
		tabhub.registerPrompt({name: "p", get: ({a}) => ({messages: [{role: "assistant", content: {type: "text", text: a}}]})});
	</script>`, "")
	page := chromium.Shared(t, chromium.Options{}).Open(url)
	s.await("the resource, the template and the prompt", func() bool {
		return len(s.hub.Lists.List(lists.ListResources).Items) == 1 && len(s.hub.Lists.List(lists.ListTemplates).Items) == 1 && len(s.hub.Lists.List(lists.ListPrompts).Items) == 1
	})
	uri := s.hub.Lists.List(lists.ListResources).Items[0].Name
	raw, err := s.hub.Calls.ReadResource(t.Context(), tester, uri)
	if err != nil || !strings.Contains(string(raw), `"text":"one"`) || !strings.Contains(string(raw), "text/plain") {
		t.Errorf("note: %s %v", raw, err)
	}
	updated := make(chan string, 10)
	stopWatch := s.hub.Lists.Watch(func(c lists.Change) {
		for _, u := range c.Updated {
			updated <- u
		}
	})
	defer stopWatch()
	stop, err := s.hub.Calls.SubscribeResource(t.Context(), tester, uri)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	page.Eval(`void (text = "two", note.updated())`)
	select {
	case got := <-updated:
		if got != uri {
			t.Errorf("updated %s, want %s", got, uri)
		}
	case <-time.After(10 * time.Second):
		t.Error("the update was not told")
	}
	template := s.hub.Lists.List(lists.ListTemplates).Items[0].Name
	file := strings.NewReplacer("{dir}", "etc", "{+path}", "a/b.txt").Replace(template)
	if raw, err := s.hub.Calls.ReadResource(t.Context(), tester, file); err != nil || !strings.Contains(string(raw), "AAEC") {
		t.Errorf("%s: %s %v", file, raw, err)
	}
	if raw, err := s.hub.Calls.GetPrompt(t.Context(), tester, s.hub.Lists.List(lists.ListPrompts).Items[0].Name, json.RawMessage(`{"a":"hello"}`)); err != nil || !strings.Contains(string(raw), "hello") {
		t.Errorf("prompt: %s %v", raw, err)
	}
	page.Eval(`void note.unregister()`)
	s.await("the resource is gone", func() bool { return len(s.hub.Lists.List(lists.ListResources).Items) == 0 })
}

// Whatever of a call was lost with the connection, the call or nothing but the
// connection, the page runs it once and the client gets its answer.
func TestConnectionLostUnderCall(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := chromium.Shared(t, chromium.Options{}).Open(s.host(`<script src="http://HUB/tab.js"></script><script>
		let runs = 0, finish;
		tabhub.registerTool({name: "wait", description: "d", execute: () => { runs++; return new Promise(done => finish = done) }});
		// How often the page was connected: it may be away for a moment only.
		let connected = 0, before;
		tabhub.addEventListener("status", () => {
			const {state} = tabhub.status;
			if (state === "open" && before !== "open") connected++;
			before = state;
		});
	</script>`, ""))
	name := s.name("wait")
	for i, lost := range []bool{true, false, true} {
		done := make(chan reply, 1)
		var gone <-chan struct{}
		if lost {
			gone = s.port.Lose()
		}
		go func() { done <- s.send(t.Context(), name, `{}`, nil) }()
		if lost {
			<-gone
		} else {
			page.WaitFor(fmt.Sprintf("runs === %d", i+1))
		}
		s.port.Cut()
		page.WaitFor(fmt.Sprintf(`connected === %d && runs === %d`, i+2, i+1))
		page.Eval(fmt.Sprintf(`void finish("answer %d")`, i))
		if r := <-done; r.IsError || r.text() != fmt.Sprint("answer ", i) {
			t.Errorf("call %d: %+v", i, r)
		}
		if got := page.Eval("runs"); got != fmt.Sprint(i+1) {
			t.Errorf("the tool ran %s times for %d calls", got, i+1)
		}
	}
}

// A tab says that it waits for the person for as long as it does, also if the page of the call is
// left before the call has ended.
func TestPageLeftUnderCallThatWaits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := chromium.Shared(t, chromium.Options{WebMCP: true}).Open(s.host(`<script src="http://HUB/tab.js"></script>
	<form toolname="book" tooldescription="Books"><input name="q"><button>Book</button></form>`, ""))
	waits := func(waiting bool) func() bool {
		return func() bool {
			return slices.ContainsFunc(s.hub.Tabs(nil), func(tab state.TabInfo) bool { return tab.Connected && tab.Waiting == waiting })
		}
	}
	name := s.name("book")
	done := make(chan reply, 1)
	go func() { done <- s.send(t.Context(), name, `{"q":"x"}`, nil) }()
	s.await("the tab waits", waits(true))
	page.Reload()
	<-done
	s.await("the tab waits no more", waits(false))
}
