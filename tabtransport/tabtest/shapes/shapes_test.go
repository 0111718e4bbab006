package shapes

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

func TestMain(m *testing.M) { os.Exit(chromium.Main(m)) }

// look returns what a page sees of the API: whether it is on document and on navigator, whether it is
// an EventTarget, the kinds of the schemas, a tool's members, whether it is the same each time, the
// outcomes of calls with an object, JSON, a dictionary and a copy, and where a call is reported.
const look = `(async () => {
	const context = document.modelContext ?? navigator.modelContext;
	await context.registerTool({ name: "tool", description: "d", inputSchema: {}, outputSchema: {}, execute: () => ({ n: 1 }) });
	const events = [];
	addEventListener("toolactivated", () => events.push("window"));
	context.addEventListener?.("toolactivated", () => events.push("context"));
	const listed = async () => (await context.getTools())[0];
	const tool = await listed();
	const outcome = async (work) => {
		try {
			return "gives:" + typeof (await work());
		} catch (error) {
			return error.name;
		}
	};
	const run = (given, input) => outcome(() => context.executeTool ? context.executeTool(given, input) : context.invokeTool(given.name, input));
	const dictionary = { name: "tool", description: "d", window, origin };
	return [
		[document, navigator].map((place) => "modelContext" in place), context instanceof EventTarget,
		typeof tool.inputSchema, typeof tool.outputSchema, Object.keys(tool).join(), tool === await listed(),
		await run(tool, {}), await run(tool, "{}"), await run(dictionary, context.executeTool && typeof tool.inputSchema === "string" ? "{}" : {}),
		await outcome(() => structuredClone(tool) && 1), events[0],
	].map(String).join(" ");
})()`

// looks is what look returns, by the shapes' names.
var looks = map[string]string{
	"chrome-149":  `"true,true true string undefined description,inputSchema,name,origin,title,window false UnknownError gives:string gives:string DataCloneError window"`,
	"chrome-152":  `"true,false true string undefined description,inputSchema,name,origin,title,window false UnknownError gives:string gives:string DataCloneError window"`,
	"chrome-156":  `"true,false true object undefined description,inputSchema,name,origin,title,window false gives:string TypeError gives:string DataCloneError context"`,
	"chrome-159":  `"true,false true object object description,inputSchema,name,origin,outputSchema,title,window false gives:string TypeError gives:string DataCloneError context"`,
	"chrome-160":  `"true,false true object object  true gives:string TypeError TypeError DataCloneError context"`,
	"firefox-153": `"false,true false object undefined description,execute,inputSchema,name false gives:object TypeError gives:object DataCloneError undefined"`,
}

// Pages see of each shape what they see of the browser.
func TestLook(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html>")
	}))
	t.Cleanup(srv.Close)
	b := chromium.Shared(t, chromium.Options{WebMCP: true})
	for _, s := range All {
		p := b.Open("about:blank")
		p.Prepend(s.Script)
		p.Navigate(srv.URL)
		if got := p.Eval(look); got != looks[s.Name] {
			t.Errorf("%s: %s, want %s", s.Name, got, looks[s.Name])
		}
		p.Close()
	}
}
