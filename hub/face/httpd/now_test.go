package httpd

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tabhub/hub/call"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/tabtransport/tabtest"
	"tabhub/tabtransport/tabtest/chromium"
)

// openDashboard opens the owner's dashboard in a browser, and waits until it follows what goes
// on in the hub, of which all is allowed.
func (d *testServer) openDashboard() *chromium.Page {
	d.t.Helper()
	d.setMode(policy.ModeOpen)
	page := chromium.Shared(d.t, chromium.Options{}).Open(d.signInURL(d.token.Identity()))
	page.Front()
	page.WaitFor(`document.querySelector("#no-calls")?.checkVisibility() !== document.querySelector("#calls")?.checkVisibility()`)
	return page
}

// call calls a tool of the demo as a client does.
func (d *testServer) call(client, tool, args string) string {
	by := &consent.Caller{Principal: &policy.Principal{ID: "c-" + client, Name: client}, Said: "said-" + client}
	result, err := d.tenant.Hub.Calls.Call(d.t.Context(), call.Request{Name: "website_tool_demo_tabhub__" + tool, Args: json.RawMessage(args), By: by})
	return fmt.Sprintf("%s %v", result, err)
}

// The owner sees a call while it is under way, how far it has come, and stops it; and then how it
// has ended, and its story.
func TestNowShowsACallAndStopsIt(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	page := d.openDashboard()
	const hostile = `<img src=x onerror=alert(1)>`
	done := make(chan string, 1)
	go func() { done <- d.call(hostile, "wrap_gift", `{"productId":1,"seconds":60}`) }()
	page.WaitFor(`document.querySelector("#calls progress")?.checkVisibility() && document.querySelector("#calls progress").value > 0`)
	row := page.Eval(`[...document.querySelectorAll("#calls tr")].map(tr => [...tr.cells].slice(0, 4).map(td => td.innerText))`)
	for _, want := range []string{"wrap_gift", "demo.tabhub", hostile, "allow", "at work"} {
		if !strings.Contains(row, want) {
			t.Errorf("the row %s does not say %s", row, want)
		}
	}
	if got := page.Eval(`[document.querySelectorAll("main img").length, document.querySelector("#under-way").textContent]`); got != `[0,"1 under way"]` {
		t.Errorf("beside it: %s", got)
	}
	page.Click("#calls button")
	if got := <-done; !strings.Contains(got, "STOPPED") {
		t.Errorf("the client gets %s", got)
	}
	page.WaitFor(`document.querySelector("#calls .chip").textContent === "STOPPED" && !document.querySelector("#calls button").checkVisibility()`)
	page.WaitFor(`document.querySelector("#toasts").textContent.includes("is stopped")`)
	page.WaitFor(`document.querySelector("#count-calls").textContent === "1"`)
	page.Click("#calls a")
	page.WaitFor(`document.querySelector("#story")?.textContent.includes("wrap_gift")`)
}

// A call that has ended does not go from the page until its entry is written, which may take a while.
func TestNowKeepsACallUntilItIsRecorded(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	page := chromium.Shared(t, chromium.Options{}).Open(strings.Split(d.signInURL(d.token.Identity()), "#")[0]) // nothing but the test gives calls to a page that is not signed in
	page.Eval(`document.body.append(document.querySelector("#now-view").content.cloneNode(true))`)
	page.Eval(tabtest.Module(t, "../admin/dashboard/calls.ts", "calls"))
	page.Eval(`calls.start()`)
	// take has the page take a message of the hub, and returns its rows in the next frame.
	take := func(message string) string {
		return page.Eval(fmt.Sprintf(`(async () => {
			calls.take(%s);
			await new Promise(requestAnimationFrame);
			return [...document.querySelectorAll("#calls tr")].map(tr => tr.cells[0].innerText + ": " + tr.querySelector(".chip").innerText);
		})()`, message))
	}
	const under = `{id: "A", tool: "buy", began: "2026-01-02T03:04:05Z", phase: "running"}`
	for _, step := range []struct{ message, want string }{
		{`{running: [` + under + `]}`, `["buy: at work"]`},
		{`{running: []}`, `["buy: at work"]`},
		{`{running: [], entries: [{call: "A", event: "call", tool: "buy", time: "2026-01-02T03:04:05Z", outcome: "ok"}]}`, `["buy: ok"]`},
	} {
		if got := take(step.message); got != step.want {
			t.Errorf("after %s: %s, want %s", step.message, got, step.want)
		}
	}
	// What the owner takes for the answer is none of what the call takes.
	time := func(message string) string {
		take(message)
		return page.Eval(`document.querySelector("#calls tr").cells[4].innerText`)
	}
	if got := time(`{running: [{id: "P", tool: "pay", began: "2026-01-02T03:04:05Z", phase: "asking"}]}`); got != `""` {
		t.Errorf("while the owner is asked it takes %s", got)
	}
	if got := time(`{running: [], entries: [{call: "P", event: "call", tool: "pay", time: "2026-01-02T03:04:05Z", outcome: "ok", asked: 114e9, duration: 115.2e9}]}`); got != `"1.2 s\nyou: 114 s"` {
		t.Errorf("it took %s", got)
	}
	page.Eval(`calls.stop(); calls.start(); document.querySelector("#calls").replaceChildren()`)
	// Some have no entry.
	take(`{running: [` + strings.ReplaceAll(under, "A", "B") + `]}`)
	take(`{running: []}`)
	page.WaitFor(`document.querySelectorAll("#calls tr").length === 1`)
}

// A flood of calls is shown in the rows that there are, and not under the owner's pointer.
func TestNowOutlivesAFlood(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	page := d.openDashboard()
	flood := func(tool string) {
		for range 2000 {
			d.tenant.Hub.Core.Record(record.Entry{Time: time.Now(), Event: record.Refused, Name: "flood", Tool: tool, Outcome: "unknown"})
		}
	}
	all := func(tool string) string {
		return fmt.Sprintf(`[...document.querySelectorAll("#calls tr")].length === 50 && [...document.querySelectorAll("#calls tr")].every(tr => tr.textContent.includes(%q))`, tool)
	}
	flood("first")
	page.WaitFor(all("first"))
	page.Eval(`void (window.rows = [...document.querySelectorAll("#calls tr")])`)
	flood("second")
	page.WaitFor(all("second"))
	if got := page.Eval(`rows.every((row, i) => row === document.querySelectorAll("#calls tr")[i])`); got != "true" {
		t.Error("the rows were made anew")
	}
	page.Eval(`document.querySelector("#calls").scrollIntoView()`)
	page.Press("#calls tr:nth-child(3)")
	flood("third")
	page.WaitFor(`document.querySelector("#held").textContent.startsWith("All newer calls")`)
	if got := page.Eval(all("second")); got != "true" {
		t.Error("the rows have changed where somebody points")
	}
	page.Release("#pause")
	page.WaitFor(all("third"))
}

// What the page's scripts do without a browser.
func TestScripts(t *testing.T) {
	t.Parallel()
	tabtest.NodeTest(t, "../admin/dashboard/*.test.mjs")
}
