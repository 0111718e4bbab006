package extension_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
<iframe name="inner"></iframe>
<script>
const add = (name, execute) => document.modelContext.registerTool({name, description: 'd', execute});
add('goes', () => { location.href = '/answer'; });
add('says', () => { location.href = '/answer'; return 'said'; });
add('never', () => { location.href = '/answer'; return new Promise(() => {}); });
add('mutely', () => { location.href = '/mute'; return new Promise(() => {}); });
add('reloads', () => { location.reload(); return new Promise(() => {}); });
add('hangs', () => { document.title = 'hangs'; return new Promise(() => {}); });
</script>`

var travelTools = strings.Fields("form post redirected mute shop slow abroad nowhere download otherTab otherFrame goes says never mutely reloads hangs")

// world serves travels and where its tools lead, and returns the address of another site
// that serves the same.
func world(t testing.TB) (url, other string) {
	t.Helper()
	handler := func(other *string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			switch r.URL.Path {
			case "/":
				_, _ = io.WriteString(w, strings.ReplaceAll(travels, "OTHER", *other))
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

// A call that leads to another document is answered with what that one says, as the
// browser would, and where it is.
func TestCallsThatNavigate(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	url, other := world(t)
	const data = `{"content":[{"type":"text","text":"[{\"n\":1.5},[\"http://b\",\"\\\"//\"]]"}]}`
	const submitted = `{"content":[{"type":"text","text":"The form was submitted."}]}`
	const lost = `failed: "the page went to another document before the tool answered; it may have taken effect"`
	for _, c := range []struct{ tool, want, at string }{
		{"form", data, url + `/answer?q=x "Answer"`},
		{"post", data, url + `/answer "Answer"`},
		{"redirected", data, url + `/answer "Answer"`},
		{"mute", `{"content":[]}`, url + `/mute?q=x "Mute"`},
		{"shop", `{"content":[]}`, url + `/shop?q=x "Shop"`},
		{"abroad", `{"content":[]}`, other + `/answer?q=x "Answer"`},
		{"nowhere", submitted, ""},
		{"download", submitted, ""},
		{"otherTab", submitted, ""},
		{"otherFrame", submitted, ""},
		{"goes", data, url + `/answer "Answer"`},
		{"says", `{"content":[{"type":"text","text":"said"}]}`, url + `/answer "Answer"`},
		{"never", data, url + `/answer "Answer"`},
		{"mutely", lost, url + `/mute "Mute"`},
		{"reloads", lost, url + `/ "Start"`},
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
		if c.tool == "shop" && !equal(names(h.tabs[tab].tools), shopTools) {
			t.Errorf("the answer came before the tools of the page: %v", h.dump())
		}
		p.Close()
		h.wait("the tab is closed", func() bool { return len(h.tabs) == 0 })
	}
}

// What a tool returns reaches the client as the browser gives it, also from a library that
// gives the value itself.
func TestResults(t *testing.T) {
	t.Parallel()
	text := func(s string) string {
		b, _ := json.Marshal(s)
		return fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, b)
	}
	object := func(s string) string {
		return strings.TrimSuffix(text(s), "}") + `,"structuredContent":` + s + "}"
	}
	results := []struct{ value, want string }{
		{`"plain words"`, text("plain words")},
		{`"{\"a\": 1}"`, object(`{"a": 1}`)},
		{`{ok: true}`, object(`{"ok":true}`)},
		{`{}`, object(`{}`)},
		{`[1, "a", null]`, text(`[1,"a",null]`)},
		{`5`, text("5")},
		{`NaN`, text("NaN")},
		{`10n`, text("10")},
		{`false`, text("false")},
		{`null`, text("null")},
		{`undefined`, text("undefined")},
		{`() => 1`, text("undefined")},
		{`new Map([[1, 2]])`, object(`{}`)},
		{`new Date(0)`, text(`"1970-01-01T00:00:00.000Z"`)},
		{`{a: undefined, b: NaN}`, object(`{"b":null}`)},
		{`{content: [{type: "text", text: "x"}]}`, text("x")},
		{`{content: [], structuredContent: {n: 1}}`, `{"content":[],"structuredContent":{"n":1}}`},
		{`{content: [{type: "text", text: "no"}], isError: true}`, `{"content":[{"type":"text","text":"no"}],"isError":true}`},
		{`{structuredContent: {n: 1}}`, object(`{"n":1}`)},
		{`{content: "no blocks"}`, object(`{"content":"no blocks"}`)},
		{`(() => { const circle = {}; return circle.circle = circle; })()`, "failed: "},
	}
	var page strings.Builder
	page.WriteString("<!doctype html><script>const values = [")
	for _, r := range results {
		page.WriteString(r.value + ",\n")
	}
	page.WriteString("];\n")
	for _, c := range []struct {
		way    string
		native bool
		more   string
	}{
		{"native", true, `values.forEach((value, i) => document.modelContext.registerTool({name: "t" + i, description: "d", execute: () => value}));`},
		{"library", false, `document.modelContext = {
			getTools: async () => values.map((_, i) => ({name: "t" + i, description: "d"})),
			executeTool: async ({name}) => values[name.slice(1)],
		};`},
	} {
		t.Run(c.way, func(t *testing.T) {
			t.Parallel()
			h := newHub(t)
			b := h.browse(chromium.Options{WebMCP: c.native})
			b.Open(site(t, map[string]string{"/": page.String() + c.more + "</script>"}))
			var tools []string
			for i := range results {
				tools = append(tools, fmt.Sprint("t", i))
			}
			tab := h.tabWith(tools...)
			for i, r := range results {
				got, err := h.call(tab, tools[i], "{}")
				if ok := got == r.want || r.want == "failed: " && strings.HasPrefix(got, r.want); err != nil || !ok {
					t.Errorf("%s: %s, %v; want %s", r.value, got, err, r.want)
				}
			}
		})
	}
}
