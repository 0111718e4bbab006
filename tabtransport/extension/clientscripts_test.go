package extension_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// script has a client's script run in the top document of a tab at a site.
func (h *hub) script(ctx context.Context, tab int64, url, code string) string {
	return h.runAs(ctx, tab, &spec.Run{FrameID: new(int64), Origin: url, Script: code}, "", tabtransport.Wait{Timeout: time.Minute})
}

// offscreen is true in the worker while there is a document for scripts.
const offscreen = `chrome.runtime.getContexts({contextTypes: ["OFFSCREEN_DOCUMENT"]}).then((all) => all.length > 0)`

// A script does its steps one after the other, gets what they read, and ends with its first failure; each step is
// in the receipt, and it is done once.
func TestScriptOfAClient(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, cart)
	h.tellPacks(cartPack(url))
	for _, c := range []struct{ name, code, want, counts string }{
		{"nothing", `return 1 + 1`, `2 []`, `"0,0,0"`},
		{"steps on one page", `await page.fill('textbox "Name"', "Ada ${x}"); await page.click('button "Add"'); return await page.text('button "Add"')`, `"Add" [fill yes, click yes, read yes]`, `"1,0,0"`},
		{"without await", `page.click('button "Add"'); page.wait(20); page.click('button "Add"')`, `null [click yes, click yes]`, `"2,0,0"`},
		{"what follows a call that is not awaited", `page.text("button \"Add\"").then((text) => page.click({role: "button", name: text}))`, `null [read yes, click yes]`, `"1,0,0"`},
		{"to the next page", `page.fill({'textbox "Name"': "Ada"}); await page.click('button "Order"'); const n = await page.text({selector: "#number"}); await page.click('button "Confirm"'); return {n}`, `{"n":"Order 7"} [fill yes, click yes, read yes, click yes] at ` + url + `/confirm?Ada`, `"0,1,1"`},
		{"by its address", `await page.open("/confirm"); return page.text({selector: "#number"})`, `"Order 7" [open yes, read yes] at ` + url + `/confirm`, `"0,0,0"`},
		{"to another site", `await page.open("https://shop.example/")`, `0 STEP_REFUSED it would reach https://shop.example/, which is not on this site [open no]`, `"0,0,0"`},
		{"that finds nothing", `return (await page.find('button "No such"')).length`, `0 [read yes]`, `"0,0,0"`},
		{"that fails", `try { await page.click('button "No such"') } catch {} await page.click('button "Add"')`, `0 STEP_NOT_FOUND there is no button "No such" [click no]`, `"0,0,0"`},
		{"that fails after others", `await page.click('button "Add"'); await page.click('button "No such"')`, `1 STEP_NOT_FOUND there is no button "No such" [click yes, click no]`, `"1,0,0"`},
		{"that throws", "await page.click('button \"Add\"');\nnull.x", `0 STEP_SCRIPT TypeError: Cannot read properties of null (reading 'x') (line 2) [click yes]`, `"1,0,0"`},
		{"that throws while a step is done", `page.click('button "Add"'); throw new Error("no")`, `0 STEP_SCRIPT Error: no (line 1) [click yes]`, `"1,0,0"`},
		{"that throws what is no error", `throw Object.create(null)`, `0 STEP_SCRIPT it threw what has no text []`, `"0,0,0"`},
		{"that is none", `return (`, `0 STEP_SCRIPT SyntaxError: `, `"0,0,0"`},
		{"that returns what is no JSON", `await page.click('button "Add"'); const a = []; a.push(a); return a`, `0 STEP_SCRIPT what it returns is no JSON: Converting circular structure to JSON`, `"1,0,0"`},
		{"that returns a number without JSON", `return 1n`, `0 STEP_SCRIPT what it returns is no JSON: `, `"0,0,0"`},
		{"that returns nothing", `return () => 1`, `null []`, `"0,0,0"`},
		{"that returns too much", `return "x".repeat(300 << 10)`, `0 STEP_SCRIPT it returns more than 256 KiB: return less []`, `"0,0,0"`},
		{"that calls too much", `for (let i = 0; i < 250; i++) page.click('button "Add"'); await new Promise(() => {})`, `0 STEP_SCRIPT a script may take 200 steps `, `"1,0,0"`},
		{"that floods", `for (;;) postMessage({type: "call", call: 1, verb: "click", args: "[]"})`, `0 STEP_SCRIPT `, `"0,0,0"`},
		{"that says what makes no sense", `postMessage({type: "ended", value: "{"}); await new Promise(() => {})`, `0 STEP_SCRIPT it`, `"0,0,0"`},
		{"that forges a step", `postMessage({type: "call", call: 1, verb: "request", args: '[{"path":"/"}]'}); await new Promise(() => {})`, `0 STEP_SCRIPT page.request: there is no such method []`, `"0,0,0"`},
		{"with what is no target", `await page.click("Order")`, `0 STEP_SCRIPT page.click: "Order" is no target: one is a reference, such as kfa3, or a role and a name, such as button "Order" or button "Remove" in row "Tea..." []`, `"0,0,0"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := b.Open(url + "/cart")
			tab := h.tabAt(url+"/cart", "order")
			if got := h.script(t.Context(), tab, url, c.code); !strings.HasPrefix(got, c.want) || strings.HasSuffix(c.want, "]") && got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := counted(p); got != c.counts {
				t.Errorf("done: %s, want %s", got, c.counts)
			}
			h.closeTab(p)
		})
	}
	b.Worker().WaitFor(fmt.Sprintf(`(%s).then((is) => !is)`, offscreen))
}
