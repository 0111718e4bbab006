package extension_test

import (
	"context"
	"encoding/json"
	"errors"
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

// cart is a site whose steps lead from page to page. What is done there is counted in the tab.
var cart = map[string]string{
	"/cart": `<!doctype html><title>Cart</title><script>
		const count = (what) => (sessionStorage[what] = Number(sessionStorage[what] ?? 0) + 1);
	</script>
	<label>Name <input id=name></label> <label>File <input type=file id=file></label>
	<button onclick="count('added'); document.title = 'added'">Add</button>
	<button onclick="count('ordered'); location.href = '/confirm?' + document.querySelector('#name').value">Order</button>
	<button onclick="count('ordered'); location.href = '/elsewhere'">Leave</button>
	<button onclick="count('ordered'); location.href = '/confirm/hangs'">Hang</button>
	<button onclick="history.pushState(0, '', '/cart/2')">Route</button>
	<button onclick="count('ordered')">Stay</button>`,
	"/confirm": `<!doctype html><title>Confirm</title><script>
		const count = (what) => (sessionStorage[what] = Number(sessionStorage[what] ?? 0) + 1);
	</script><label>File <input type=file id=file></label><p id=number>Order 7</p><button onclick="count('confirmed')">Confirm</button>`,
	"/elsewhere": `<!doctype html><title>Elsewhere</title><button>Confirm</button>`,
}

// cartPack is a pack for the pages of a site like cart, of which it reaches two.
func cartPack(url string) spec.ActivePack {
	p := packFor("shop", url+"/cart*", "order")
	p.Match = append(p.Match, url+"/confirm*")
	return p
}

// own bounds a client's own steps at a site like cart.
func own(url string) spec.ActivePack {
	return spec.ActivePack{Match: []string{url + "/cart*"}, Tools: []spec.ActivePackTool{{}}}
}

// Steps, as a hub sends them.
const (
	clickAdd     = `{"click": {"target": {"role": "button", "name": "Add"}}}`
	clickOrder   = `{"click": {"target": {"role": "button", "name": "Order"}, "navigates": true}}`
	clickConfirm = `{"click": {"target": {"role": "button", "name": "Confirm"}}}`
	fillName     = `{"fill": {"fields": [{"target": {"label": "Name"}, "value": {"arg": "name"}}]}}`
	readNumber   = `{"read": {"fields": {"number": {"target": {"selector": "#number"}}}}, "as": "order"}`
)

// run has steps run in the top document of a tab.
func (h *hub) run(ctx context.Context, tab int64, p spec.ActivePack, steps, args string, wait tabtransport.Wait) string {
	return h.runAs(ctx, tab, &spec.Run{Pack: p.PackRef, ToolName: p.Tools[0].Name, Args: json.RawMessage(args), FrameID: new(int64), Origin: strings.TrimSuffix(p.Match[0], "/cart*")}, steps, wait)
}

// runAs is run with what a request says beside its steps.
func (h *hub) runAs(ctx context.Context, tab int64, req *spec.Run, steps string, wait tabtransport.Wait) string {
	if err := json.Unmarshal([]byte("["+steps+"]"), &req.Steps); err != nil {
		h.t.Error(err)
	}
	resp, err := h.wire.SendRequest(ctx, spec.TabAddr{Peer: browserPeer, Tab: tab}, req, wait)
	if err != nil {
		return err.Error()
	}
	var r spec.RunResult
	if err := json.Unmarshal(resp.Result, &r); err != nil {
		return fmt.Sprintf("%s: %v", resp.Result, err)
	}
	var did []string
	for _, s := range r.Steps {
		did = append(did, s.Verb+" "+string(s.Did))
	}
	said := fmt.Sprintf("%s [%s]", r.Value, strings.Join(did, ", "))
	if r.Failed != nil {
		said = fmt.Sprintf("%d %s %s [%s]", r.Failed.Step, r.Failed.Code, r.Failed.Message, strings.Join(did, ", "))
	}
	if r.Page != nil {
		said += " at " + r.Page.URL
		if r.Page.Error != "" {
			said += ": " + r.Page.Error
		}
	}
	return said
}

// beginRun is run in the background.
func (h *hub) beginRun(ctx context.Context, tab int64, p spec.ActivePack, steps, args string) <-chan string {
	done := make(chan string, 1)
	go func() { done <- h.run(ctx, tab, p, steps, args, tabtransport.Wait{Timeout: chromium.Timeout}) }()
	return done
}

// counted says how often something was done in a tab of cart.
func counted(p *chromium.Page) string {
	return p.Eval(`["added", "ordered", "confirmed"].map((what) => sessionStorage[what] ?? 0).join()`)
}

// A run goes on in the pages that its steps lead to, each step is done once, and what comes of it is said as
// it was.
func TestRunGoesFromPageToPage(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	hangs := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/confirm/hangs" {
			<-hangs
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, cart[r.URL.Path])
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(hangs) })
	for _, c := range []struct{ name, steps, want, counts string }{
		{"on one page", clickAdd, `null [click yes]`, `"1,0,0"`},
		{"to the next", fillName + "," + clickOrder + "," + readNumber + "," + clickConfirm, `{"number":"Order 7"} [fill yes, click yes, read yes, click yes] at ` + s.URL + `/confirm?Ada`, `"0,1,1"`},
		{"ends by leading there", clickOrder, `null [click yes] at ` + s.URL + `/confirm?`, `"0,1,0"`},
		{"without having said so", strings.Replace(clickOrder, `, "navigates": true`, "", 1) + "," + readNumber, `{"number":"Order 7"} [click yes, read yes] at ` + s.URL + `/confirm?`, `"0,1,0"`},
		{"by its address", `{"open": {"path": "/confirm"}},` + readNumber, `{"number":"Order 7"} [open yes, read yes] at ` + s.URL + `/confirm`, `"0,0,0"`},
		{"nowhere", clickAdd + "," + strings.Replace(clickOrder, "Order", "Stay", 1) + "," + clickConfirm, `1 STEP_TIMEOUT it was to lead to another page, and none came in time [click yes, click yes]`, `"1,1,0"`},
		{"kept from leaving the pages of the pack", strings.Replace(clickOrder, "Order", "Leave", 1) + "," + clickConfirm, `0 STEP_REFUSED the step led to ` + s.URL + `/elsewhere, where the pack does not reach: the page was kept from going there [click yes]`, `"0,1,0"`},
		{"own: to another address of the same document", strings.Replace(clickAdd, "Add", "Route", 1), `null [click yes] at ` + s.URL + `/cart/2`, `"0,0,0"`},
		{"own: anywhere on the site", strings.Replace(clickOrder, "Order", "Leave", 1) + "," + clickConfirm, `null [click yes, click yes] at ` + s.URL + `/elsewhere`, `"0,1,0"`},
		{"to a page that does not come", strings.Replace(strings.Replace(clickOrder, "Order", "Hang", 1), `}}`, `}, "timeout": 1}`, 1) + "," + clickConfirm, `0 STEP_TIMEOUT it was to lead to another page, and none came in time [click yes]`, `"0,1,0"`},
	} {
		pack := cartPack(s.URL)
		h.tellPacks(pack)
		// A client's own steps go as those of a pack do, but for where they reach.
		bounds := map[string]spec.ActivePack{"of a pack": pack, "own": own(s.URL)}
		if strings.HasPrefix(c.name, "own: ") {
			delete(bounds, "of a pack")
		}
		if strings.Contains(c.name, "of the pack") {
			delete(bounds, "own")
		}
		for whose, bound := range bounds {
			t.Run(c.name+"/"+whose, func(t *testing.T) {
				p := b.Open(s.URL + "/cart")
				tab := h.tabAt(s.URL+"/cart", "order")
				got := h.run(t.Context(), tab, bound, c.steps, `{"name":"Ada"}`, tabtransport.Wait{Timeout: chromium.Timeout})
				if got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
				if c.name == "to a page that does not come" {
					hangs <- struct{}{}
				}
				if got := counted(p); got != c.counts {
					t.Errorf("done: %s, want %s", got, c.counts)
				}
				h.closeTab(p)
			})
		}
	}
}

// A step that leads out of the pack's pages ends the run there, and nothing is done in that page.
func TestRunDoesNotFollowElsewhere(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, cart)
	// A page can be led out by its server, which the page before it does not see.
	out := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/confirm" {
			http.Redirect(w, r, url+"/elsewhere", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, cart[r.URL.Path])
	}))
	t.Cleanup(out.Close)
	pack := cartPack(out.URL)
	h.tellPacks(pack)
	req := func(p spec.ActivePack, reach ...string) *spec.Run {
		return &spec.Run{Pack: p.PackRef, ToolName: p.Tools[0].Name, FrameID: new(int64), Origin: out.URL, Reach: reach}
	}
	for _, c := range []struct {
		name  string
		req   *spec.Run
		steps string
		want  string
	}{
		{"of a pack", req(pack), clickAdd + "," + clickOrder + "," + clickConfirm, `2 STEP_REFUSED step 2 led to ` + url + `/elsewhere, where the pack does not reach [click yes, click yes, click no] at ` + url + `/elsewhere`},
		{"own", req(own(out.URL)), clickAdd + "," + clickOrder + "," + clickConfirm, `2 STEP_REFUSED step 2 led to ` + url + `/elsewhere, which is not on this site [click yes, click yes, click no] at ` + url + `/elsewhere`},
		{"own, to where it may lead", req(own(out.URL), url), clickAdd + "," + clickOrder, `null [click yes, click yes] at ` + url + `/elsewhere`},
		{"own, to where it may lead, with more to do", req(own(out.URL), url), clickOrder + "," + clickConfirm, `1 STEP_REFUSED step 1 led to ` + url + `/elsewhere, which is not on this site [click yes, click no] at ` + url + `/elsewhere`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := b.Open(out.URL + "/cart")
			tab := h.tabAt(out.URL, "order")
			if got := h.runAs(t.Context(), tab, c.req, c.steps, tabtransport.Wait{Timeout: chromium.Timeout}); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			p.WaitFor(`document.title === "Elsewhere"`)
			h.closeTab(p)
		})
	}
}

// A step that leads to a page that the browser cannot show is done, and what comes of it is said at once.
func TestRunToAPageThatDoesNotLoad(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/cart" {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, cart["/cart"]+`<a href="/broken">Broken</a><a href="`+gone.URL+`/x">Away</a>`)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(s.Close)
	h.tellPacks(cartPack(s.URL))
	link := func(name string) string { return `{"click": {"target": {"role": "link", "name": "` + name + `"}}}` }
	for _, c := range []struct{ name, steps, script, want string }{
		{"of another site", link("Away"), "", `null [click yes] at ` + gone.URL + `/x: ERR_CONNECTION_REFUSED`},
		{"of its own", clickAdd + "," + link("Broken"), "", `null [click yes, click yes] at ` + s.URL + `/broken: ERR_EMPTY_RESPONSE`},
		{"with more to do", link("Broken") + "," + clickAdd, "", `1 STEP_REFUSED step 1 led to a page that could not be loaded (ERR_EMPTY_RESPONSE) [click yes, click no] at ` + s.URL + `/broken: ERR_EMPTY_RESPONSE`},
		{"by a script", "", `await page.click('link "Away"'); return "over"`, `"over" [click yes] at ` + gone.URL + `/x: ERR_CONNECTION_REFUSED`},
		{"by a script with more to do", "", `await page.click('link "Broken"'); await page.find('button "Add"')`, `1 STEP_REFUSED step 1 led to a page that could not be loaded (ERR_EMPTY_RESPONSE) [click yes, read no] at ` + s.URL + `/broken: ERR_EMPTY_RESPONSE`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := b.Open(s.URL + "/cart")
			tab := h.tabAt(s.URL, "order")
			req := &spec.Run{FrameID: new(int64), Origin: s.URL, Reach: []string{gone.URL}, Script: c.script}
			// Not as long as a page is waited for that does not come.
			if got := h.runAs(t.Context(), tab, req, c.steps, tabtransport.Wait{Timeout: 8 * time.Second}); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			h.closeTab(p)
		})
	}
}

// A browser runs steps only of a pack that it has, in a page of it, and says that nothing was done.
func TestRunIsRefused(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, cart)
	p := b.Open(url + "/cart")
	pack := cartPack(url)
	h.tellPacks(pack)
	tab := h.tabAt(url, "order")
	other, off, changed := pack, pack, pack
	other.PackRef.Name, changed.PackRef.Hash = "other", "another"
	for name, c := range map[string]struct {
		pack spec.ActivePack
		want string
	}{
		"an unknown pack":    {other, "the pack other has been removed"},
		"another version":    {changed, "the pack shop has changed"},
		"one that is off":    {off, "the pack shop is off in this browser"},
		"another tool's":     {pack, "does not show a page of the pack"},
		"the other origin's": {pack, "another site"},
	} {
		if name == "one that is off" {
			tell(b, `{ask: "pack", hash: "shop-1", on: false}`)
		}
		if name == "another tool's" {
			c.pack.Tools = []spec.ActivePackTool{{Name: "nosuch"}}
		}
		if name == "the other origin's" {
			c.pack.Match = []string{"https://a.example/cart*"}
		}
		got := h.run(t.Context(), tab, c.pack, clickAdd, `{}`, tabtransport.Wait{Timeout: chromium.Timeout})
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
		if name == "one that is off" {
			tell(b, `{ask: "pack", hash: "shop-1", on: true}`)
			h.tabAt(url, "order")
		}
	}
	if got := counted(p); got != `"0,0,0"` {
		t.Errorf("done: %s", got)
	}
}

// The browser may stop the worker whenever it likes, and the connection may be lost: no step is done twice, and
// none is lost that was done.
func TestRunOverRestarts(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, cart)
	pack := cartPack(url)
	h.tellPacks(pack)
	waits := `{"wait": {"for": {"role": "button", "name": "Go on"}}, "timeout": 30}`
	const script = `await page.click('button "Add"'); await page.wait('button "Go on"', {timeout: 30}); await page.click('button "Order"'); const number = await page.text({selector: "#number"});
		await page.wait('button "Go on"', {timeout: 30}); await page.click('button "Confirm"'); return {number}`
	for _, c := range []struct {
		name  string
		begin func(tab int64) <-chan string
		from  int // the step that the second page begins with, or waits in
	}{
		{"steps of a pack", func(tab int64) <-chan string {
			return h.beginRun(t.Context(), tab, pack, clickAdd+","+waits+","+clickOrder+","+readNumber+","+waits+","+clickConfirm, `{}`)
		}, 3},
		{"a script", func(tab int64) <-chan string { return h.beginScript(tab, url, script) }, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := b.Open(url + "/cart")
			done := c.begin(h.tabAt(url+"/cart", "order"))
			p.WaitFor("sessionStorage.added === '1'")
			h.stopWorker(b)
			h.cut()
			p.Eval(`document.body.append(Object.assign(document.createElement("button"), {textContent: "Go on"}))`)
			h.tabAt(url+"/confirm", "order")
			w := b.Worker()
			w.WaitFor(fmt.Sprintf(`chrome.storage.session.get("runs").then(({runs}) => Object.values(runs.runs)[0]?.from === %d)`, c.from))
			w.Close()
			h.stopWorker(b)
			p.Eval(`document.body.append(Object.assign(document.createElement("button"), {textContent: "Go on"}))`)
			want := `{"number":"Order 7"} [click yes, wait yes, click yes, read yes, wait yes, click yes] at ` + url + `/confirm?`
			if got := <-done; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if got := counted(p); got != `"1,1,1"` {
				t.Errorf("done: %s", got)
			}
			h.closeTab(p)
		})
	}
	// What the hub has is not kept.
	b.Worker().WaitFor(`chrome.storage.session.get("runs").then(({runs}) => Object.keys(runs.runs).length === 0)`)
}

// What is uploaded is not written down: a worker that is stopped has given it to the document, or it is lost, and the
// client learns that.
func TestUploadIsNotWrittenDown(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, cart)
	h.tellPacks(cartPack(url))
	const data = "dGhlIGNvbnRlbnRz"
	upload := `{"upload": {"target": {"label": "File"}, "files": [{"name": "a.txt", "mimeType": "text/plain", "data": "` + data + `"}]}}`
	waits := `{"wait": {"for": {"role": "button", "name": "Go on"}}, "timeout": 30}`
	for _, c := range []struct{ name, steps, want, has string }{
		{"in the document that has it", clickAdd + "," + waits + "," + upload, `null [click yes, wait yes, upload yes]`, `"the contents"`},
		{"in the next one", clickAdd + "," + waits + "," + clickOrder + "," + upload, `3 STEP_STOPPED the browser stopped the extension's worker, which had the files [click yes, wait yes, click yes, upload no] at ` + url + `/confirm?`, `null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := b.Open(url + "/cart")
			tab := h.tabAt(url+"/cart", "order")
			done := h.beginRun(t.Context(), tab, own(url), c.steps, `{}`)
			w := b.Worker()
			w.WaitFor(`chrome.storage.session.get("runs").then(({runs}) => Object.values(runs.runs)[0]?.stayed === 0)`)
			if kept := w.Eval(`chrome.storage.session.get().then((all) => JSON.stringify(all))`); strings.Contains(kept, data) {
				t.Errorf("it is written down: %s", kept)
			}
			w.Close()
			h.stopWorker(b)
			p.Eval(`document.body.append(Object.assign(document.createElement("button"), {textContent: "Go on"}))`)
			if got := <-done; got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := p.Eval(`document.querySelector("#file").files[0]?.text() ?? null`); got != c.has {
				t.Errorf("the page has %s", got)
			}
			h.closeTab(p)
		})
	}
}

// A page that goes away while a step is done leaves it unknown whether it was; before that, and after it, it is known.
func TestRunWhosePageGoes(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	held := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_, _ = io.Copy(io.Discard, r.Body) // then the server sees its client go
			held <- struct{}{}
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, cart[r.URL.Path])
	}))
	t.Cleanup(s.Close)
	pack := cartPack(s.URL)
	h.tellPacks(pack)
	post := `{"request": {"method": "POST", "path": "/cart/post", "json": {}}}`
	waits := `{"wait": {"for": {"role": "button", "name": "Never"}}, "timeout": 30}`
	for _, c := range []struct{ name, steps, until, want string }{
		{"while a request flies", clickAdd + "," + post + "," + clickConfirm, "post", `1 STEP_LOST the page went away while step 2 was done: it may have been done, and nothing after it was [click yes, request perhaps]`},
		{"after a step", clickAdd + "," + waits, "added", `1 STEP_LOST the tab was closed after step 1; nothing after it was done [click yes, wait no]`},
		{"before any", waits + "," + clickAdd, "", `the tab was closed`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := b.Open(s.URL + "/cart")
			tab := h.tabAt(s.URL, "order")
			done := h.beginRun(t.Context(), tab, pack, c.steps, `{}`)
			switch c.until {
			case "post":
				<-held
			case "added":
				p.WaitFor("sessionStorage.added === '1'")
			default:
				b.Worker().WaitFor(`chrome.storage.session.get("runs").then(({runs}) => Object.keys(runs.runs).length === 1)`)
			}
			p.Close()
			if got := <-done; !strings.HasPrefix(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			h.wait("the tab is closed", func() bool { return len(h.tabs) == 0 })
		})
	}
}

// A run that is cancelled does nothing more. A pack that is removed meanwhile ends its runs.
func TestRunIsStopped(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, cart)
	pack := cartPack(url)
	h.tellPacks(pack)
	p := b.Open(url + "/cart")
	tab := h.tabAt(url, "order")
	waits := `{"wait": {"for": {"role": "button", "name": "Go on"}}, "timeout": 30}`
	goOn := func() {
		p.Eval(`document.body.append(Object.assign(document.createElement("button"), {textContent: "Go on"}))`)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	done := h.beginRun(ctx, tab, pack, clickAdd+","+waits+","+clickAdd, `{}`)
	p.WaitFor("sessionStorage.added === '1'")
	cancel(errors.New("the user said stop"))
	<-done
	none := `chrome.storage.session.get("runs").then(({runs}) => Object.keys(runs.runs).length === 0)`
	b.Worker().WaitFor(none)
	goOn()
	// The tab is free for the next.
	if got := h.run(t.Context(), tab, pack, fillName, `{"name":"Ada"}`, tabtransport.Wait{Timeout: chromium.Timeout}); got != `null [fill yes]` {
		t.Error(got)
	}
	if got := counted(p); got != `"1,0,0"` {
		t.Errorf("done after it was cancelled: %s", got)
	}
	p.Reload()
	tab = h.tabAt(url, "order")
	done = h.beginRun(t.Context(), tab, pack, clickAdd+","+waits+","+clickAdd, `{}`)
	acted := `chrome.storage.session.get("runs").then(({runs}) => Object.values(runs.runs)[0]?.did === 0)`
	b.Worker().WaitFor(acted)
	h.tellPacks()
	if got, want := <-done, `1 STEP_STOPPED the pack shop has been removed [click yes, wait no]`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	goOn()

	// Nor does one go on at a site that is switched off.
	h.tellPacks(pack)
	h.tabAt(url, "order")
	p.Eval(`document.querySelectorAll("button").forEach((b) => b.textContent === "Go on" && b.remove())`)
	done = h.beginRun(t.Context(), tab, pack, clickAdd+","+waits+","+clickAdd, `{}`)
	b.Worker().WaitFor(acted)
	switchSite(b, url, false)
	if got, want := <-done, `1 STEP_STOPPED the user has switched this site off [click yes, wait no]`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	goOn()
	p.Eval("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
	if got := counted(p); got != `"3,0,0"` {
		t.Errorf("done after they were ended: %s", got)
	}
}

// Two tools of packs do not act in a tab at the same time: the second waits for the first.
func TestRunsTakeTurnsInATab(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, cart)
	pack := cartPack(url)
	h.tellPacks(pack)
	p := b.Open(url + "/cart")
	tab := h.tabAt(url, "order")
	waits := `{"wait": {"for": {"role": "button", "name": "Go on"}}, "timeout": 30}`
	first := h.beginRun(t.Context(), tab, pack, clickAdd+","+waits+","+clickAdd, `{}`)
	p.WaitFor("sessionStorage.added === '1'")
	said := make(chan string, 8)
	second := make(chan string, 1)
	go func() {
		second <- h.run(t.Context(), tab, pack, fillName, `{"name":"Ada"}`, tabtransport.Wait{Timeout: chromium.Timeout, Progress: func(p spec.Progress) { said <- p.Message }})
	}()
	if got := <-said; !strings.Contains(got, "waits for another call") {
		t.Errorf("progress: %s", got)
	}
	// One that only reads does not wait.
	read := `{"read": {"fields": {"name": {"target": {"label": "Name"}, "give": "value"}}}}`
	if got := h.run(t.Context(), tab, pack, read, `{}`, tabtransport.Wait{Timeout: chromium.Timeout}); got != `{"name":""} [read yes]` {
		t.Error(got)
	}
	p.Eval(`document.body.append(Object.assign(document.createElement("button"), {textContent: "Go on"}))`)
	if got := <-first; got != `null [click yes, wait yes, click yes]` {
		t.Error(got)
	}
	if got := <-second; got != `null [fill yes]` {
		t.Error(got)
	}
}

// While the person in front of the tab uses it, no step acts there.
func TestRunWaitsForThePerson(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, cart)
	pack := cartPack(url)
	h.tellPacks(pack)
	p := b.Open(url + "/cart")
	tab := h.tabAt(url, "order")
	waits := `{"wait": {"for": {"role": "button", "name": "Go on"}}, "timeout": 30}`
	said := make(chan spec.Progress, 64)
	done := make(chan string, 1)
	go func() {
		done <- h.run(t.Context(), tab, pack, clickAdd+","+waits+","+clickAdd, `{}`, tabtransport.Wait{Timeout: time.Minute, Progress: func(p spec.Progress) { said <- p }})
	}()
	p.WaitFor("sessionStorage.added === '1'")
	p.Click("#name")
	p.Eval(`document.body.append(Object.assign(document.createElement("button"), {textContent: "Go on"}))`)
	for got := range said {
		if got.Waiting {
			break
		}
	}
	if got := counted(p); got != `"1,0,0"` {
		t.Errorf("done while the person types: %s", got)
	}
	if got := <-done; got != `null [click yes, wait yes, click yes]` {
		t.Error(got)
	}
}

// stopsAt has the workers of a copy of the extension stop doing anything at the point of a run that a test names:
// before they have written what a script calls, that a step may be done, before they say so, and before they have
// written that it was.
const stopsAt = `{
	const set = chrome.storage.session.set.bind(chrome.storage.session);
	const hangs = () => new Promise(() => (globalThis.reached = true));
	chrome.storage.session.set = (values) => {
		const [run] = Object.values(values.runs?.runs ?? {});
		const at = run && {called: run.params.steps?.length > 0, asked: run.granted >= 0, acted: run.did >= 0}[globalThis.point];
		return at ? hangs() : set(values);
	};
	chrome.runtime.onConnect.addListener((port) => {
		const post = port.postMessage.bind(port);
		port.postMessage = (message) => void (message.type === "go" && globalThis.point === "granted" ? hangs() : post(message));
	});
}`

// Wherever the worker is stopped, no step is done twice, and it is only said to be unknown whether one was done if
// it was begun and nothing is left that knows.
func TestWorkerStoppedAtEachPointOfARun(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	dir := h.write()
	addToWorker(t, dir, stopsAt)
	b := h.browse(chromium.Options{Extension: dir})
	gates := make(chan chan struct{}, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case gate := <-gates:
			if r.URL.Path == "/confirm" {
				<-gate
			} else {
				gates <- gate
			}
		default:
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, cart[r.URL.Path])
	}))
	t.Cleanup(s.Close)
	pack := cartPack(s.URL)
	h.tellPacks(pack)
	whole := `{"number":"Order 7"} [click yes, read yes, click yes] at ` + s.URL + `/confirm?`
	const read, confirm = `const number = await page.text({selector: "#number"});`, `await page.click('button "Confirm"'); return {number}`
	steps := func(tab int64) <-chan string {
		return h.beginRun(t.Context(), tab, pack, clickOrder+","+readNumber+","+clickConfirm, `{}`)
	}
	script := func(tab int64) <-chan string {
		return h.beginScript(tab, s.URL, `await page.click('button "Order"');`+read+confirm)
	}
	thinks := func(tab int64) <-chan string {
		return h.beginScript(tab, s.URL, `await page.click('button "Order"');`+read+`await page.wait(2000);`+confirm)
	}
	type row struct{ point, want, counts string }
	rows := []row{
		{"asked", whole, `"0,1,1"`},
		{"granted", whole, `"0,1,1"`},
		{"acted", `0 STEP_LOST the page went away while step 1 was done: it may have been done, and nothing after it was [click perhaps]`, `"0,1,0"`},
		{"did", whole, `"0,1,1"`},
	}
	for _, c := range []struct {
		name  string
		begin func(tab int64) <-chan string
		rows  []row
	}{
		{"steps of a pack", steps, rows},
		{"a script", script, append(rows, row{"called", whole, `"0,1,1"`})},
		{"a script that goes on meanwhile", thinks, []row{{"thinks", whole, `"0,1,1"`}}},
	} {
		for _, r := range c.rows {
			t.Run(c.name+"/"+r.point, func(t *testing.T) {
				p := b.Open(s.URL + "/cart")
				tab := h.tabAt(s.URL+"/cart", "order")
				w := b.Worker()
				w.Eval(fmt.Sprintf("globalThis.point = %q", r.point))
				gate := make(chan struct{})
				reached := "globalThis.reached"
				if r.point == "did" {
					gates <- gate
					reached = `chrome.storage.session.get("runs").then(({runs}) => Object.values(runs.runs)[0]?.did === 0)`
				}
				if r.point == "thinks" {
					reached = `chrome.storage.session.get("runs").then(({runs}) => Object.values(runs.runs)[0]?.reports.length === 2)`
				}
				done := c.begin(tab)
				w.WaitFor(reached)
				w.Close()
				h.stopWorker(b)
				close(gate)
				got := <-done
				if strings.Contains(r.want, "STEP_LOST") { // the next page may be there when the run ends
					got = strings.TrimSuffix(got, " at "+s.URL+"/confirm?")
				}
				if got != r.want {
					t.Errorf("got  %s\nwant %s", got, r.want)
				}
				h.tabAt(s.URL+"/confirm", "order")
				if got := counted(p); got != r.counts {
					t.Errorf("done: %s, want %s", got, r.counts)
				}
				h.closeTab(p)
			})
		}
	}
}
