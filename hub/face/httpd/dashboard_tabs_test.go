package httpd

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// viewTabs opens the dashboard's view of tabs and tools.
func (d *testServer) viewTabs(args string) *chromium.Page {
	d.t.Helper()
	page := d.openDashboard()
	page.Eval(`location.hash = "#tabs` + args + `"`)
	page.WaitFor(`document.querySelector("#found li, #no-tabs:not([hidden]), #no-match:not([hidden])")`)
	return page
}

// slash presses that key, as a person does: the one that drives the browser would also write it.
const slash = `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "/", bubbles: true, cancelable: true}))`

const cartTool = `{"name":"add_to_cart","title":"Add to cart","description":"Puts a product into the cart.\nAs many as are asked for.",
	"annotations":{"idempotentHint":true},
	"inputSchema":{"type":"object","required":["product","size"],"properties":{
		"product":{"type":"string","description":"What to add"},
		"count":{"type":"integer","default":1,"minimum":1,"maximum":9},
		"size":{"enum":["S","M","L"]},
		"gift":{"type":"boolean"},
		"address":{"type":"object","required":["city"],"properties":{"city":{"type":"string"},"lines":{"type":"array","items":{"type":"string"}}}}}},
	"outputSchema":{"type":"object","properties":{"total":{"type":"number","description":"What it costs"}}}}`

// The owner finds a tool among those of several tabs, sees what it takes and where a call of it
// goes, calls it with a form, and gets what a client would.
func TestToolOnTheDashboard(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	sent := make(chan string, 1)
	d.join("", "https://shop.example/", "The shop", func(_ context.Context, in tabtransport.Incoming) (spec.Response, error) {
		sent <- string(in.Request.(*spec.ExecuteTool).Args)
		return spec.Response{Result: json.RawMessage(`{"content":[{"type":"text","text":"Added <b>2</b>"},{"type":"image","mimeType":"image/png","data":"` + pixel + `"}],"structuredContent":{"total":18.5}}`)}, nil
	}, cartTool, `{"name":"odd","inputSchema":{"type":7}}`, `{"name":"n","frameId":"1"}`)
	d.join("", "https://other.example/", "Another", answering(`{}`), `{"name":"add_note"}`)
	page := d.viewTabs("")
	page.WaitFor(`document.querySelector("#found").textContent.includes("The shop")`)

	// By the keyboard: to the search, to what it finds, and into it.
	page.Eval(slash)
	page.Type("cart shop")
	page.WaitFor(`document.querySelector("#count-tools-found").textContent === "1"`)
	page.Click("#kind-tools")
	page.WaitFor(`document.querySelectorAll("#found li").length === 1`)
	page.Eval(slash)
	page.Keys(kb.ArrowDown)
	page.WaitFor(`document.activeElement.closest("#found")`)
	page.Keys(kb.Enter)
	page.WaitFor(`document.activeElement.id === "open-title"`)
	var text string
	page.Into(`document.querySelector("#open").innerText`, &text)
	for _, want := range []string{"Add to cart", "website_tool_shop_example__add_to_cart", "As many as are asked for.", "changes", "may be called again with the same effect", "The shop", "the only tab", "product", "integer", "default 1", "1 to 9", "one of S, M, L", "city", "What it costs"} {
		if !strings.Contains(text, want) {
			t.Errorf("the tool does not show %q:\n%s", want, text)
		}
	}
	if got := page.Eval(`[location.hash, document.querySelectorAll("#open .schema tbody tr").length]`); got != `["#tabs?q=cart+shop&kind=tools&tool=website_tool_shop_example__add_to_cart",8]` {
		t.Errorf("the address and the parameters: %s", got)
	}

	// What is wrong is said where it is, and nothing is sent.
	page.Click("#open button.main")
	page.WaitFor(`document.querySelector(".schemaform [aria-invalid=true]")`)
	page.Click(".schemaform .field:nth-child(1) textarea")
	page.Type(`it's "mug" ’x`)
	page.Eval(`document.querySelector(".schemaform select").value = "1"`)
	page.Click("#open button.main")
	if got, want := <-sent, `{"product":"it's \"mug\" ’x","count":1,"size":"M"}`; got != want {
		t.Errorf("the page is sent %s, want %s", got, want)
	}
	page.WaitFor(`document.querySelector(".outcome img")?.naturalWidth === 1`)
	page.Into(`document.querySelector(".outcome").innerText`, &text)
	if !strings.Contains(text, "Added <b>2</b>") || !strings.Contains(text, "total\n18.5") {
		t.Errorf("the result: %s", text)
	}
	if got := page.Eval(`document.querySelector(".trial-state").textContent`); !strings.HasPrefix(got, `"It took `) {
		t.Errorf("the state: %s", got)
	}
	page.Eval(`navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }`)
	for label, want := range map[string]string{
		"Copy as command":     `tabhub call website_tool_shop_example__add_to_cart '{"product":"it'\''s \"mug\" \u2019x","count":1,"size":"M"}'`,
		"Copy for PowerShell": `'{"product":"it''s \"mug\" \u2019x","count":1,"size":"M"}' | tabhub call website_tool_shop_example__add_to_cart -`,
		"Copy as JSON":        "{\n  \"name\": \"website_tool_shop_example__add_to_cart\",\n  \"arguments\": {\n    \"product\": \"it's \\\"mug\\\" ’x\",\n    \"count\": 1,\n    \"size\": \"M\"\n  }\n}",
	} {
		page.Click(`button[aria-label="` + label + `"]`)
		page.WaitFor(`window.copied`)
		if page.Into(`window.copied`, &text); text != want {
			t.Errorf("%s: %s, want %s", label, text, want)
		}
		page.Eval(`delete window.copied`)
	}

	// From the tool to its tab, and back to what was found.
	page.Click("#where a[href*='tab=']")
	page.WaitFor(`document.querySelector("#open-title")?.textContent === "The shop"`)
	page.Into(`document.querySelector("#open").innerText`, &text)
	for _, want := range []string{"open", "https://shop.example/", "verified", "shop.example · tab 1 · 2 tools", "Add to cart", "n was refused: frameId must be an integer", "odd has parts that were left out:"} {
		if !strings.Contains(text, want) {
			t.Errorf("the tab does not show %q:\n%s", want, text)
		}
	}
	page.Click(".links a")
	page.WaitFor(`document.querySelector("#open-title")?.textContent === "Add to cart" && document.querySelector(".outcome img")`)
	page.Reload()
	page.WaitFor(`document.querySelector("#open-title")?.textContent === "Add to cart" && document.querySelector("#search").value === "cart shop"`)
	page.Eval(`document.querySelector("#open-title").focus()`)
	page.Keys(kb.Escape) // and back to where it was found
	page.WaitFor(`!document.querySelector("#open").checkVisibility() && document.activeElement.matches("#found a")`)
}

// A call that takes long says how far it is, goes on while another view is shown, and can be
// stopped, which the page is told.
func TestSlowCallOnTheDashboard(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	answer, stopped := make(chan struct{}), make(chan struct{}, 1)
	var tab *tabtransport.Local
	tab = d.join("", "https://e.example/", "Slow", func(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
		tab.Progress(in.Tab, spec.Progress{RequestID: in.ID, Progress: 1, Total: new(4.0), Message: "a quarter"})
		select {
		case <-answer:
			return spec.Response{Result: json.RawMessage(`{"content":[{"type":"text","text":"nothing works"}],"isError":true}`)}, nil
		case <-ctx.Done():
			stopped <- struct{}{}
			return spec.Response{}, context.Cause(ctx)
		}
	}, `{"name":"slow","annotations":{"readOnlyHint":true}}`)
	page := d.viewTabs("?tool=website_tool_e_example__slow")
	page.WaitFor(`document.querySelector("#open button.main")`)
	page.Click("#open button.main")
	page.WaitFor(`document.querySelector("#open progress").value === 1 && document.querySelector(".trial-state").textContent.includes("a quarter")`)
	page.Click("#open button.main") // it is under way already
	page.Click(`#open button[aria-label^="Cancel:"]`)
	<-stopped
	page.WaitFor(`document.querySelector(".outcome").textContent.includes("You stopped it")`)

	page.Click("#open button.main")
	page.WaitFor(`document.querySelector("#open progress").checkVisibility()`)
	page.Click(`#nav a[href="#now"]`)
	page.WaitFor(`!document.querySelector("#open")`)
	close(answer)
	page.Click(`#nav a[href="#tabs"]`)
	page.Eval(`location.hash = "#tabs?tool=website_tool_e_example__slow"`)
	page.WaitFor(`document.querySelector(".result.failed")?.textContent.includes("nothing works")`)
	if calls := d.tenant.Hub.Status().Calls; calls != 2 {
		t.Errorf("%d calls were made, want 2", calls)
	}
}

// A tool that may do what cannot be undone is called by the second press alone, and a page that
// only reads calls none.
func TestWhoMayCallOnTheDashboard(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	d.join("", "https://e.example/", "E", answering(`{"content":[{"type":"text","text":"gone"}]}`), `{"name":"wipe","annotations":{"destructiveHint":true}}`)
	page := d.viewTabs("?tool=website_tool_e_example__wipe")
	page.WaitFor(`document.querySelector("#open button.main")`)
	page.Click("#open button.main")
	page.WaitFor(`document.querySelector("#open button.main").textContent === "Call?"`)
	if calls := d.tenant.Hub.Status().Calls; calls != 0 {
		t.Fatalf("%d calls were made by one press", calls)
	}
	page.Click("#open button.main")
	page.WaitFor(`document.querySelector(".outcome").textContent.includes("gone")`)
	// In one go: the page says each second what it may do.
	if got := page.Eval(`(document.body.classList.remove("may-write"), document.querySelector("#open button.main").checkVisibility())`); got != "false" {
		t.Error("a page that only reads has a button that calls")
	}
	session := strings.Trim(page.Eval(`sessionStorage.getItem("tabhub.session")`), `"`)
	if status := d.as(session, "POST", "/api/call", `{"name":"own"}`); status == 200 {
		t.Error("a session calls from elsewhere")
	}
}

// What a page calls its tools, says of them and returns is text, whatever it is, and leaves the
// dashboard at work.
func TestHostileTool(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	const hostile = `</td><img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>`
	deep := strings.Repeat(`{"type":"object","properties":{"p":`, 12) + `{}` + strings.Repeat(`}}`, 12)
	var many strings.Builder
	for i := range 400 {
		fmt.Fprintf(&many, `,"p%d":{"enum":["%s"]}`, i, hostile)
	}
	d.join("", "https://e.example/", strings.ReplaceAll(hostile, `\`, ""), answering(`{"content":[{"type":"text","text":"`+hostile+`"},{"type":"image","mimeType":"image/svg+xml","data":"PHN2Zz4="},{"type":"resource_link","name":"x","uri":"javascript:alert(1)"},7],"structuredContent":{"__proto__":{"a":"`+hostile+`"}},"isError":true}`),
		`{"name":"odd","title":"`+hostile+`","description":"`+hostile+`","inputSchema":{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string","pattern":"^(a+)+$","default":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"},"toString":{"type":["string","null"]},"deep":`+deep+`}}}`,
		`{"name":"many","inputSchema":{"type":"object","properties":{"first":{"type":"string"}`+many.String()+`}}}`,
	)
	page := d.viewTabs("?kind=tools&tool=website_tool_e_example__odd")
	page.WaitFor(`document.querySelector("#open button.main")`)
	page.Click("#open button.main")
	page.WaitFor(`document.querySelector(".result.failed")`)
	page.WaitFor(`document.querySelector(".outcome").textContent.includes("__proto__")`)
	if got := page.Eval(`[document.title, document.querySelectorAll("main img, main script, main svg, main a[href^=javascript]").length, document.querySelector("#open-title").textContent.includes("onerror="), {}.a === undefined]`); got != `["Tabs and tools \u00b7 tabhub",0,true,true]` {
		t.Errorf("what the page says has become a part of the dashboard: %s", got)
	}
	page.Eval(`location.hash = "#tabs?tool=website_tool_e_example__many"`)
	page.WaitFor(`document.querySelector("#open-title")?.textContent === "many" && document.querySelector(".schemaform textarea")`)
	if got := page.Eval(`document.querySelectorAll("#open .schema tbody tr").length`); got != "200" {
		t.Errorf("%s parameters are described", got)
	}
}

// Many tabs and tools are shown a part at a time; what is looked at stays when something changes.
func TestManyTabs(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	joinShops(t, d.peers, 120, 2)
	page := d.viewTabs("?kind=tools&q=such")
	page.WaitFor(`document.querySelector(".pages [role=status]").textContent === "1–50 of 240"`)
	page.Click(".pages button:last-child")
	page.WaitFor(`document.querySelector(".pages [role=status]").textContent === "51–100 of 240" && !document.querySelector("#found").textContent.includes("site100.")`) // the list, too
	if got := page.Eval(`[document.activeElement.textContent, location.hash]`); got != `["Next","#tabs?kind=tools&q=such&from=50"]` {
		t.Errorf("after the page was turned: %s", got)
	}
	page.Eval(`document.querySelector("#found li:nth-child(7) a").focus()`)
	before := page.Eval(`document.activeElement.textContent`)
	d.join("", "https://later.example/", "Later", answering(`{}`), `{"name":"such_more"}`)
	page.WaitFor(`document.querySelector(".pages [role=status]").textContent === "51–100 of 241"`)
	if after := page.Eval(`document.activeElement.textContent`); after != before {
		t.Errorf("the focus was on %s, and is on %s", before, after)
	}
	page.Eval(slash)
	page.Eval(`document.querySelector("#search").select()`)
	page.Type("nowhere")
	page.WaitFor(`document.querySelector("#no-match").checkVisibility() && document.querySelector("#count-tabs-found").textContent === "0"`)
	if got := page.Eval(`[location.hash, document.querySelector(".pages").checkVisibility()]`); got != `["#tabs?kind=tools&q=nowhere",false]` {
		t.Errorf("address, pages: %s", got)
	}
	page.Eval(`location.hash = "#tabs?kind=tools&q=such&from=400"`) // there are no longer so many
	page.WaitFor(`document.querySelector(".pages [role=status]").textContent === "1–50 of 241" && location.hash === "#tabs?kind=tools&q=such"`)
	page.Eval(`history.back()`)
	page.WaitFor(`location.hash === "#tabs?kind=tools&q=nowhere"`)
}

// Resources and prompts are found, read and got as tools are.
func TestResourcesAndPromptsOnTheDashboard(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	local := d.join("", "https://e.example/", "E", func(_ context.Context, in tabtransport.Incoming) (spec.Response, error) {
		if read, ok := in.Request.(*spec.ReadResource); ok {
			return spec.Response{Result: json.RawMessage(`{"contents":[{"uri":"` + read.URI + `","mimeType":"text/html","text":"<b>text</b> of ` + read.URI + `"}]}`)}, nil
		}
		return spec.Response{Result: json.RawMessage(`{"messages":[{"role":"user","content":{"type":"text","text":"Say <i>it</i>"}}]}`)}, nil
	}, `{"name":"one"}`)
	for kind, item := range map[spec.Kind]string{
		spec.KindResource: `{"uriTemplate":"shop://parts/{id}","name":"Parts"}`,
		spec.KindPrompt:   `{"name":"say","title":"Say it","arguments":[{"name":"what","description":"What to say","required":true}]}`,
	} {
		if _, err := local.Ask(t.Context(), 0, &spec.Register{Kind: kind, Items: []json.RawMessage{json.RawMessage(item)}}); err != nil {
			t.Fatal(err)
		}
	}
	page := d.viewTabs("?kind=resources&q=parts")
	page.WaitFor(`document.querySelectorAll("#found li").length === 1`)
	page.Click("#found a")
	page.WaitFor(`document.querySelector("#open-title")?.textContent === "Parts"`)
	page.Eval(`document.querySelector(".schemaform textarea").value = "tabhub://e.example/shop://parts/7"`)
	page.Click("#open button.main")
	page.WaitFor(`document.querySelector(".outcome").textContent.includes("<b>text</b> of shop://parts/7")`)
	page.Eval(`location.hash = "#tabs?kind=prompts&q=say"`)
	page.WaitFor(`document.querySelector("#found")?.textContent.includes("Say it")`)
	page.Click("#found a")
	page.WaitFor(`document.querySelector("#open-title")?.textContent === "Say it"`)
	page.Click("#open button.main")
	page.WaitFor(`document.querySelector(".schemaform [aria-invalid=true]")`)
	page.Click(".schemaform textarea")
	page.Type("yes")
	page.Click("#open button.main")
	page.WaitFor(`document.querySelector(".outcome").textContent.includes("user: Say <i>it</i>")`)
}
