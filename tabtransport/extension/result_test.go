package extension_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

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
		// What is no block of MCP is the hub's to mend.
		{`{content: [], structuredContent: {n: 1}}`, `{"content":[],"structuredContent":{"n":1}}`},
		{`{content: [{type: "json", json: {n: 1}}, {text: "untyped"}]}`, `{"content":[{"type":"json","json":{"n":1}},{"text":"untyped"}]}`},
		{`{content: "words", structuredContent: {n: 1}}`, `{"content":"words","structuredContent":{"n":1}}`},
		{`{content: [{type: "text", text: "no"}], isError: true}`, `{"content":[{"type":"text","text":"no"}],"isError":true}`},
		{`{structuredContent: {n: 1}}`, `{"structuredContent":{"n":1}}`},
		{`{content: "no blocks"}`, object(`{"content":"no blocks"}`)},
		{`(() => { const circle = {}; return circle.circle = circle; })()`, "failed: "},
	}
	var page strings.Builder
	page.WriteString("<!doctype html><script>const values = [")
	for _, r := range results {
		page.WriteString(r.value + ",\n")
	}
	page.WriteString("];\n")
	const register = `values.forEach((value, i) => document.modelContext.registerTool({name: "t" + i, description: "d", execute: () => value}));`
	for _, c := range chromium.Rows(1, []struct {
		way    string
		native bool
		more   string
	}{
		{"extension", false, register},
		{"native", true, register},
		{"library", false, `Object.defineProperty(document, "modelContext", {value: {
			getTools: async () => values.map((_, i) => ({name: "t" + i, description: "d"})),
			executeTool: async ({name}) => values[name.slice(1)],
		}});`},
	}...) {
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

// What a tool throws tells the client what is wrong, be it an error or not, and of two calls each
// has its own.
func TestThrown(t *testing.T) {
	t.Parallel()
	bothWays(t, testThrown)
}

func testThrown(t *testing.T, native bool) {
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: native})
	b.Open(site(t, map[string]string{"/": `<!doctype html><script>
		const add = (name, execute) => document.modelContext.registerTool({name, description: "d", execute});
		add("atOnce", () => { throw new TypeError("the cart is empty"); });
		add("later", async ({n}) => { await new Promise((done) => setTimeout(done, 50)); throw new Error("no " + n); });
		add("aborts", () => { throw new DOMException("the shop gave up", "AbortError"); });
		add("word", () => { throw "sold out"; });
		add("object", () => { throw {code: 409, message: "taken"}; });
		add("changes", (input) => { input.self = input; throw new Error("too many"); });
		add("nothing", () => { throw undefined; });
		add("unprintable", () => { throw {toString() { throw 1; }}; });
	</script>`}))
	wants := map[string]string{
		"atOnce": "the cart is empty", "later": "no 1", "aborts": "the shop gave up", "word": "sold out", "object": "taken",
		"changes": "too many", "nothing": "undefined", "unprintable": "the page's tool failed without saying why",
	}
	tab := h.tabWith(slices.Collect(maps.Keys(wants))...)
	for tool, want := range wants {
		if got, err := h.call(tab, tool, `{"n":1}`); err != nil || got != fmt.Sprintf("failed: %q", want) {
			t.Errorf("%s: %s, %v; want %q", tool, got, err, want)
		}
	}
	var calls sync.WaitGroup
	for n := range 30 { // each has what it has thrown, not another
		calls.Go(func() {
			if got, err := h.callFrame(t.Context(), tab, 0, "later", fmt.Sprintf(`{"n":%d}`, n), tabtransport.Wait{Timeout: chromium.Timeout}); err != nil || got != fmt.Sprintf(`failed: "no %d"`, n) {
				t.Errorf("call %d of several: %s, %v", n, got, err)
			}
		})
	}
	calls.Wait()
}
