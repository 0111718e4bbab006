package extension_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// travels is a page whose tools lead elsewhere. OTHER is another site.
const travels = `<!doctype html><title>Start</title>
<form toolname="form" tooldescription="d" toolautosubmit action="/answer"><input name="q"></form>
<form toolname="post" tooldescription="d" toolautosubmit action="/answer" method="post"><input name="q"></form>
<form toolname="redirected" tooldescription="d" toolautosubmit action="/redirect"><input name="q"></form>
<form toolname="mute" tooldescription="d" toolautosubmit action="/mute"><input name="q"></form>
<form toolname="shop" tooldescription="d" toolautosubmit action="/shop"><input name="q"></form>
<form toolname="slow" tooldescription="d" toolautosubmit action="/slow"><input name="q"></form>
<form toolname="abroad" tooldescription="d" toolautosubmit action="OTHER/answer"><input name="q"></form>
<form toolname="nowhere" tooldescription="d" toolautosubmit action="/204"><input name="q"></form>
<form toolname="download" tooldescription="d" toolautosubmit action="/download"><input name="q"></form>
<form toolname="otherTab" tooldescription="d" toolautosubmit action="/answer" target="_blank"><input name="q"></form>
<form toolname="otherFrame" tooldescription="d" toolautosubmit action="/answer" target="inner"><input name="q"></form>
<form toolname="dead" tooldescription="d" toolautosubmit action="http://127.0.0.1:1/x"><input name="q"></form>
<iframe name="inner"></iframe>
<script>
const add = (name, execute) => document.modelContext.registerTool({name, description: 'd', execute});
add('goes', () => { location.href = '/answer'; });
add('says', () => { location.href = '/later'; setTimeout(() => fetch('/go'), 500); return 'said'; });
add('never', () => { location.href = '/answer'; return new Promise(() => {}); });
add('mutely', () => { location.href = '/mute'; return new Promise(() => {}); });
add('reloads', () => { location.reload(); return new Promise(() => {}); });
add('unknown', () => { location.href = 'http://no-such.invalid/'; return 'ordered'; });
add('lost', () => { location.href = 'http://no-such.invalid/'; return new Promise(() => {}); });
add('hangs', () => { parent.postMessage('started', '*'); return new Promise(() => {}); });
add('where', () => location.search);
</script>`

var travelTools = strings.Fields("form post redirected mute shop slow abroad nowhere download otherTab otherFrame dead goes says never mutely reloads unknown lost hangs where")

// travelLibrary is such a page with a library, which has a form submitted, too.
const travelLibrary = `<!doctype html><title>Start</title><form id="form" action="/answer"></form><script>
const tools = {
	goes: () => { location.href = '/answer'; },
	says: () => { location.href = '/later'; setTimeout(() => fetch('/go'), 500); return {said: 1}; },
	submits: async () => { form.submit(); return null; },
	never: () => { location.href = '/answer'; return new Promise(() => {}); },
};
Object.defineProperty(document, 'modelContext', {value: {
	getTools: async () => Object.keys(tools).map(name => ({name, description: 'd'})),
	executeTool: async ({name}) => tools[name](),
}});
</script>`

// world serves travels, travelLibrary and where their tools lead, and returns the address of another site
// that serves the same.
func world(t testing.TB) (url, other string) {
	t.Helper()
	goes := make(chan struct{}, 1) // the answer of a tool that leads to /later is on its way
	handler := func(other *string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			switch r.URL.Path {
			case "/":
				_, _ = io.WriteString(w, strings.ReplaceAll(travels, "OTHER", *other))
			case "/library":
				_, _ = io.WriteString(w, travelLibrary)
			case "/go":
				goes <- struct{}{}
			case "/later":
				select {
				case <-goes:
					http.Redirect(w, r, "/answer", http.StatusFound)
				case <-r.Context().Done():
				}
			case "/answer":
				_, _ = io.WriteString(w, `<!doctype html><title>Answer</title><script type="application/ld+json">{"n": 1.50}</script>
					<script type="application/ld+json">{not JSON</script><script type="text/plain">{"no": 1}</script>
					<body><script type="application/ld+json">/* a comment */ ["http://b", "\"//"]</script>`)
			case "/redirect":
				http.Redirect(w, r, "/answer", http.StatusFound)
			case "/mute":
				_, _ = io.WriteString(w, `<!doctype html><title>Mute</title>`)
			case "/shop":
				_, _ = io.WriteString(w, shop)
			case "/slow":
				_, _ = io.WriteString(w, `<!doctype html><title>Slow</title>`)
				w.(http.Flusher).Flush()
				select {
				case <-r.Context().Done():
				case <-t.Context().Done():
				}
			case "/204":
				w.WriteHeader(http.StatusNoContent)
			case "/download":
				w.Header().Set("Content-Disposition", "attachment; filename=list.csv")
				_, _ = io.WriteString(w, "1,2")
			}
		})
	}
	for _, at := range []struct{ own, other *string }{{&url, &other}, {&other, &url}} {
		s := httptest.NewServer(handler(at.other))
		t.Cleanup(s.Close)
		t.Cleanup(s.CloseClientConnections)
		*at.own = s.URL
	}
	return url, other
}

const (
	// answerData is the result of a call that has led to /answer.
	answerData = `{"content":[{"type":"text","text":"[{\"n\":1.5},[\"http://b\",\"\\\"//\"]]"}]}`
	// leftUnanswered is that of one that has led to a document which says nothing.
	leftUnanswered = `failed: "the page went to another document before the tool answered; it may have taken effect"`
)

// A call that leads to another document is answered with what that one says, as the
// browser would, and where it is.
func TestCallsThatNavigate(t *testing.T) {
	t.Parallel()
	bothWays(t, testCallsThatNavigate)
}

func testCallsThatNavigate(t *testing.T, native bool) {
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	url, other := world(t)
	const submitted = `{"content":[{"type":"text","text":"The form was submitted."}]}`
	for _, c := range []struct{ tool, want, at string }{
		{"form", answerData, url + `/answer?q=x "Answer"`},
		{"post", answerData, url + `/answer "Answer"`},
		{"redirected", answerData, url + `/answer "Answer"`},
		{"mute", `{"content":[]}`, url + `/mute?q=x "Mute"`},
		{"shop", `{"content":[]}`, url + `/shop?q=x "Shop"`},
		{"abroad", `{"content":[]}`, other + `/answer?q=x "Answer"`},
		{"nowhere", submitted, url + `/204?q=x ""ERR_ABORTED`},
		{"download", submitted, url + `/download?q=x ""ERR_ABORTED`},
		{"dead", `failed: "the form was submitted, but its page did not load"`, `http://127.0.0.1:1/x?q=x ""ERR_UNSAFE_PORT`},
		{"unknown", `failed: {"content":[{"type":"text","text":"ordered"}]}`, `http://no-such.invalid/ ""ERR_NAME_NOT_RESOLVED`},
		{"lost", leftUnanswered, `http://no-such.invalid/ ""ERR_NAME_NOT_RESOLVED`},
		{"otherTab", submitted, ""},
		{"otherFrame", submitted, ""},
		{"goes", answerData, url + `/answer "Answer"`},
		{"says", `{"content":[{"type":"text","text":"said"}]}`, url + `/answer "Answer"`},
		{"never", answerData, url + `/answer "Answer"`},
		{"mutely", leftUnanswered, url + `/mute "Mute"`},
		{"reloads", leftUnanswered, url + `/ "Start"`},
	} {
		p := b.Open(url)
		tab := h.tabWith(travelTools...)
		want := c.want
		if c.at != "" {
			want += " at " + c.at
		}
		if got, err := h.call(tab, c.tool, `{"q":"x"}`); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", c.tool, got, err, want)
		}
		h.mu.Lock()
		tools := h.tabs[tab].here()
		h.mu.Unlock()
		if c.tool == "shop" && !equal(tools, shopTools) {
			t.Errorf("the answer came before the tools of the page: %v", tools)
		}
		h.closeTab(p)
	}
}

// A server that does not answer, or whose certificate the browser refuses, is why a form or goto fails.
func TestReasonsThatPagesDoNotLoad(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	refused := httptest.NewUnstartedServer(http.NotFoundHandler())
	refused.Config.ErrorLog = log.New(io.Discard, "", 0) // it tells of each handshake that fails
	refused.StartTLS()
	t.Cleanup(refused.Close)
	dead := httptest.NewServer(nil)
	dead.Close()
	for address, reason := range map[string]string{refused.URL: "ERR_CERT_AUTHORITY_INVALID", dead.URL: "ERR_CONNECTION_REFUSED"} {
		p := b.Open(site(t, map[string]string{"/": `<!doctype html><form toolname="send" tooldescription="d" toolautosubmit action="` + address + `/x"><input name="q"></form>`}))
		tab := h.tabWith("send")
		want := `failed: "the form was submitted, but its page did not load" at ` + address + `/x?q=x ""` + reason
		if got, err := h.call(tab, "send", `{"q":"x"}`); err != nil || got != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
		if got, err := h.ask(tab, &spec.Navigate{URL: address}); err == nil || !strings.Contains(err.Error(), "the page cannot be loaded: "+reason) {
			t.Errorf("goto %s: %s, %v", address, got, err)
		}
		h.closeTab(p)
	}
}

// What the next document says is the result of the call that has led there, and no other's.
func TestCallBesideOneThatNavigates(t *testing.T) {
	t.Parallel()
	bothWays(t, testCallBesideOneThatNavigates)
}

func testCallBesideOneThatNavigates(t *testing.T, native bool) {
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	url, _ := world(t)
	p := b.Open(url)
	tab := h.tabWith(travelTools...)
	p.Eval(`void (window.started = new Promise(done => onmessage = ({data}) => data === 'started' && done()))`)
	beside := h.begin(tab, 0, "hangs", "{}")
	p.Eval("started")
	if got, err := h.call(tab, "form", `{"q":"x"}`); err != nil || !strings.Contains(got, "1.5") {
		t.Errorf("the form: %s, %v", got, err)
	}
	if got := <-beside; !strings.Contains(got, "before the tool answered; it may have taken effect") {
		t.Errorf("the call beside it: %s", got)
	}
}

// Of a site that the user does not share the hub learns nothing, also when a call leads there.
func TestCallThatLeadsToAnUnsharedSite(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	url, other := world(t)
	switchSite(b, other, false)
	b.Open(url)
	tab := h.tabWith(travelTools...)
	if got, err := h.call(tab, "abroad", `{"q":"x"}`); err != nil || got != `{"content":[]} at  ""` {
		t.Errorf("%s, %v", got, err)
	}
}

// A page that shows its next view in the same document, or does not leave after all, answers
// for itself, and at once: nothing follows, whatever else loads there.
func TestCallsThatThePageNavigates(t *testing.T) {
	t.Parallel()
	bothWays(t, testCallsThatThePageNavigates)
}

func testCallsThatThePageNavigates(t *testing.T, native bool) {
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	url, _ := world(t)
	p := b.Open(site(t, map[string]string{"/": `<!doctype html><title>Start</title><script>
		navigation.addEventListener('navigate', event => {
			if (event.destination.url.endsWith('/view')) event.intercept({handler: () => new Promise(done => setTimeout(done, 100))});
			if (event.destination.url.endsWith('/kept')) event.preventDefault();
		});
		for (const name of ['view', 'kept']) {
			const execute = () => { location.href = '/' + name; return 'shown'; };
			document.modelContext.registerTool({name, description: 'd', execute});
		}
	</script>`}))
	tab := h.tabWith("view", "kept")
	p.Eval(`void document.body.append(Object.assign(document.createElement("iframe"), {src: "` + url + `/slow"}))`)
	atOnce := tabtransport.Wait{Timeout: 5 * time.Second} // half of what the next document has
	for _, tool := range []string{"view", "kept"} {
		if got, err := h.callFrame(t.Context(), tab, 0, tool, "{}", atOnce); err != nil || got != `{"content":[{"type":"text","text":"shown"}]}` {
			t.Errorf("%s: %s, %v", tool, got, err)
		}
	}
}

// Where the person goes after a page is back from the back/forward cache is no result of the call
// that has led away from it before.
func TestPageIsBackUnderCall(t *testing.T) {
	t.Parallel()
	bothWays(t, testPageIsBackUnderCall)
}

func testPageIsBackUnderCall(t *testing.T, native bool) {
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	url, _ := world(t)
	p := b.Open(url + "/mute")
	p.Eval(`addEventListener('pageshow', (event) => window.fromCache = event.persisted);
		void document.modelContext.registerTool({name: 'leaves', description: 'd', execute: () => { location.href = '/slow'; return new Promise(() => {}); }})`)
	tab := h.tabWith("leaves")
	done := make(chan string, 1)
	go func() {
		got, err := h.callFrame(t.Context(), tab, 0, "leaves", "{}", tabtransport.Wait{Timeout: chromium.Timeout})
		done <- fmt.Sprint(got, err)
	}()
	h.wait("the next document is there", func() bool { return h.tabs[tab].state.URL != nil && *h.tabs[tab].state.URL == url+"/slow" })
	p.Back()
	p.WaitFor("window.fromCache")
	p.Navigate(url + "/answer")
	if got, want := <-done, `failed: "the page went to another document before the tool answered`; !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}
