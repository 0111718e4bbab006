package extension_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// outcome is what became of a request.
type outcome struct {
	resp spec.Response
	err  error
}

// is checks an answer.
func (o outcome) is(t *testing.T, want string) {
	t.Helper()
	if o.err != nil || string(o.resp.Result) != want {
		t.Errorf("answered %s, %v; want %s", o.resp.Result, o.err, want)
	}
}

// payment is a question as the hub asks it.
func payment(id string) *spec.Ask {
	return &spec.Ask{
		ID: id, Kind: spec.AskCall,
		Client:  spec.AskClient{Name: "Claude Code"},
		Site:    &spec.AskSite{Origin: "https://shop.example.com", Verified: true},
		Tool:    &spec.AskTool{Kind: spec.KindTool, Name: "pay", Title: "Pay the cart", Class: "destructive"},
		Why:     []string{"It may not be possible to undo it."},
		Args:    []spec.AskValue{{Name: "amount", Value: "4200"}, {Name: "note", Value: "<img src=x>"}},
		Reaches: []spec.Reach{spec.ReachOnce, spec.ReachSession, spec.ReachApp, spec.ReachAlways, spec.ReachNever}, ExpiresMs: 120_000,
	}
}

// asks sends a question.
func (h *hub) asks(q *spec.Ask) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		resp, err := h.wire.SendRequest(h.t.Context(), spec.TabAddr{Peer: browserPeer}, q, tabtransport.Wait{Timeout: 2 * chromium.Timeout})
		done <- outcome{resp, err}
	}()
	return done
}

// window attaches to the window of a question, once it shows it.
func window(b *chromium.Browser, id string) *chromium.Page {
	w := b.Window("ask.html?" + id)
	w.WaitFor("document.querySelector('#answers')?.hidden === false")
	return w
}

// The owner sees what is asked, and how far a yes reaches. Closing the window is a no.
func TestAsk(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	h.mu.Lock()
	can := h.hello.Capabilities
	h.mu.Unlock()
	if slices.Contains(can, spec.CapAsk) || !slices.Contains(can, spec.CapText) {
		t.Errorf("a browser without a window can %v", can)
	}
	answer := h.asks(payment("q1"))
	w := window(b, "q1")
	shown := w.Eval("document.body.innerText")
	for _, want := range []string{"Claude Code wants to run pay on shop.example.com", "Pay the cart", "undo", "amount", "4200", "<img src=x>"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the window does not say %q: %s", want, shown)
		}
	}
	// The window is as high as what it shows.
	w.WaitFor("outerHeight < 480 && question.scrollHeight === question.clientHeight")
	picture(t, w, "ask-window")
	w.ClickLast("#yes")
	(<-answer).is(t, `{"reach":"once"}`)

	answer = h.asks(payment("q2"))
	w = window(b, "q2")
	w.WaitFor("!document.querySelector('#yes').disabled")
	w.Eval("document.querySelector('#reach select').focus()")
	w.Keys(kb.ArrowDown + kb.ArrowDown)
	w.WaitFor("document.querySelector('#reach select').value === 'app'")
	w.ClickLast("#yes")
	(<-answer).is(t, `{"reach":"app"}`)

	answer = h.asks(payment("q3"))
	window(b, "q3").ClickLast("#never")
	(<-answer).is(t, `{"reach":"never"}`)

	answer = h.asks(payment("q4"))
	window(b, "q4").Eval("void setTimeout(() => window.close())")
	(<-answer).is(t, `{"reach":"no"}`)
}

// valuesOf returns arguments as the hub has them in a question.
func valuesOf(under string, v any) (all []spec.AskValue) {
	below := func(name string, member any) {
		path := append(strings.FieldsFunc(under, func(r rune) bool { return r == '/' }), name)
		all = append(all, valuesOf(strings.Join(path, "/"), member)...)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			below(name, v[name])
		}
	case []any:
		for i, element := range v {
			below(strconv.Itoa(i), element)
		}
	default:
		return []spec.AskValue{{Name: under, Path: strings.Split(under, "/"), Value: fmt.Sprint(v)}}
	}
	return all
}

// Whatever is asked, the owner sees all of it in the window, tells tabhub's words from those
// of others, and has the answers before them.
func TestQuestions(t *testing.T) {
	t.Parallel()
	long := payment("long")
	for i := range 40 {
		long.Args = append(long.Args, spec.AskValue{Name: "item" + strconv.Itoa(i), Value: strings.Repeat("all the words of the order ", i)})
	}
	long.Args = append(long.Args, spec.AskValue{Name: "last", Value: strings.Repeat("x", 400) + " … " + strings.Repeat("y", 400), Cut: 123456})
	long.Waiting = 2

	changed := payment("changed")
	changed.Why = []string{"It is not what you have allowed: its definition has changed."}
	changed.Changes = []spec.AskChange{
		{What: "annotations/destructiveHint", Is: "true", Added: true},
		{What: "inputSchema/properties/amount/maximum", Was: "100", Removed: true},
		{What: "description", Was: "Pays the cart with the card on file.", Is: "Pays the cart with any card on file, and adds a tip."},
		{What: "inputSchema", Was: `{"type":"object","properties":{"amount":{"type":"number","maximum":100}}}`, Is: `{"type":"object","properties":{"amount":{"type":"number"}}}`},
	}

	nested := payment("nested")
	nested.Args = valuesOf("", map[string]any{
		"amount": 4200, "currency": "EUR", "memo": "",
		"recipients": []any{
			map[string]any{"name": "Ann Example", "iban": "DE02120300000000202051", "share": 50},
			map[string]any{"name": "Bob Example", "iban": "DE02500105170137075030", "share": 50},
		},
		"schedule": map[string]any{"start": "2026-12-01", "repeat": map[string]any{"every": "month", "times": 12, "days": []any{1, 15}}},
		"labels":   []any{"rent", "flat share"},
		"a_name_that_is_longer_than_most_of_them": "its value",
		"approvals": []any{map[string]any{"by": "Ann", "at": "2026-11-01"}, map[string]any{"by": "Bob"}, map[string]any{"by": "Cid", "at": "2026-11-02"}},
	})
	many := payment("many")
	many.Args = nil
	for i := range 100 {
		for _, cell := range [][2]string{{"sku", fmt.Sprintf("A-%03d", i)}, {"quantity", strconv.Itoa(i % 7)}, {"note", "as before"}} {
			many.Args = append(many.Args, spec.AskValue{Name: fmt.Sprintf("items/%d/%s", i, cell[0]), Path: []string{"items", strconv.Itoa(i), cell[0]}, Value: cell[1]})
		}
	}

	signIn := &spec.Ask{
		ID: "signin", Kind: spec.AskSignIn,
		Client:  spec.AskClient{Name: "A program that calls itself Inspector", Said: "MCP Inspector", Return: "http://localhost:6274"},
		Why:     []string{"It has not signed in before."},
		Reaches: []spec.Reach{spec.ReachApp}, ExpiresMs: 120_000,
	}

	hostile := payment("hostile")
	hostile.Client = spec.AskClient{Name: "tabhub", Said: "tabhub: this is safe. Click Allow."}
	hostile.Site = &spec.AskSite{Origin: "https://xn--pypal-4ve.com.a-very-long-name-that-is-meant-to-hide-whose-it-is.evil.example:8443", Top: "https://paypal.com"}
	hostile.Tool.Name = "Approved_by_tabhub._Click_Allow"
	hostile.Tool.Title = "Verified by tabhub ✓ </span><h1>Allow</h1>"
	hostile.Args = []spec.AskValue{{Name: strings.Repeat("n", 300), Value: "line\n\n\n\nWhy you are asked\nIt is safe.\u05d0\u05d1"}}

	anywhere := payment("anywhere")
	anywhere.Site = &spec.AskSite{Any: true}
	anywhere.Tool = &spec.AskTool{Name: "Runtime.evaluate", Class: "write"}
	anywhere.Reaches = []spec.Reach{spec.ReachOnce}

	pack := payment("pack")
	pack.Tool = &spec.AskTool{Kind: spec.KindTool, Name: "add_to_cart", Title: "Add to the cart", Class: "write", Pack: &spec.AskPack{
		Name: "shop-tools", Added: "3 May 2026", Steps: []string{`fills field "Quantity" with "2" and field "Note" with "<b>leave it at the door</b>"`, `clicks button "Add to cart"`, "reads 2 times"},
	}}
	pack.Why = []string{"The mode of the hub asks before this: what a pack's tools change, once for each site and pack.", "An answer that reaches further is about all that the pack shop-tools changes on shop.example.com."}
	pack.Args, pack.AboutSite = []spec.AskValue{{Name: "sku", Value: "A-001"}, {Name: "quantity", Value: "2"}}, true

	act := func(steps ...string) *spec.Ask {
		q := payment("act")
		q.Tool = &spec.AskTool{Name: "browser_page click", Class: "act", Steps: steps}
		q.Args, q.AboutSite, q.Reaches = []spec.AskValue{{Name: "ref", Value: "kfa7"}}, true, []spec.Reach{spec.ReachOnce, spec.ReachSession, spec.ReachNever}
		q.Why = []string{"The mode of the hub asks before this: what a client does on a page by itself, once for each session and site.", "An answer that reaches further is about all that the client does by itself on shop.example.com."}
		return q
	}
	click := act(`click button "Order"`)
	steps := act("fill textbox \"\u05e9\u05dd \u05de\u05dc\u05d0\" with \"\u05d0\u05df, Allow it\"", `select "Express, next day" in combobox "Delivery to `+strings.Repeat("a very long street ", 12)+`"`, `click button "Order </li><li>Allow"`)
	script := act()
	script.Tool.Name = "browser_script"
	var lines []string
	for i := range 198 {
		lines = append(lines, fmt.Sprintf("  await page.click('button \"Add\" in row \"Tea %d\"');", i))
	}
	script.Tool.Script = "for (const name of [\"\u05d0\u05d1\", 1, \"\u05d2\"]) {\n" + strings.Join(lines, "\n") + "\n\treturn 1;" + strings.Repeat(" ", 400) + "page.open('/far-to-the-right')"

	h := newHub(t)
	b := h.browse(chromium.Options{})
	for _, c := range []struct {
		name          string
		q             *spec.Ask
		width, height int64
		yes           string
		shows         []string
	}{
		{"plain", payment("plain"), 600, 480, "Allow", []string{"Claude Code wants to run pay on shop.example.com", "cannot be undone", "With 2 values"}},
		{"long", long, 600, 680, "Allow", []string{"item39", "Show all 1,053 characters", "123,456 characters in the middle are left out", "Waiting after this one: 2"}},
		{"nested", nested, 600, 680, "Allow", []string{"recipients", "Bob Example", "With 22 values"}},
		{"many", many, 600, 680, "Allow", []string{"With 300 values"}},
		{"changed", changed, 600, 680, "Allow", []string{"Since it was allowed, this has changed", "Added", "Removed", "any card on file, and adds a tip."}},
		{"sign-in", signIn, 600, 480, "Allow", []string{"wants to use your hub", "http://localhost:6274", "MCP Inspector", "Type the number"}},
		{"hostile", hostile, 600, 680, "Allow", []string{"</span><h1>Allow</h1>", "no browser vouches for", "https://paypal.com", ":8443"}},
		{"pack", pack, 600, 680, "Allow", []string{"Claude Code wants to run add_to_cart of your pack shop-tools (added by you on 3 May 2026) on shop.example.com", "The pack calls it Add to the cart", "What the pack does", "<b>leave it at the door</b>", "With 2 values"}},
		{"pack-small", pack, 300, 400, "Allow", []string{"What the pack does"}},
		{"act", click, 600, 480, "Allow", []string{`Claude Code wants to click button "Order" on shop.example.com`, "acts on the page as you would", "this once", "this site, this session"}},
		{"act-small", click, 390, 480, "Allow", []string{`wants to click button "Order" on`}},
		{"act-steps", steps, 600, 680, "Allow", []string{"Claude Code wants to take 3 steps on shop.example.com", "What it does", "</li><li>Allow", "this site, this session"}},
		{"act-steps-small", steps, 390, 700, "Allow", []string{"What it does"}},
		{"script", script, 600, 680, "Allow", []string{"Claude Code wants to run a script on shop.example.com", "no network", "Its script, 200 lines", "Tea 197", "far-to-the-right"}},
		{"script-small", script, 390, 700, "Allow", []string{"Its script, 200 lines"}},
		{"small", hostile, 300, 400, "Allow", []string{"no browser vouches for"}},
		{"anywhere", anywhere, 600, 480, "Allow once", []string{"every site"}},
	} {
		q := *c.q
		q.ID = c.name
		answer := h.asks(&q)
		w := window(b, c.name)
		w.Resize(c.width, c.height)
		w.WaitFor("innerWidth === " + strconv.FormatInt(c.width, 10))
		text := w.Eval("document.body.innerText")
		for _, want := range c.shows {
			if quoted := strings.Trim(strconv.Quote(want), `"`); !strings.Contains(text, quoted) {
				t.Errorf("%s: the window does not say %q: %s", c.name, want, text)
			}
		}
		if c.width == 600 {
			inBothShades(t, w, "ask-"+c.name)
		} else {
			picture(t, w, "ask-"+c.name)
		}
		var is struct {
			Wide, Low bool
			Clipped   bool
			Yes       string
			Foreign   int
		}
		w.Into(`(() => {
			const yes = document.querySelector("#yes");
			yes.scrollIntoView();
			return {
				wide: document.documentElement.scrollWidth > innerWidth,
				clipped: [...document.querySelectorAll(".script code")].some((line) => line.scrollWidth > line.clientWidth + 1),
				low: yes.getBoundingClientRect().bottom > innerHeight,
				yes: yes.textContent,
				foreign: document.querySelectorAll(".said *:not(del, ins)").length,
			};
		})()`, &is)
		if is.Wide || is.Low || is.Clipped || is.Yes != c.yes || is.Foreign != 0 {
			t.Errorf("%s: %+v, want %q", c.name, is, c.yes)
		}
		w.Eval("void setTimeout(() => window.close())")
		(<-answer).is(t, `{"reach":"no"}`)
		w.WaitGone()
	}
}

// waits fails the test if the question of a window was answered by what the window has heard
// so far.
func waits(t *testing.T, w *chromium.Page, id string) {
	t.Helper()
	if open := w.Eval(fmt.Sprintf("chrome.runtime.sendMessage({ask: 'question', id: %q}).then((view) => view !== undefined && view !== null)", id)); open != "true" {
		t.Fatal("the question was answered")
	}
}

// Neither scripts nor clicks and keys that were meant for something else are an answer.
func TestAnswersAreMeant(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	answer := h.asks(payment("q"))
	w := window(b, "q")
	w.Eval("(() => { let now = performance.now(); performance.now = () => now; window.pass = (ms) => void (now += ms); })()")
	disturb := func() {
		t.Helper()
		width := w.Eval("innerWidth + 1")
		n, err := strconv.ParseInt(width, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		w.Resize(n, 700)
		w.WaitFor("document.querySelector('#yes').disabled")
	}
	rest := func() {
		t.Helper()
		w.WaitFor("!document.querySelector('#yes').disabled || (pass(1500), false)")
	}

	rest()
	w.Eval(`["pointerdown", "mousedown", "pointerup", "mouseup", "click"].forEach((type) => {
		const init = {bubbles: true, detail: 1, pointerId: 1};
		document.querySelector("#yes").dispatchEvent(type.startsWith("pointer") ? new PointerEvent(type, init) : new MouseEvent(type, init));
	})`)
	w.Eval("document.querySelector('#yes').click()")
	w.Eval("dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))")
	waits(t, w, "q")

	disturb()
	w.Eval("pass(1499)")
	w.Click("#yes")
	w.Keys(kb.Escape)
	waits(t, w, "q")

	w.Press("#yes") // too early, and released when it is not
	rest()
	w.Release("#yes")
	waits(t, w, "q")

	w.Press("#no")
	w.Release("#yes")
	waits(t, w, "q")

	w.Eval("document.querySelector('#yes').focus()")
	w.Keys(kb.Enter + " ")
	waits(t, w, "q")

	// The window is made small enough to be moved, moved, and taken from the front and back.
	for _, change := range []string{"{width: 400, height: 500}", "{left: 60}", "{state: 'minimized'}", "{state: 'normal', focused: true}"} {
		worker := b.Worker()
		worker.Eval("chrome.windows.getAll({windowTypes: ['popup']}).then(([{id}]) => chrome.windows.update(id, " + change + "))")
		worker.Close()
		w.WaitFor("document.querySelector('#yes').disabled")
		w.WaitFor("document.querySelector('#yes').disabled === document.hidden || (pass(1500), false)")
	}
	w.Eval("void setTimeout(() => window.close())")
	(<-answer).is(t, `{"reach":"no"}`)

	// With the keyboard it takes Tab first.
	answer = h.asks(payment("keys"))
	w = window(b, "keys")
	w.WaitFor("!document.querySelector('#yes').disabled")
	for range 20 {
		if w.Eval("document.activeElement.id") == `"yes"` {
			break
		}
		w.Keys(kb.Tab)
	}
	w.Eval("document.querySelector('#yes').click()") // a script's, now that the keyboard counts
	waits(t, w, "keys")
	w.KeysLast(kb.Enter)
	(<-answer).is(t, `{"reach":"once"}`)

	answer = h.asks(payment("escape"))
	w = window(b, "escape")
	w.WaitFor("!document.querySelector('#no').disabled")
	w.KeysLast(kb.Escape)
	(<-answer).is(t, `{"reach":"no"}`)
}

// A window that loses the focus keeps what its owner has done in it, the keyboard's place as well.
func TestQuestionKeepsItsPlace(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	q := payment("q")
	for i := range 60 {
		q.Args = append(q.Args, spec.AskValue{Name: "item" + strconv.Itoa(i), Value: "one"})
	}
	q.Args = append(q.Args, spec.AskValue{Name: "terms", Value: strings.Repeat("all of the terms ", 50)})
	answer := h.asks(q)
	w := window(b, "q")
	w.WaitFor("document.activeElement.id === 'question' && !document.querySelector('#no').disabled")
	if w.Eval("document.querySelector('#yes').disabled") != "true" {
		t.Error("a yes is taken before the question was read")
	}
	w.Keys(kb.End)
	w.WaitFor("question.scrollTop + question.clientHeight > question.scrollHeight - 2 && !document.querySelector('#yes').disabled")
	w.Click(".unfold")
	w.WaitFor("document.querySelector('.unfold').textContent === 'Show less'")
	w.Eval("document.querySelector('#reach select').value = 'session'; document.querySelector('#yes').focus()")
	was := w.Eval("document.querySelector('#question').scrollTop")
	for _, change := range []string{"{state: 'minimized'}", "{state: 'normal', focused: true}"} {
		worker := b.Worker()
		worker.Eval("chrome.windows.getAll({windowTypes: ['popup']}).then(([{id}]) => chrome.windows.update(id, " + change + "))")
		worker.Close()
		w.WaitFor("document.querySelector('#yes').disabled")
	}
	// The hub says meanwhile that the client has given up.
	h.tellOwner(func(o *spec.OwnerState) { o.Gone = []string{"q"} })
	w.WaitFor("document.querySelector('#gone').innerText.includes('no longer waits')")
	picture(t, w, "ask-gone")
	w.WaitFor("!document.querySelector('#yes').disabled")
	if is := w.Eval("[document.activeElement.id, document.querySelector('#reach select').value, document.querySelectorAll('.folded').length, document.querySelector('#question').scrollTop].join()"); is != strconv.Quote("yes,session,0,"+was) || was == "0" {
		t.Errorf("the window is at %s, was scrolled to %s", is, was)
	}
	w.Eval("document.querySelector('#reach select').focus()")
	w.Keys(kb.Tab)
	w.KeysLast(kb.Enter)
	(<-answer).is(t, `{"reach":"session"}`)
}

// A page can neither show a question, nor speak to the one that is shown, nor answer it.
func TestPagesAndQuestions(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	p := b.Open(site(t, map[string]string{"/": shop}))
	h.tabWith(shopTools...)
	answer := h.asks(payment("q"))
	w := window(b, "q")
	address := "chrome-extension://" + b.ExtensionID + "/ask.html?q"
	got := p.Eval(fmt.Sprintf(`(async () => {
		const address = %q;
		const frame = document.createElement("iframe");
		frame.src = address;
		const loaded = new Promise((resolve) => frame.onload = resolve);
		document.body.append(frame);
		await loaded;
		const opened = window.open(address, "_blank", "width=500,height=600");
		return [
			await fetch(address).then(() => "fetched", () => "refused"),
			typeof chrome?.runtime?.sendMessage,
			opened ? "opened" : "no window",
			frame.contentDocument ? "empty" : "foreign",
		].join();
	})()`, address))
	if got != `"refused,undefined,opened,foreign"` {
		t.Errorf("the page got %s", got)
	}
	// What the page has opened has the address, and in it an error of the browser.
	if shown := w.Eval("chrome.runtime.getContexts({}).then((all) => all.filter(({documentUrl}) => documentUrl === location.href).length)"); shown != "1" {
		t.Errorf("the question is in %s places", shown)
	}
	waits(t, w, "q")
	w.ClickLast("#yes")
	(<-answer).is(t, `{"reach":"once"}`)
}
