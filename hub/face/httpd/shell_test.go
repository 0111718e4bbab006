package httpd

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"tabhub/hub/call"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/tabtransport/tabtest/chromium"
)

// The views are chosen by the keyboard alone, which then is at the view's heading; the page says
// which it shows; and an address that names none leads to the first one.
func TestViewsByTheKeyboard(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	page := d.openDashboard()
	page.Eval(`document.querySelector("#nav a[href='#record']").focus()`)
	page.Keys(kb.Enter)
	page.WaitFor(`document.body.dataset.view === "record"`)
	if got := page.Eval(`[document.activeElement.id, document.activeElement.textContent, document.title, [...document.querySelectorAll("[aria-current=page]")].map(a => a.hash), document.querySelector("#calls")]`); got != `["title","Record","Record \u00b7 tabhub",["#record"],null]` {
		t.Errorf("after a view was chosen: %s", got)
	}
	page.Eval(`void history.back()`)
	page.WaitFor(`document.body.dataset.view === "now"`)
	page.Eval(`location.hash = "#<img src=x>?x=1"`)
	page.WaitFor(`document.body.dataset.view === "now" && document.title === "tabhub"`)
	page.Eval(`document.querySelector(".skip").focus()`)
	page.Keys(kb.Enter)
	page.WaitFor(`document.activeElement.id === "title" && document.body.dataset.view === "now"`)
}

// A person whose browser is not paired sees that, and what to do, until it is.
func TestDashboardSaysThatNoBrowserIsPaired(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	page := d.openDashboard()
	page.WaitFor(`document.querySelector("#unpaired").checkVisibility()`)
	if got := page.Eval(`document.querySelector("#unpaired").textContent`); !strings.Contains(got, "Not paired with the hub") || !strings.Contains(got, "tabhub setup") {
		t.Errorf("it says %s", got)
	}
	d.join("Chromium 141", "https://shop.example.com/", "Shop", nil, offered...)
	page.WaitFor(`!document.querySelector("#unpaired").checkVisibility()`)
}

// Whatever view is open says that a question waits, and leads to it.
func TestEveryViewSaysWhatWaits(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	page := d.openDashboard()
	awaitView(page, "health")
	d.setMode(policy.ModeAsk)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		by := consent.As(&policy.Principal{ID: "c-1", Name: "claude"})
		d.tenant.Hub.Calls.Call(ctx, call.Request{Name: searchTool, Args: json.RawMessage(`{"query":"mug"}`), By: by})
	}()
	page.WaitFor(`document.querySelector("#elsewhere").checkVisibility() && document.title.startsWith("(1) ")`)
	if got := page.Eval(`[document.querySelector("#elsewhere").textContent, document.querySelector("#waiting-badge").textContent, document.querySelector("#questions").checkVisibility()]`); got != `["1 question waits for you","1",false]` {
		t.Errorf("the view says %s", got)
	}
	page.Click("#elsewhere a")
	page.WaitFor(`document.querySelector(".question")?.checkVisibility() && !document.querySelector("#elsewhere").checkVisibility()`)
	stop()
	<-ended
	page.WaitFor(`document.querySelector("#waiting-badge").hidden || document.querySelector(".question").textContent.includes("The call has ended")`)
}

// A page whose connection is lost without a word, as that of a computer that has slept, notices and
// comes back by itself.
func TestDashboardNoticesSilence(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	page := chromium.Shared(t, chromium.Options{}).Open("http://" + d.addr + "/")
	page.Front()
	// The first stream of what goes on ends without a word after its first message, and the time for
	// which a hub may be silent has passed when the page is told so.
	page.Eval(`void ((fetched, wait) => {
		window.fetch = async (path, init) => {
			const response = await fetched(path, init);
			if (path !== "api/watch" || window.streams) return response;
			window.streams = 1;
			const first = await response.body.getReader().read();
			return new Response(new ReadableStream({start(c) {
				c.enqueue(first.value);
				init.signal.addEventListener("abort", () => c.error(init.signal.reason));
			}}), {headers: response.headers});
		};
		window.setTimeout = (f, ms) => (ms > 30000 ? ((window.late = f), 0) : wait(f, ms));
	})(fetch, setTimeout)`)
	page.Eval(`void (location.hash = "#code=` + d.code() + `")`)
	page.WaitFor(`document.querySelector("#count-calls")?.textContent === "0"`)
	d.call("claude", "search_products", `{"query":"mug"}`)
	page.Eval(`void late()`)
	page.WaitFor(`document.querySelector("#calls").textContent.includes("search_products")`)
}

// A page whose connection breaks says that the hub does not run, and offers nothing that needs it: a person
// who sees "Running" and presses Pause believes that nothing more is done. It comes back by itself, and has
// missed nothing then.
func TestDashboardComesBack(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	page := chromium.Shared(t, chromium.Options{}).Open("http://" + d.addr + "/")
	page.Front()
	page.Eval(`void (real => {
		let down = new AbortController();
		window.cut = () => down.abort(new TypeError("cut"));
		window.mend = () => (down = new AbortController());
		window.fetch = (path, init) => real(path, {...init, signal: AbortSignal.any([down.signal, ...(init.signal ? [init.signal] : [])])});
	})(fetch)`)
	page.Eval(`void (location.hash = "#code=` + d.code() + `")`)
	page.WaitFor(`document.querySelector("#no-calls")?.checkVisibility()`)
	page.Eval(`cut()`)
	page.WaitFor(`document.querySelector("#trouble").textContent.includes("What you see was so at ")`)
	if got := page.Eval(`[document.querySelector("#pause-state").className, document.querySelector("#pause-state").textContent.includes("hub is not running"), document.querySelector("#pause").matches(":disabled"), document.querySelector("#pause").title !== "", [...document.querySelectorAll("#data button, #data input")].every(e => e.matches(":disabled"))]`); got != `["chip off",true,true,true,true]` {
		t.Errorf("the page of a hub that does not run: %s", got)
	}
	d.call("claude", "search_products", `{"query":"mug"}`)
	page.Eval(`void mend()`)
	page.WaitFor(`!document.querySelector("#trouble").checkVisibility() && document.querySelector("#calls").textContent.includes("search_products")`)
	if got := page.Eval(`[document.querySelector("#pause-state").textContent.startsWith("Running"), document.querySelector("#pause").matches(":disabled"), document.querySelector("#controls").disabled]`); got != `[true,false,false]` {
		t.Errorf("the page of a hub that runs again: %s", got)
	}
}
