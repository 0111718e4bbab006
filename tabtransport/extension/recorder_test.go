package extension_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"github.com/chromedp/chromedp/kb"
	"strings"
	"testing"

	"tabhub/hub/offer/pack"
	"tabhub/hub/offer/pack/draft"
	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// recording is a browser in which a person is recorded.
type recording struct {
	t      *testing.T
	h      *hub
	b      *chromium.Browser
	page   *chromium.Page
	popup  *chromium.Page
	number int64 // of the page's tab
}

// record begins to record a person in a page, by a click in the popup.
func record(t *testing.T, url string) *recording {
	t.Helper()
	r := &recording{t: t, h: newHub(t)}
	r.b = r.h.browse(chromium.Options{})
	r.page = r.b.Open(url)
	r.again()
	return r
}

// again begins in the page that is there.
func (r *recording) again() {
	r.t.Helper()
	r.number = r.tab()
	r.popup = r.h.popup(r.b, r.number)
	r.click("record")
	has(r.t, r.popup, "#recording", "Recording")
	r.page.Front()
	r.page.WaitFor(isRecorded)
}

func (r *recording) tab() (id int64) {
	r.t.Helper()
	at := r.page.Eval("location.href")
	r.popup = r.h.popup(r.b, 0)
	r.popup.Into(fmt.Sprintf("chrome.tabs.query({}).then(tabs => tabs.find(({url}) => url === %s).id)", at), &id)
	r.popup.Close()
	return id
}

// shows waits until the tab shows a page, in which the person is recorded.
func (r *recording) shows(title string) {
	r.t.Helper()
	r.popup.WaitFor(fmt.Sprintf("chrome.tabs.get(Number(location.search.slice(5))).then(({title, status}) => title === %q && status === 'complete')", title))
	r.page.WaitFor(isRecorded)
}

// isRecorded is whether a page says that the person is recorded.
const isRecorded = "document.documentElement.lastElementChild.style.zIndex === '2147483647'"

// click presses a button of the popup.
func (r *recording) click(id string) {
	r.t.Helper()
	r.popup.Front()
	r.popup.WaitFor("document.querySelector('#recording #" + id + "')")
	r.popup.Click("#recording #" + id)
}

// end ends the recording in the popup, and returns the draft that comes of it.
func (r *recording) end(before *spec.Pack) (*spec.Recorded, *spec.Pack) {
	r.t.Helper()
	r.click("stop")
	has(r.t, r.popup, "#recording", "Recorded at")
	r.click("send")
	has(r.t, r.popup, "#recording", "The draft waits for you")
	r.h.mu.Lock()
	got := r.h.recorded
	r.h.mu.Unlock()
	doc, err := draft.Make(got, before)
	if err != nil {
		r.t.Fatal(err)
	}
	return got, doc
}

// words are the steps of a draft.
func draftWords(t *testing.T, doc *spec.Pack) string {
	t.Helper()
	p, err := pack.New(doc)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(p.AllTools()[0].Words(nil), "\n")
}

const shopPage = `<!doctype html><title>Shop</title><style>div, p { margin: 4px }</style>
<nav aria-label="Menu"><a href="/cart">Cart</a></nav>
<form action="/done"><h1>Order</h1>
<p><label>Product <input name=product></label>
<p><label>Size <select name=size><option>Small<option>Large</select></label>
<p><label><input type=checkbox name=gift> Gift</label>
<p><label>Note <textarea name=note></textarea></label>
<p><label>Password <input type=password name=pw></label>
<p><label>Number <input name=n1></label>
<p><label>Code <input name=code autocomplete=one-time-code></label>
<p><label>CVC <input name=check></label>
<p><button>Place order</button></form>`

// What a person does in a form is written down, but for what may be secret.
func TestRecordForm(t *testing.T) {
	t.Parallel()
	url := site(t, map[string]string{"/": shopPage, "/done": `<!doctype html><title>Done</title><p>Thank you</p><a href="/">Again</a>`})
	r := record(t, url)
	fill := func(product, note string) {
		t.Helper()
		p := r.page
		for _, f := range [][2]string{{"product", product}, {"note", note}, {"pw", "hunter2"}, {"n1", "4111 1111 1111 1111"}, {"code", "493817"}, {"check", "737"}} {
			p.Click("[name=" + f[0] + "]")
			p.Type(f[1])
		}
		p.Eval("document.querySelector('select').focus()")
		p.Keys("L")
		p.Click("[name=gift]")
	}
	fill("Green tea", "Ring twice")
	r.page.Click("button")
	r.shows("Done")
	r.page.Click("a")
	r.shows("Shop")
	got, first := r.end(nil)
	text, _ := json.Marshal(got)
	for _, secret := range []string{"hunter2", "4111", "493817", "737"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s is in the recording: %s", secret, text)
		}
	}
	if all := strings.Join(got.Secrets, ", "); all != "Password, Number, Code, CVC" {
		t.Errorf("secrets are %s", all)
	}
	want := strings.Join([]string{
		`fills textbox "Product" with "Green tea", and textbox "Note" with "Ring twice", and combobox "Size" with "Large", and checkbox "Gift" with true`,
		`clicks button "Place order"`,
		`clicks link "Again"`,
	}, "\n")
	if got := draftWords(t, first); got != want {
		t.Errorf("the steps are\n%s", got)
	}

	// A call of the draft, once it is accepted, does the same.
	p, err := pack.New(first)
	if err != nil {
		t.Fatal(err)
	}
	r.h.tellPacks(p.Active())
	r.page.Navigate(url)
	tool := p.AllTools()[0]
	resp, err := r.h.ask(r.h.tabWith(tool.Name), tool.Request(json.RawMessage("{}"), new(int64), url))
	var result spec.RunResult
	if err == nil {
		err = json.Unmarshal([]byte(resp), &result)
	}
	if err != nil || result.Failed != nil || len(result.Steps) != 3 {
		t.Fatalf("%s, %v", resp, err)
	}
	for i, did := range []string{`set textbox "Product" to "Green tea", textbox "Note" to "Ring twice", combobox "Size" to "Large", checkbox "Gift" to true`, `clicked button "Place order"`, `clicked link "Again"`} {
		if s := result.Steps[i]; s.Did != spec.DidYes || s.Words != did {
			t.Errorf("step %d: %s, %s", i+1, s.Did, s.Words)
		}
	}
}

// Secrets are told by more than their names: a password that is shown, codes and numbers in parts, and a card
// that a button is named after.
func TestRecordSecrets(t *testing.T) {
	t.Parallel()
	boxes := func(n int, max string) string { return strings.Repeat("<input class=part maxlength="+max+">", n) }
	r := record(t, site(t, map[string]string{"/": `<!doctype html><title>Account</title>
		<p><label>New <input id=shown type=password></label> <button id=show type=button onclick="shown.type = 'text'">Show</button>
		<form>` + boxes(6, "1") + `</form><form>` + boxes(4, "4") + `</form>
		<p><label>Remarks <textarea></textarea></label> <label>City <input id=city></label>
		<p><button id=card>Pay with 4111 1111 1111 1111</button>`}))
	p := r.page
	p.Click("#shown")
	p.Type("hunt")
	p.Click("#show")
	p.Click("#shown")
	p.Type("er2")
	for i, part := range strings.Split("7 3 9 1 8 2 5105 1051 0510 5100", " ") {
		p.Eval(fmt.Sprintf("document.querySelectorAll('.part')[%d].focus()", i))
		p.Type(part)
	}
	p.Click("textarea")
	p.Type(strings.Repeat("word ", 401))
	p.Click("#city")
	p.Type("Graz")
	p.Click("#card")
	got, doc := r.end(nil)
	text, _ := json.Marshal(got)
	for _, secret := range []string{"hunt", "er2", "5105", "0510", "word", "4111"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s is in the recording: %s", secret, text)
		}
	}
	want := strings.Join([]string{`clicks button "Show"`, `fills textbox "City" with "Graz"`, `clicks the element "[id=\"card\"]" (a selector: it does not say what the element is)`}, "\n")
	if got := draftWords(t, doc); got != want {
		t.Errorf("the steps are\n%s", got)
	}
}

// What differs between two recordings becomes arguments: here of a page that never loads anew, with a field in
// a frame and a button in a closed shadow tree.
func TestRecordTwice(t *testing.T) {
	t.Parallel()
	url := site(t, map[string]string{
		"/": `<!doctype html><title>Search</title><main><label>Words <input type=search></label><ul></ul><iframe title=Filter src="/filter"></iframe><x-more></x-more><div id=out></div></main>
			<script>
				const list = document.querySelector("ul"), out = document.querySelector("#out");
				const all = ["Green tea", "Black tea", "Mint"];
				document.querySelector("input").addEventListener("keydown", ({key, target}) => {
					if (key !== "Enter") return;
					list.replaceChildren(...all.map(name => Object.assign(document.createElement("li"), {innerHTML: "<a href=#>" + name + "</a> <button>Add</button>"})));
					history.pushState({}, "", "/?q=" + target.value);
					target.value = "";
				});
				customElements.define("x-more", class extends HTMLElement {
					constructor() {
						super();
						this.attachShadow({mode: "closed"}).innerHTML = "<button>Finish</button>";
					}
				});
				// What a page does itself is nothing that a person does.
				addEventListener("focusin", () => {
					document.querySelector("a")?.click();
					document.querySelector("input").dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true}));
					document.querySelector("input").dispatchEvent(new InputEvent("input", {bubbles: true}));
				});
			</script>`,
		"/filter": `<!doctype html><label>Maximum <input type=number></label><button>Apply</button>`,
	})
	r := record(t, url)
	show := func(words, max string, row int) {
		t.Helper()
		p := r.page
		p.Click("input")
		p.Type(words)
		p.Keys(kb.Enter)
		p.WaitFor("document.querySelector('li')")
		p.Eval("document.querySelector('iframe').contentDocument.querySelector('input').focus()")
		p.Type(max)
		p.Keys(kb.Tab + kb.Enter)
		p.Click(fmt.Sprintf("li:nth-child(%d) a", row))
		p.Click("li:nth-child(2) button")
		p.Click("x-more")
	}
	show("tea", "10", 1)
	_, first := r.end(nil)
	r.click("discard")
	r.page.Navigate(url)
	r.page.Front()
	r.again()
	show("black tea", "20", 2)
	_, second := r.end(first)
	want := strings.Join([]string{
		`fills searchbox "Words" with the argument words`,
		`presses Enter in searchbox "Words"`,
		`fills spinbutton "Maximum" with the argument maximum`,
		`clicks button "Apply"`,
		`clicks link "${link}"`,
		`clicks the 2nd button "Add"`,
		`clicks button "Finish"`,
	}, "\n")
	if got := draftWords(t, second); got != want {
		t.Errorf("the steps are\n%s", got)
	}
	var example bytes.Buffer
	if err := json.Compact(&example, second.Tools[0].Examples[0].Input); err != nil {
		t.Fatal(err)
	}
	if got := example.String(); got != `{"words":"black tea","maximum":"20","link":"Black tea"}` {
		t.Errorf("the example is %s", got)
	}
}

// The browser may stop the worker at any time: what was recorded stays, and what is done next wakes it.
func TestRecordSurvivesWorker(t *testing.T) {
	t.Parallel()
	r := record(t, site(t, map[string]string{"/": `<!doctype html><title>Here</title><button id=a>One</button><button id=b>Two</button>`}))
	r.page.Click("#a")
	has(t, r.popup, "#recording", "button “One”")
	r.popup.Close()
	r.b.StopWorker()
	r.page.Click("#b")
	r.popup = r.h.popup(r.b, r.number)
	_, doc := r.end(nil)
	if got := draftWords(t, doc); got != "clicks button \"One\"\nclicks button \"Two\"" {
		t.Errorf("the steps are\n%s", got)
	}
}

// Nothing is written down at another site, and the page cannot begin a recording or add to one.
func TestRecordEndsElsewhere(t *testing.T) {
	t.Parallel()
	other := site(t, map[string]string{"/": `<!doctype html><title>Other</title><input>`})
	url := site(t, map[string]string{"/": `<!doctype html><title>Here</title><button onclick="this.textContent = 'Was clicked'">Go</button><a href="` + other + `">Elsewhere</a>`})
	r := record(t, url)
	r.page.Eval(`document.querySelector("button").click()`)
	r.page.Click("button")
	r.page.Click("a")
	has(t, r.popup, "#recording", "the tab went to "+strings.TrimPrefix(other, "http://")+", where nothing is written down; the step that led there is left out", "button “Was clicked”")
	r.popup.WaitFor("document.querySelectorAll('#recording li').length === 1")
	r.popup.WaitFor("chrome.tabs.get(Number(location.search.slice(5))).then(({title, status}) => title === 'Other' && status === 'complete')")
	if got := r.page.Eval("document.documentElement.lastElementChild.localName"); got != `"body"` {
		t.Errorf("the other site has %s", got)
	}
	if got := r.popup.Eval(`chrome.runtime.sendMessage({type: "recorded", says: {step: {click: {target: {role: "button"}}}}}).then(String)`); got == `"true"` {
		t.Error("what is not said by the document was taken")
	}
	picture(t, r.popup, "popup-recorded")
}

// The hub has the person asked, who may decline; nothing begins without them.
func TestHubAsksToRecord(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, map[string]string{"/": shopPage})
	r := &recording{t: t, h: h, b: b, page: b.Open(url)}
	tab := r.tab()
	r.page.Front()
	if got, err := h.ask(0, &spec.Record{Name: "shop-order"}); err != nil || got != "{}" { // of the tab in front
		t.Fatal(got, err)
	}
	r.popup = h.popup(b, tab)
	has(t, r.popup, "#recording", "Record what you do?", "shop-order")
	picture(t, r.popup, "popup-record-asked")
	r.click("discard")
	has(t, r.popup, "#recording", "Record what I do")
	if got := r.page.Eval("document.documentElement.lastElementChild.localName"); got != `"body"` {
		t.Errorf("the page has %s", got)
	}
	if _, err := h.ask(tab, &spec.Record{Name: "shop-order"}); err != nil {
		t.Fatal(err)
	}
	r.click("record")
	r.page.Front()
	r.page.WaitFor(isRecorded)
	picture(t, r.page, "page-recorded")
	if _, err := h.ask(tab, &spec.Record{Name: "other"}); err == nil || !strings.Contains(err.Error(), "a recording is under way") {
		t.Error(err)
	}
	r.page.Click("[name=gift]")
	has(t, r.popup, "#recording", "fill checkbox “Gift” with on")
	picture(t, r.popup, "popup-recording")
	r.popup.Dark(true)
	picture(t, r.popup, "popup-recording-dark")
	if got, _ := r.end(nil); got.Name != "shop-order" {
		t.Errorf("the draft is of the pack %s", got.Name)
	}
}
