package extension_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest"
	"tabhub/tabtransport/tabtest/chromium"
)

// runner runs steps of packs in pages, with content/steps.js and a worker of the tests' own
// (testdata/runner).
type runner struct {
	t      testing.TB
	b      *chromium.Browser
	worker *chromium.Page
	runs   int
}

func newRunner(t testing.TB) *runner {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/runner")); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("bundle/content/steps.js")
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "content"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "content", "steps.js"), script, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	b := chromium.Shared(t, chromium.Options{Extension: dir})
	return &runner{t: t, b: b, worker: b.Worker()}
}

// ran is what came of a run.
type ran struct {
	Result  spec.RunResult    `json:"result"`
	Reports []spec.StepReport `json:"reports"` // of steps that act
	Log     []json.RawMessage `json:"log"`
}

// String says how the run ended: with its value, or with why it failed.
func (r ran) String() string {
	f := r.Result.Failed
	if f == nil {
		return string(r.Result.Value)
	}
	s := fmt.Sprintf("%d %s: %s", f.Step, f.Code, f.Message)
	if len(f.Found) > 0 {
		s += " [" + strings.Join(f.Found, "; ") + "]"
	}
	return s
}

// did says what is known of each step of the last document, and in which words.
func (r ran) did() string {
	var all []string
	for _, s := range r.Result.Steps {
		all = append(all, fmt.Sprintf("%s: %s", s.Did, s.Words))
	}
	return strings.Join(all, "\n")
}

// run runs steps in the page at an address; more are members for the worker.
func (r *runner) run(url, steps, args, result, more string) ran {
	r.t.Helper()
	r.runs++
	if args == "" {
		args = "{}"
	}
	begin := fmt.Sprintf(`{"url": %q, "run": {"id": "r%d", "steps": %s, "args": %s, "match": [%q]%s}%s}`,
		url, r.runs, steps, args, url[:strings.Index(url[8:], "/")+8]+"/in/*", map[bool]string{true: fmt.Sprintf(`, "result": %q`, result)}[result != ""], more)
	var got ran
	r.worker.Into("start("+begin+")", &got)
	return got
}

// stepsServer has a page at /in/, and an API that says what it was asked.
func stepsServer(t testing.TB, pages map[string]string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/in/api/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		cookie, _ := r.Cookie("session")
		said := map[string]any{"method": r.Method, "query": r.URL.RawQuery, "body": string(body), "type": r.Header.Get("Content-Type"), "token": r.Header.Get("X-CSRF-Token"), "cookie": cookie != nil}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(said)
	})
	mux.HandleFunc("/in/api/out", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/outside", http.StatusFound) })
	mux.HandleFunc("/in/api/broken", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no such thing, "+r.Header.Get("X-CSRF-Token"), http.StatusNotFound)
	})
	mux.HandleFunc("/in/api/deep", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("[", 200_000)+strings.Repeat("]", 200_000))
	})
	mux.HandleFunc("/in/api/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/in/api/large", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 5<<20)) })
	mux.HandleFunc("/in/api/item/{id}", func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprintf(w, `{"id": %q}`, r.PathValue("id")) })
	mux.HandleFunc("/in/login", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `<form><input name=t type=hidden value=of-page></form>`)
	})
	mux.HandleFunc("/outside", func(http.ResponseWriter, *http.Request) {
		t.Error("the server was asked where the pack does not reach")
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "s", Path: "/", HttpOnly: true})
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html>"+page)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// row is one run in a page.
type row struct {
	name  string
	page  string
	steps string
	args  string
	want  string // of ran.String, its beginning
	then  string // an expression that is true in the page afterwards
	did   string // a part of ran.did
}

func runRows(t *testing.T, rows []row) {
	r := newRunner(t)
	pages := map[string]string{}
	for i, row := range rows {
		pages[fmt.Sprintf("/in/%d", i)] = row.page
	}
	pages["/in/next"] = `<title>Next</title><h1>Thanks</h1>`
	pages["/elsewhere"] = `<h6>Of another page</h6>`
	url := stepsServer(t, pages)
	for i, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			at := fmt.Sprintf("%s/in/%d", url, i)
			p := r.b.Open(at)
			defer p.Close()
			got := r.run(at, row.steps, row.args, "", "")
			if !strings.HasPrefix(got.String(), row.want) || row.want == "" && got.String() != "null" {
				t.Errorf("got  %s\nwant %s\n%s", got, row.want, got.did())
			}
			if !strings.Contains(got.did(), row.did) {
				t.Errorf("of the steps it says\n%s\nwithout %s", got.did(), row.did)
			}
			if row.then != "" {
				if is := p.Eval(row.then); is != "true" {
					t.Errorf("%s is %s", row.then, is)
				}
			}
		})
	}
}

// A pack says what it means as people do, and gets exactly that, or is told what there is.
func TestStepsFind(t *testing.T) {
	t.Parallel()
	click := func(target string) string { return `[{"click": {"target": ` + target + `}, "timeout": 1}]` }
	const log = `<script>clicks = []; addEventListener("click", e => clicks.push(e.composedPath()[0].id))</script>`
	runRows(t, []row{
		{"by text", log + `<button id=a>Order</button><button>Delete</button>`, click(`{"role": "button", "name": "Order"}`), "", "null", `clicks.join() === "a"`, `yes: clicked button "Order"`},
		{"by label", log + `<label for=x>Gift</label><input type=checkbox id=x>`, click(`{"label": "Gift"}`), "", "null", `x.checked`, `clicked checkbox "Gift"`},
		{"by what labels it", log + `<b id=l hidden>Close it</b><div id=a role=button aria-labelledby=l>x</div>`, click(`{"role": "button", "name": "Close it"}`), "", "null", `clicks.join() === "a"`, `that shows "x"`},
		{"by a part", log + `<a id=a href="#b">Read more: cats</a><a href="#c">Read it</a>`, click(`{"role": "link", "name": "...cats"}`), "", "null", `clicks.join() === "a"`, ""},
		{"by an argument", log + `<button id=a>Buy 2...</button><button>Buy 2</button>`, click(`{"role": "button", "name": "Buy ${what}"}`), `{"what": "2..."}`, "null", `clicks.join() === "a"`, ""},
		{"hidden ones do not count", log + `<button style="display:none">Order</button><div hidden><button>Order</button></div><div aria-hidden=true><button>Order</button></div><div style="visibility:hidden"><button>Order</button></div><button id=a>Order</button>`, click(`{"role": "button", "name": "Order"}`), "", "null", `clicks.join() === "a"`, ""},
		{"one of two", log + `<section aria-label=A><button>Order</button></section><section aria-label=B><button id=a>Order</button></section>`, click(`{"role": "button", "name": "Order", "in": {"role": "region", "name": "B"}}`), "", "null", `clicks.join() === "a"`, ""},
		{"the last", log + `<button>Order</button><button id=a>Order</button>`, click(`{"role": "button", "name": "Order", "nth": -1}`), "", "null", `clicks.join() === "a"`, ""},
		{"two", log + `<button>Order</button><button>Order</button>`, click(`{"role": "button", "name": "Order"}`), "", `0 STEP_AMBIGUOUS: there are 2 of button "Order" [button "Order"; button "Order"]`, `clicks.length === 0`, "no: "},
		{"none", log + "<button>Ordering\u202e now\nand " + strings.Repeat("long ", 50) + `</button><button>Cancel</button><a href=x>Order</a>`, click(`{"role": "button", "name": "Order"}`), "", `0 STEP_NOT_FOUND: there is no button "Order" [button "Ordering now and long`, `clicks.length === 0`, ""},
		{"in a shadow tree", log + `<x-a></x-a><script>customElements.define("x-a", class extends HTMLElement { constructor() { super(); this.attachShadow({mode: "closed"}).innerHTML = "<button id=a>Order</button>"; } })</script>`, click(`{"role": "button", "name": "Order"}`), "", "null", `clicks.length === 1`, ""},
		{"in a frame", `<iframe srcdoc="<button onclick='parent.clicked = true'>Order</button>"></iframe>`, click(`{"role": "button", "name": "Order"}`), "", "null", `clicked`, ""},
		{"in a frame where the pack does not reach", `<script>count = 0</script><iframe src="/elsewhere"></iframe>`, click(`{"selector": "h6"}`), "", `0 STEP_NOT_FOUND: there is no "h6"`, "", ""},
		{"one that comes later", `<script>setTimeout(() => document.body.innerHTML = "<button onclick='clicked = true'>Order</button>", 300)</script>`, click(`{"role": "button", "name": "Order"}`), "", "null", `clicked`, ""},
		{"one that is enabled later", `<button id=a disabled onclick="clicked = true">Order</button><script>setTimeout(() => a.disabled = false, 300)</script>`, click(`{"role": "button", "name": "Order"}`), "", "null", `clicked`, ""},
		{"one that is disabled", `<fieldset disabled><button>Order</button></fieldset>`, click(`{"role": "button", "name": "Order"}`), "", `0 STEP_REFUSED: button "Order" is disabled`, "", ""},
		{"a dialog over it", `<button onclick="clicked = true">Order</button><div role=dialog aria-label=Cookies style="position:fixed;inset:0">Take them</div><script>clicked = false</script>`, click(`{"role": "button", "name": "Order"}`), "", `0 STEP_REFUSED: button "Order" is covered by dialog "Cookies"`, `!clicked`, "no: "},
		{"far below", `<div style="height:5000px"></div><button onclick="clicked = true">Order</button>`, click(`{"role": "button", "name": "Order"}`), "", "null", `clicked`, ""},
		{"no selector", ``, click(`{"selector": ":::"}`), "", `0 STEP_REFUSED: ":::" is no selector`, "", ""},
	})
}

// A page gets what it would get of a person's hand, and one step never does two things.
func TestStepsAct(t *testing.T) {
	t.Parallel()
	runRows(t, []row{
		{"the events of a click", `<button id=a>Order</button><script>seen = []; for (const type of ["pointerdown", "mousedown", "focus", "pointerup", "mouseup", "click"]) a.addEventListener(type, e => seen.push(type + (e.clientX > 0 || type === "focus" ? "" : " nowhere")))</script>`,
			`[{"click": {"target": {"role": "button"}}}]`, "", "null", `seen.join() === "pointerdown,mousedown,focus,pointerup,mouseup,click"`, ""},
		{"fields of all kinds", `<form>
			<label>Name <input id=a></label> <label>Notes <textarea id=b></textarea></label> <label>Size <select id=c><option>S<option>L</select></label>
			<label><input type=checkbox id=d> Gift</label> <label><input type=radio name=r id=e> Express</label> <label>Day <input type=date id=f></label>
			<div contenteditable id=g role=textbox aria-label=Text>old</div> <label>Kept <input id=h value=kept></label></form>
			<script>seen = []; for (const type of ["input", "change"]) addEventListener(type, e => seen.push(e.target.id + type))</script>`,
			`[{"fill": {"fields": [{"target": {"label": "Name"}, "value": "${name}!"}, {"target": {"label": "Notes"}, "value": "a\nb"}, {"target": {"label": "Size"}, "value": {"arg": "size"}},
			{"target": {"label": "Gift"}, "value": true}, {"target": {"label": "Express"}, "value": true}, {"target": {"label": "Day"}, "value": "2027-01-31"}, {"target": {"label": "Text"}, "value": "new"}, {"target": {"label": "Kept"}, "value": {"arg": "none"}}]}}]`,
			`{"name": "Ann", "size": "L"}`, "null", `[a.value, b.value, c.value, d.checked, e.checked, f.value, g.textContent, h.value].join() === "Ann!,a\nb,L,true,true,2027-01-31,new,kept" && ["ainput", "achange", "cchange", "dchange", "ginput"].every(e => seen.includes(e))`,
			`yes: set textbox "Name" to "Ann!", textbox "Notes" to "a b", combobox "Size" to "L", checkbox "Gift" to true`},
		{"all fields or none", `<label>Name <input id=a></label>`, `[{"fill": {"fields": [{"target": {"label": "Name"}, "value": "x"}, {"target": {"label": "Street"}, "value": "y"}]}, "timeout": 1}]`, "",
			`0 STEP_NOT_FOUND: there is no field "Street" [textbox "Name"]`, `a.value === ""`, "no: "},
		{"a field that goes while others are set", `<label>Name <input oninput="b.remove()"></label><label id=b>Street <input></label>`, `[{"fill": {"fields": [{"target": {"label": "Name"}, "value": "x"}, {"target": {"label": "Street"}, "value": "y"}]}, "timeout": 1}]`, "",
			`0 STEP_REFUSED: textbox "Street" is gone`, "", `perhaps: set 1 of 2 fields: textbox "Name" to "x"`},
		{"a framework's own setter", `<label>Name <input id=a></label><script>Object.defineProperty(a, "value", {set() { throw 1 }, get() { return "forged" }})</script>`,
			`[{"fill": {"fields": [{"target": {"label": "Name"}, "value": "x"}]}}]`, "", "null", `Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").get.call(a) === "x"`, ""},
		{"a page that puts it back", `<label>Name <input value=old oninput="this.value = 'old'"></label>`, `[{"fill": {"fields": [{"target": {"label": "Name"}, "value": "x"}]}}]`, "",
			`0 NEEDS_TRUSTED_INPUT: textbox "Name" did not take`, "", "perhaps: "},
		{"an option by its value", `<label>Size <select id=a><option value=s>Klein<option value=l>Groß</select></label>`, `[{"fill": {"fields": [{"target": {"label": "Size"}, "value": "l"}]}}]`, "", "null", `a.value === "l"`, `set combobox "Size" to "Groß"`},
		{"no such option", `<label>Size <select><option>S<option>L</select></label>`, `[{"fill": {"fields": [{"target": {"label": "Size"}, "value": "XL"}]}, "timeout": 1}]`, "", `0 STEP_NOT_FOUND: combobox "Size" has no option "XL" [option "S"; option "L"]`, "", ""},
		{"no date", `<label>Day <input type=date></label>`, `[{"fill": {"fields": [{"target": {"label": "Day"}, "value": "tomorrow"}]}}]`, "", `0 STEP_REFUSED: field "Day" takes a date such as 2027-01-31`, "", ""},
		{"read-only", `<label>Day <input readonly></label>`, `[{"fill": {"fields": [{"target": {"label": "Day"}, "value": "x"}]}}]`, "", `0 STEP_REFUSED: textbox "Day" is read-only`, "", ""},
		{"a password", `<label>Password <input type=password id=a></label>`, `[{"fill": {"fields": [{"target": {"label": "Password"}, "value": "x"}]}}]`, "", `0 STEP_REFUSED: field "Password" is a password`, `a.value === ""`, ""},
		{"a card number", `<label>Number <input id=a autocomplete="billing cc-number"></label>`, `[{"fill": {"fields": [{"target": {"label": "Number"}, "value": "x"}]}}]`, "", `0 STEP_REFUSED: textbox "Number" is a secret`, `a.value === ""`, ""},
		{"a code that the page calls a place", `<label>PIN code <input id=a autocomplete="shipping postal-code"></label>`, `[{"fill": {"fields": [{"target": {"label": "PIN code"}, "value": "1"}]}}]`, "", "null", `a.value === "1"`, ""},
		{"a password by its keys", `<label>Password <input type=password id=a></label>`, `[{"press": {"target": {"label": "Password"}, "key": "x"}}]`, "", `0 STEP_REFUSED: field "Password" is a password`, `a.value === ""`, ""},
		{"files", `<label>Photo <input type=file></label>`, `[{"fill": {"fields": [{"target": {"label": "Photo"}, "value": "x"}]}}]`, "", `0 NEEDS_TRUSTED_INPUT: `, "", ""},
		{"enter submits", `<form action=/in/next onsubmit="event.preventDefault(); sent = (window.sent ?? 0) + 1"><label>Find <input></label><button>Go</button></form>`, `[{"press": {"target": {"label": "Find"}, "key": "Enter"}}]`, "", "null", `sent === 1`, `pressed Enter in textbox "Find"`},
		{"enter that the page takes", `<form onsubmit="sent = true"><label>Find <input onkeydown="event.key === 'Enter' && event.preventDefault()"></label></form><script>sent = false</script>`, `[{"press": {"target": {"label": "Find"}, "key": "Enter"}}]`, "", "null", `!sent`, ""},
		{"a list of suggestions", `<label>City <input id=a oninput="b.hidden = false"></label><ul role=listbox><li role=option id=b hidden onmousedown="a.value = 'Paris, France'">Paris, France</ul>`,
			`[{"fill": {"fields": [{"target": {"label": "City"}, "value": "Par"}]}}, {"click": {"target": {"role": "option", "name": "Paris..."}}}]`, "", "null", `a.value === "Paris, France"`, ""},
		{"a link out", `<a href=/outside>Out</a>`, `[{"click": {"target": {"role": "link"}}}]`, "", `0 STEP_REFUSED: link "Out" leads to http`, `location.pathname.startsWith("/in/")`, "no: "},
		{"a form out", `<form action=/outside><button>Out</button></form>`, `[{"click": {"target": {"role": "button"}}}]`, "", `0 STEP_REFUSED: form without a name leads to http`, `location.pathname.startsWith("/in/")`, "no: "},
		{"a link without address in a button out", `<form action=/outside><button><a id=a>Out</a></button></form>`, `[{"click": {"target": {"selector": "#a"}}}]`, "", `0 STEP_REFUSED: form without a name leads to http`, `location.pathname.startsWith("/in/")`, "no: "},
		{"a button with an action of its own", `<form action=/in/next><button formaction=/outside>Out</button></form>`, `[{"click": {"target": {"role": "button"}}}]`, "", `0 STEP_REFUSED: `, `location.pathname.startsWith("/in/")`, "no: "},
		{"a script that leads out", `<button onclick="location = '/outside'">Out</button>`, `[{"click": {"target": {"role": "button"}}}, {"read": {"fields": {"a": {"target": {"role": "button"}}}}}]`, "", `0 STEP_REFUSED: the step led to http`, `location.pathname.startsWith("/in/")`, "yes: "},
		{"another tab", `<a href=/in/next target=_blank>Next</a>`, `[{"click": {"target": {"role": "link"}}}]`, "", `0 NEEDS_TRUSTED_INPUT: `, "", "no: "},
		{"outside", `<button onclick="history.pushState(0, '', '/elsewhere')">Go</button>`, `[{"click": {"target": {"role": "button"}}}, {"read": {"fields": {"a": {"target": {"selector": "body"}}}}}]`, "", `1 STEP_REFUSED: the page is at `, "", "no: "},
	})
}

// What is read is what the page shows, under the names of the pack; what is not there is said, and nothing
// stands in for it.
func TestStepsRead(t *testing.T) {
	t.Parallel()
	const shop = `<ul id=list><li><b>Milk</b> <span class=p>1,234.50 €</span> <a href="next?1">more</a><li><b>Bread</b> <span class=p>-2</span> <a href="/in/next?2">more</a><li hidden><b>Ghost</b></ul>`
	const table = `<table aria-label=Orders><tr><th>No<th>Item<th>Sum<tr><td rowspan=2>1<td>Milk<td>2<tr><td>Bread<td>3<tr style="display:none"><td>x<td>x<td>x</table>`
	fields := func(field string) string { return `[{"read": {"fields": {"v": ` + field + `}}, "timeout": 1}]` }
	runRows(t, []row{
		{"a list", shop, `[{"read": {"list": {"selector": "#list li"}, "fields": {"name": {"target": {"selector": "b"}}, "price": {"target": {"selector": ".p"}, "give": "number"}, "to": {"target": {"role": "link"}, "give": "link"}, "none": {"target": {"selector": "i"}, "optional": true}}}}]`, "",
			`[{"name":"Milk","price":1234.5,"to":"http://`, "", `read 2 of "#list li"`},
		{"the first of a list", shop, `[{"read": {"list": {"role": "listitem"}, "fields": {"t": {"target": {"selector": "b"}}}, "max": 1}}]`, "", `[{"t":"Milk"}]`, "", `read the first 1 of 2 of listitem`},
		{"a part of an element that is not there", shop, `[{"read": {"list": {"role": "listitem"}, "fields": {"stars": {"target": {"selector": ".stars"}}}}, "timeout": 1}]`, "", `0 STEP_NOT_FOUND: stars: there is no ".stars"`, "", ""},
		{"a list that is called otherwise by now", shop, `[{"read": {"list": {"selector": ".item"}, "fields": {"t": {}}}, "timeout": 1}]`, "", `0 STEP_NOT_FOUND: there is no ".item"`, "", ""},
		{"an empty list", `<ul aria-label=Results></ul>`, `[{"read": {"list": {"role": "listitem", "in": {"role": "list", "name": "Results"}}, "fields": {"t": {}}}}]`, "", `[]`, "", "read 0 of listitem in list"},
		{"a list that comes later", `<ul aria-label=Results id=u></ul><script>setTimeout(() => u.innerHTML = "<li>x", 300)</script>`, `[{"read": {"list": {"role": "listitem", "in": {"role": "list", "name": "Results"}}, "fields": {"t": {}}}}]`, "", `[{"t":"x"}]`, "", ""},
		{"a table", table, `[{"read": {"table": {"target": {"role": "table", "name": "Orders"}, "columns": {"No": "id", "Sum": "sum"}}}}]`, "", `[{"id":"1","sum":"2"},{"id":"1","sum":"3"}]`, "", `read 2 rows of table "Orders"`},
		{"a table of another shape", table, `[{"read": {"table": {"target": {"role": "table"}, "columns": {"Price": "sum"}}}, "timeout": 1}]`, "", `0 STEP_NOT_FOUND: table "Orders" has no column "Price" [columnheader "No"; columnheader "Item"; columnheader "Sum"]`, "", ""},
		{"a grid of a page's own", `<div role=grid><div role=row><span role=columnheader>A</span><span role=columnheader>B</span></div><div role=row><span role=gridcell>1</span><span role=gridcell>2</span></div></div>`, `[{"read": {"table": {"target": {"role": "grid"}}}}]`, "", `[{"A":"1","B":"2"}]`, "", ""},
		{"a select", `<label>Size <select><option>S<option selected>L</select></label>`, fields(`{"target": {"label": "Size"}, "give": "value"}`), "", `{"v":"L"}`, "", ""},
		{"a checkbox", `<label><input type=checkbox checked>Gift</label>`, fields(`{"target": {"label": "Gift"}, "give": "checked"}`), "", `{"v":true}`, "", ""},
		{"an attribute", `<b data-id=7>x</b>`, fields(`{"target": {"selector": "b"}, "give": "attribute", "attribute": "data-id"}`), "", `{"v":"7"}`, "", ""},
		{"no attribute", `<b>x</b>`, fields(`{"target": {"selector": "b"}, "give": "attribute", "attribute": "data-id"}`), "", `0 STEP_NOT_FOUND: v: b that shows "x" has no attribute data-id`, "", ""},
		{"no number", `<b>sold out</b>`, fields(`{"target": {"selector": "b"}, "give": "number"}`), "", `0 STEP_NOT_FOUND: v: `, "", ""},
		{"a number of the page's language", `<html lang=de><b>1.234 €</b>`, fields(`{"target": {"selector": "b"}, "give": "number"}`), "", `{"v":1234}`, "", ""},
		{"lines", `<p>a  b<br>c<span hidden>d</span></p>`, fields(`{"target": {"selector": "p"}}`), "", `{"v":"a b\nc"}`, "", ""},
		{"a password that is shown", `<label>Password <input type=password value=x id=a></label><button onclick="a.type = 'text'; a.name = 'q'; a.parentNode.firstChild.data = 'Query'">Show</button>`,
			`[{"click": {"target": {"role": "button"}}}, {"read": {"fields": {"v": {"target": {"selector": "input"}, "give": "value"}}}}]`, "", `1 STEP_REFUSED: v: textbox "Query" is a password`, "", ""},
		{"a hidden field", `<input type=hidden name=token value=x>`, fields(`{"target": {"selector": "input"}, "give": "attribute", "attribute": "value"}`), "", `0 STEP_NOT_FOUND: `, "", ""},
		{"what is waited for", `<p id=a>Loading</p><script>setTimeout(() => a.remove(), 300)</script>`, `[{"wait": {"gone": {"selector": "#a"}}}, {"wait": {"for": {"selector": "#a"}}, "timeout": 1}]`, "", `1 STEP_TIMEOUT: waited in vain for "#a" to be there`, "", `yes: waited for "#a" to be gone`},
		{"an address", `<script>setTimeout(() => history.pushState(0, "", "/in/later"), 300)</script>`, `[{"wait": {"url": "http://127.0.0.1/in/later"}}]`, "", "null", "", ""},
	})
}

// The page's server is asked as the page would ask it, where the pack reaches and nowhere else, and no text
// has the token.
func TestStepsRequest(t *testing.T) {
	t.Parallel()
	runRows(t, []row{
		{"a query", ``, `[{"request": {"path": "/in/api/echo", "query": {"q": {"arg": "q"}, "n": {"arg": "none"}, "s": "a ${q}"}, "take": "[method, query, cookie]"}}]`, `{"q": "50% /&"}`, `["GET","q=50%25+%2F%26&s=a+50%25+%2F%26",true]`, "", "yes: GET /in/api/echo"},
		{"json", ``, `[{"request": {"method": "POST", "path": "/in/api/echo", "json": {"a": {"arg": "a"}, "b": [1, "${a}"], "c": {"arg": "none"}}}}]`, `{"a": {"x": 1}}`, `0 STEP_REFUSED: a is not a text`, "", ""},
		{"json of values", ``, `[{"request": {"method": "POST", "path": "/in/api/echo", "json": {"a": {"arg": "a"}, "b": [1, "${b}"], "c": {"arg": "none"}}, "take": "[body, type]"}}]`, `{"a": {"x": 1}, "b": 2}`, `["{\"a\":{\"x\":1},\"b\":[1,\"2\"]}","application/json"]`, "", "yes: POST /in/api/echo"},
		{"what an earlier step gave", ``, `[{"request": {"path": "/in/api/echo"}, "as": "first"}, {"request": {"method": "POST", "path": "/in/api/echo", "form": {"m": {"from": "first.method"}, "a": {"from": "args.a"}}, "take": "[body, type]"}}]`, `{"a": "x&y"}`, `["m=GET&a=x%26y","application/x-www-form-urlencoded;charset=UTF-8"]`, "", ""},
		{"a path", ``, `[{"request": {"path": "/in/api/item/${id}"}}]`, `{"id": "ü 1"}`, `{"id":"\u00fc 1"}`, "", "yes: GET /in/api/item/%C3%BC%201"},
		{"a path that an argument leads out", ``, `[{"request": {"path": "/in/api/item/${id}"}}]`, `{"id": "../../outside"}`, `0 STEP_REFUSED: the argument id is empty or has one of`, "", "no: "},
		{"a path that dots lead out", ``, `[{"request": {"path": "/in/${id}/x"}}]`, `{"id": ".."}`, `0 STEP_REFUSED: /in/../x is not a plain path`, "", "no: "},
		{"outside", ``, `[{"request": {"path": "/outside"}}]`, ``, `0 STEP_REFUSED: it would reach http`, "", "no: "},
		{"an element whose name looks like words about it", `<body><script>document.body.innerHTML = '<x-a"delete\u2003account"\u2028button\u202e onclick="clicked = true">Order</x-a>'</script>`, `[{"click": {"target": {"selector": "[onclick]"}}}]`, "", "null", `clicked`, `yes: clicked element that shows "Order"`},
		{"a base elsewhere", `<base href="//other.example/">`, `[{"request": {"path": "/in/api/echo", "take": "method"}}]`, ``, `"GET"`, "", ""},
		{"a redirect", ``, `[{"request": {"path": "/in/api/out"}}]`, ``, `0 STEP_ANSWER: GET /in/api/out was answered with a redirect`, "", ""},
		{"an error", `<meta name=csrf content=secret123>`, `[{"request": {"path": "/in/api/broken", "token": {"meta": "csrf", "header": "X-CSRF-Token"}}}]`, ``, `0 STEP_ANSWER: GET /in/api/broken was answered with 404: no such thing, …`, "", "perhaps: GET /in/api/broken"},
		{"too much", ``, `[{"request": {"path": "/in/api/large"}}]`, ``, `0 STEP_ANSWER: GET /in/api/large was answered with more than 4 MiB`, "", ""},
		{"no JSON to take of", ``, `[{"request": {"path": "/in/login", "take": "a"}}]`, ``, `0 STEP_ANSWER: GET /in/login was answered with a text`, "", ""},
		{"a token of a cookie", `<script>document.cookie = "t=a%2Bb; path=/"</script>`, `[{"request": {"path": "/in/api/echo", "token": {"cookie": "t", "header": "X-CSRF-Token"}, "take": "token"}}]`, ``, `"a+b"`, "", ""},
		{"a token of the storage", `<script>localStorage.t = "ls"</script>`, `[{"request": {"method": "POST", "path": "/in/api/echo", "form": {"a": "1"}, "token": {"storage": "t", "field": "t"}, "take": "body"}}]`, ``, `"a=1&t=ls"`, "", ""},
		{"a token of a page", ``, `[{"request": {"method": "POST", "path": "/in/api/echo", "json": {}, "token": {"page": {"path": "/in/login", "selector": "[name=t]"}, "field": "t"}, "take": "body"}}]`, ``, `"{\"t\":\"of-page\"}"`, "", ""},
		{"an answer that repeats the token", `<meta name=csrf content="secret 12345">`, `[{"request": {"method": "POST", "path": "/in/api/echo", "json": {"to": {"arg": "to"}}, "token": {"meta": "csrf", "header": "X-CSRF-Token"}, "take": "token"}}]`, `{"to": {"a": 1}}`, `"\u2026"`, "", ""},
		{"a form that an answer repeats", `<meta name=csrf content="secret 12345">`, `[{"request": {"method": "POST", "path": "/in/api/echo", "form": {"a": "1"}, "token": {"meta": "csrf", "field": "csrf"}, "take": "body"}}]`, ``, `"a=1&csrf=\u2026"`, "", ""},
		{"an answer that nobody can pass on", ``, `[{"request": {"method": "POST", "path": "/in/api/deep"}}]`, ``, `0 STEP_ANSWER: POST /in/api/deep `, "", "yes: POST /in/api/deep"},
		{"no token", ``, `[{"request": {"method": "POST", "path": "/in/api/echo", "token": {"hidden": "t", "header": "X-CSRF-Token"}}}]`, ``, `0 STEP_NOT_FOUND: there is no token in hidden field t`, "", "no: "},
		{"two tokens", `<input type=hidden name=t value=1><input type=hidden name=t value=2>`, `[{"request": {"method": "POST", "path": "/in/api/echo", "token": {"hidden": "t", "header": "X-CSRF-Token"}}}]`, ``, `0 STEP_AMBIGUOUS: there are 2 tokens in hidden field t`, "", "no: "},
		{"a header that is none for tokens", `<meta name=csrf content=x>`, `[{"request": {"path": "/in/api/echo", "token": {"meta": "csrf", "header": "X-HTTP-Method-Override"}}}]`, ``, `0 STEP_REFUSED: X-HTTP-Method-Override is no header for tokens`, "", "no: "},
	})
}

// A run goes on in the page that a step led to, and knows what came before; a step that is not granted is
// not done.
func TestStepsGoOn(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	url := stepsServer(t, map[string]string{
		"/in/":     `<h2>Cart</h2><a href="/in/next">Next</a><form action="/in/next"><button>Order</button></form><button onclick="history.pushState(0, '', '/in/same')">Same</button>`,
		"/in/next": `<h1>Thanks</h1>`,
		"/in/spa":  `<h2>Cart</h2><a href="/in/next">Next</a><script>navigation.addEventListener("navigate", e => e.intercept({handler: async () => document.querySelector("h2").outerHTML = "<h1>Shown here</h1>"}))</script>`,
	})
	const (
		first  = `{"read": {"fields": {"t": {"target": {"role": "heading"}}}}, "as": "first"}`
		second = `{"read": {"fields": {"t": {"target": {"selector": "h1"}}}}, "as": "second"}`
		link   = `{"click": {"target": {"role": "link"}%s}}`
	)
	for _, row := range []struct{ name, path, act, more, want, log string }{
		{"a link", "/in/", fmt.Sprintf(link, `, "navigates": true`), "", `["Cart","Thanks"]`, "progress 0,grant 1,did 1 true,progress 2,end"},
		{"a link that is not said to navigate", "/in/", fmt.Sprintf(link, ""), "", `["Cart","Thanks"]`, "progress 0,grant 1,did 1 false,progress 2,end"},
		{"a form", "/in/", `{"click": {"target": {"role": "button", "name": "Order"}}}`, "", `["Cart","Thanks"]`, "progress 0,grant 1,did 1 false,progress 2,end"},
		{"an address", "/in/", `{"open": {"path": "/in/next", "query": {"a": "b"}}}`, "", `["Cart","Thanks"]`, "progress 0,grant 1,did 1 true,progress 2,end"},
		{"a page that shows another in the same document", "/in/spa", fmt.Sprintf(link, ""), "", `["Cart","Shown here"]`, "progress 0,grant 1,did 1 false,progress 1,progress 2,end"},
		{"a worker that stops", "/in/", fmt.Sprintf(link, `, "navigates": true`), `, "cut": 1`, `["Cart","Thanks"]`, "progress 0,grant 1,grant 1,did 1 true,progress 2,end"},
		{"refused", "/in/", fmt.Sprintf(link, ""), `, "refuse": 1`, `1 STEP_REFUSED: the person uses the tab`, "progress 0,grant 1,end"},
		{"cancelled", "/in/", fmt.Sprintf(link, ""), `, "stop": 1`, `1 STEP_STOPPED: it was cancelled`, "progress 0,grant 1,end"},
		{"cancelled while it looks", "/in/", `{"click": {"target": {"role": "button", "name": "Same"}}}`, `, "late": 1`, `2 STEP_STOPPED: it was cancelled`, "progress 0,grant 1,did 1 false,progress 1,end"},
		{"cancelled while it asks the server", "/in/", `{"request": {"method": "POST", "path": "/in/api/slow"}}`, `, "late": 1`, `1 STEP_STOPPED: it was cancelled`, "progress 0,grant 1,end"},
		{"a server that does not answer", "/in/", `{"request": {"method": "POST", "path": "/in/api/slow"}, "timeout": 1}`, "", `1 STEP_TIMEOUT: the server did not answer in time`, "progress 0,grant 1,end"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := r.b.Open(url + row.path)
			defer p.Close()
			got := r.run(url+row.path, "["+first+","+row.act+","+second+"]", "", "[first.t, second.t]", row.more)
			var log []string
			for _, m := range got.Log {
				var said struct {
					Type      string
					Step      *int
					Navigates *bool
				}
				if err := json.Unmarshal(m, &said); err != nil {
					t.Fatal(err)
				}
				s := said.Type
				if said.Step != nil {
					s += fmt.Sprint(" ", *said.Step)
				}
				if said.Navigates != nil {
					s += fmt.Sprint(" ", *said.Navigates)
				}
				log = append(log, s)
			}
			// A page that goes at once takes with it what was to be said of that.
			said := strings.Replace(strings.Join(log, ","), "did 1 false,did 1 true", "did 1 false", 1)
			if !strings.HasPrefix(got.String(), row.want) || said != row.log {
				t.Errorf("got  %s, said %s\nwant %s,      %s\n%s", got, said, row.want, row.log, got.did())
			}
			did := spec.DidNo
			if strings.HasPrefix(row.act, `{"request`) {
				did = spec.DidPerhaps
			}
			if f := got.Result.Failed; f != nil && got.Result.Steps[len(got.Result.Steps)-1].Did != did {
				t.Errorf("of the step that failed it says %s, want %s", got.did(), did)
			}
		})
	}
}

// What a document had begun it does not do when it comes back from the back/forward cache.
func TestStepsEndWithTheirPage(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	url := stepsServer(t, map[string]string{"/in/": `<button onclick="clicked = true">Order</button><script>clicked = false</script>`, "/in/next": `<h1>Next</h1>`})
	p := r.b.Open(url + "/in/")
	r.worker.Eval(fmt.Sprintf(`void start({"url": "%s/in/", "hold": 0, "run": {"id": "r", "steps": [{"click": {"target": {"role": "button"}}}], "args": {}, "match": ["%[1]s/in/*"]}})`, url))
	r.worker.WaitFor(`logs() === "grant 0"`)
	p.Eval(`addEventListener("pageshow", e => back = e.persisted)`)
	p.Navigate(url + "/in/next")
	p.Back()
	if is := p.Eval("back"); is != "true" {
		t.Fatalf("the page was loaded anew: %s", is)
	}
	var log string
	r.worker.Into(`new Promise(done => setTimeout(() => done(logs()), 500))`, &log)
	if clicked := p.Eval("clicked"); log != "grant 0" || clicked != "false" {
		t.Errorf("it said %s, and clicked: %s", log, clicked)
	}
}

// A page may change everything in its own world: each step still does and reads what the pack says, and reports
// that.
func TestStepsInHostilePages(t *testing.T) {
	t.Parallel()
	clobbered := ""
	for _, name := range []string{"getAttribute", "submit", "elements", "id", "action", "method", "ownerDocument", "parentNode", "matches", "closest", "localName", "isConnected", "getClientRects", "nodeType", "querySelectorAll", "requestSubmit", "attributes", "firstChild", "dispatchEvent", "children", "target"} {
		clobbered += `<input type=hidden name=` + name + `>`
	}
	named := `<script>document.cookie = "k=v; path=/"</script>`
	for _, name := range []string{"defaultView", "elementFromPoint", "createElement", "baseURI", "execCommand", "getSelection", "cookie", "documentElement", "querySelectorAll", "location", "body"} {
		named += `<form name=` + name + `></form><img hidden name=` + name + ` id=` + name + `>`
	}
	runRows(t, []row{
		{"a form whose fields are called like its members", `<form onsubmit="event.preventDefault(); sent = new FormData(this).get('q')" action=/in/next><label>Find <input name=q></label>` + clobbered + `<button name=click>Go</button></form>`,
			`[{"fill": {"fields": [{"target": {"label": "Find", "in": {"selector": "form"}}, "value": "x"}]}}, {"click": {"target": {"role": "button", "name": "Go"}}}]`, "", "null", `sent === "x"`, `yes: clicked button "Go"`},
		{"elements that are called like members of the document", strings.ReplaceAll(clobbered, "<input type=hidden", "<img hidden") + named + `<label>Find <input id=q></label><div contenteditable role=textbox aria-label=Text id=w>old</div><button onclick="clicked = true">Go</button><script>clicked = false</script>`,
			`[{"fill": {"fields": [{"target": {"label": "Find"}, "value": "x"}, {"target": {"label": "Text"}, "value": "y"}]}}, {"click": {"target": {"role": "button", "name": "Go"}}}, {"request": {"path": "/in/api/echo", "token": {"cookie": "k", "header": "X-CSRF-Token"}, "take": "token"}}]`, "", `"v"`, `q.value === "x" && w.textContent === "y" && clicked`, `yes: clicked button "Go"`},
		{"such a form that leads out", `<form action=/outside><label>Find <input name=q></label>` + clobbered + `</form>`, `[{"press": {"target": {"label": "Find"}, "key": "Enter"}}]`, "", `0 STEP_REFUSED: `, `location.pathname.startsWith("/in/")`, "no: "},
		{"prototypes of the page's world", `<button onclick="clicked = true">Order</button><b>12</b><script>
			for (const proto of [Element.prototype, Node.prototype, HTMLElement.prototype, Document.prototype, EventTarget.prototype]) for (const key of Object.getOwnPropertyNames(proto))
				if (!["addEventListener", "constructor", "dispatchEvent"].includes(key)) try { Object.defineProperty(proto, key, {get() { return () => "forged" }, set() {}}) } catch {}
			Object.prototype.code = "forged"; Array.prototype.map = Array.prototype.filter = JSON.stringify = JSON.parse = () => "forged"; RegExp.prototype.test = () => true; String.prototype.replace = () => "forged"; Object.prototype.label = "forged";</script>`,
			`[{"click": {"target": {"role": "button", "name": "Order"}}}, {"read": {"fields": {"v": {"target": {"selector": "b"}, "give": "number"}}}}]`, "", `{"v":12}`, `clicked`, `yes: clicked button "Order"`},
		{"a button that becomes another while it is pressed", `<button onmousedown="textContent = 'Delete account'" onclick="clicked = true">Order</button><script>clicked = false</script>`,
			`[{"click": {"target": {"role": "button", "name": "Order"}}}]`, "", `0 STEP_REFUSED: button "Order" has become button "Delete account" while it was pressed`, `!clicked`, "perhaps: "},
		{"a link that leads elsewhere once it is pressed", `<a href=/in/next onpointerdown="this.href = '/outside'">Next</a>`, `[{"click": {"target": {"role": "link"}}}]`, "", `0 STEP_REFUSED: link "Next" leads to http`, `location.pathname.startsWith("/in/")`, "perhaps: "},
		{"a link that leads elsewhere once it is clicked", `<a href=/in/next onclick="this.href = '/outside'">Next</a>`, `[{"click": {"target": {"role": "link"}}}]`, "", `0 STEP_REFUSED: the step led to http`, `location.pathname.startsWith("/in/")`, "yes: "},
		{"a button that goes while it is pressed", `<button onpointerdown="this.remove()">Order</button>`, `[{"click": {"target": {"role": "button"}}}]`, "", `0 STEP_REFUSED: button "Order" is gone while it was pressed`, "", "perhaps: "},
		{"something that moves over it in time", `<button onclick="clicked = true">Order</button><div id=o style="position:fixed;inset:0;display:none">Ad</div><script>clicked = false; new MutationObserver(() => 0); setInterval(() => o.style.display = "block", 0)</script>`,
			`[{"wait": {"for": {"selector": "#o"}}}, {"click": {"target": {"role": "button"}}, "timeout": 1}]`, "", `1 STEP_REFUSED: button "Order" is covered by div that shows "Ad"`, `!clicked`, "no: "},
		{"a name that is not what is shown", `<button aria-label=Order>Delete account</button>`, `[{"click": {"target": {"role": "button", "name": "Order"}}}]`, "", "null", "", `yes: clicked button "Order" that shows "Delete account"`},
		{"a word that may be broken", "<button>Waren\u00adkorb</button>", `[{"click": {"target": {"role": "button", "name": "Warenkorb"}}}]`, "", "null", "", `yes: clicked button "Warenkorb"`},
		{"a link to what is no address", `<a href="http://[">Out</a>`, `[{"click": {"target": {"role": "link"}}}]`, "", `0 STEP_REFUSED: link "Out" leads to http://[, which is no address`, "", "no: "},
		{"words that reverse what is around them", "<button>Order\u202e\u2066\u200b now</button>", `[{"click": {"target": {"role": "button"}}}]`, "", "null", "", `yes: clicked button "Order now"`},
		{"an element whose name looks like words about it", `<body><script>document.body.innerHTML = '<x-a"delete\u2003account"\u2028button\u202e onclick="clicked = true">Order</x-a>'</script>`, `[{"click": {"target": {"selector": "[onclick]"}}}]`, "", "null", `clicked`, `yes: clicked element that shows "Order"`},
		{"a base elsewhere", `<base href="http://other.example/"><form><label>Find <input></label></form><form action=in/next><button>Go</button></form>`, `[{"click": {"target": {"role": "button"}}}]`, "", `0 STEP_REFUSED: form without a name leads to http://other.example/in/next`, "", "no: "},
		{"a frame of the same site where the pack does not reach", `<iframe src="/elsewhere"></iframe>`, `[{"read": {"fields": {"v": {"target": {"selector": "h6"}}}, "list": {"selector": "h6"}}, "timeout": 1}]`, "", `0 STEP_NOT_FOUND: there is no "h6"`, `frames[0].document.querySelector("h6").textContent === "Of another page"`, ""},
		{"one that never rests", `<b id=a>0</b><script>setInterval(() => { for (let i = 0; i < 500; i++) a.textContent = i }, 0)</script>`, `[{"click": {"target": {"role": "button"}}, "timeout": 1}]`, "", `0 STEP_NOT_FOUND: there is no button`, "", "no: "},
		{"a selector that is more than one", `<p>a<p>b`, `[{"read": {"fields": {"v": {"target": {"selector": "p"}}}}, "timeout": 1}]`, "", `0 STEP_AMBIGUOUS: v: there are 2 of "p"`, "", ""},
		{"text that is only drawn", `<p>12<span style="display:none">99</span></p>`, `[{"read": {"fields": {"v": {"target": {"selector": "p"}, "give": "number"}}}}]`, "", `{"v":12}`, "", ""},
	})
}

// A tab that is not in front is acted in all the same: the person works in another one.
func TestStepsInTabBehind(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	url := stepsServer(t, map[string]string{"/in/": `<label>Name <input id=a></label> <div contenteditable role=textbox aria-label=Text id=b>old</div><div style="height:3000px"></div><button onclick="clicked = true">Order</button>`, "/in/next": ``})
	p := r.b.Open(url + "/in/")
	r.b.Open(url + "/in/next")
	if is := p.Eval("document.visibilityState"); is != `"hidden"` {
		t.Fatalf("the tab is %s", is)
	}
	got := r.run(url+"/in/", `[{"fill": {"fields": [{"target": {"label": "Name"}, "value": "Ann"}, {"target": {"label": "Text"}, "value": "new"}]}}, {"click": {"target": {"role": "button", "name": "Order"}}}]`, "", "", "")
	if is := p.Eval("a.value === 'Ann' && b.textContent === 'new' && clicked"); got.String() != "null" || is != "true" {
		t.Errorf("%s, %s\n%s", got, is, got.did())
	}
}

// What is found by role and name is what the browser's developer tools show for the element, which is where
// the author of a pack looks.
func TestNamesAreTheBrowsers(t *testing.T) {
	t.Parallel()
	elements := []string{
		`<button>Order <b>now</b></button>`, `<button aria-label=Order>x</button>`, `<button title=Order></button>`, `<button><img alt=Order src=x> it</button>`,
		`<button><span aria-hidden=true>x</span>Order<span hidden>y</span></button>`, `<button><div>a</div><div>b</div></button>`, `<input type=submit>`, `<input type=submit value=Go>`, `<input type=button value=Go>`,
		`<input type=image alt=Go src=x>`, `<a href=x>Link</a>`, `<a>no link</a>`, `<a href=x><img alt=Home src=x></a>`, `<a href=x aria-labelledby=l1>Link</a>`,
		`<input aria-label=Name>`, `<input placeholder=Name>`, `<input title=Name placeholder=Other>`, `<input id=i1>`, `<input id=i2>`, `<input type=search id=i3>`, `<input type=number id=i4>`, `<input type=checkbox id=i5>`,
		`<input type=radio aria-label=R>`, `<input type=range aria-label=R>`, `<input list=d aria-label=R>`, `<textarea aria-label=T>x</textarea>`, `<select aria-label=S><option>a</select>`, `<select multiple aria-label=S><option>a</select>`, `<select size=3 aria-label=S><option>a</select>`,
		`<h2>Head <em>line</em></h2>`, `<div role=heading>Head</div>`, `<div role=button>Press</div>`, `<div role="foo button">Press</div>`, `<div role=img aria-label=Pic></div>`, `<img alt=Pic src=x>`, `<img src=x>`,
		`<nav aria-label=Main></nav>`, `<main>x</main>`, `<aside aria-label=A>x</aside>`, `<section aria-label=S>x</section>`, `<section>x</section>`, `<article>x</article>`, `<form aria-label=F></form>`, `<dialog open aria-label=D>x</dialog>`,
		`<fieldset><legend>Group</legend></fieldset>`, `<ul aria-label=L><li>x</ul>`, `<progress aria-label=P></progress>`, `<meter aria-label=M></meter>`, `<output aria-label=O>x</output>`, `<hr>`, `<figure><figcaption>Fig</figcaption></figure>`,
		`<div role=tab>Tab</div>`, `<div role=menuitem>Item</div>`, `<div role=switch aria-checked=true>On</div>`, `<div role=none>x</div>`, `<button role=none>x</button>`, `<div contenteditable role=textbox aria-label=E>x</div>`, `<strong>x</strong>`, `<em>x</em>`, `<code>x</code>`, `<time>x</time>`, `<search aria-label=S>x</search>`,
		`<table aria-label=T><tr><th>x<tr><td>x</table>`, `<table><caption>Cap</caption><tr><td>x</table>`, `<div role=link aria-labelledby="l1 l2">x</div>`, `<details><summary>Sum</summary></details>`, `<blockquote>x</blockquote>`,
	}
	var page strings.Builder
	page.WriteString(`<title>x</title><span id=l1 hidden>Label one</span><span id=l2>two</span><label for=i1>First <i>name</i>:</label><label for=i2>A</label><label for=i2>B</label><label>Query <b>it</b> <!-- --></label><label for=i3>Query</label><label for=i4>Count</label><label for=i5>Gift</label><datalist id=d></datalist>`)
	for _, e := range elements {
		page.WriteString("<div class=e>" + e + "</div>")
	}
	b := chromium.Shared(t, chromium.Options{})
	p := b.Open(stepsServer(t, map[string]string{"/in/": page.String()}) + "/in/")
	p.Eval(tabtest.Module(t, "content/steps/find.ts", "find"))
	for i, e := range elements {
		at := fmt.Sprintf(`document.querySelectorAll(".e")[%d].firstElementChild`, i)
		role, name := p.Accessible(at)
		var ours struct{ Role, Name string }
		p.Into(fmt.Sprintf(`find.foundOf(%s)`, at), &ours)
		// The browser names what has no role in its own way, and what has one of two names by the later one.
		if known, ok := map[string]string{"none": "", "generic": "", "image": "img"}[role]; ok {
			role = known
		}
		if theirs := struct{ Role, Name string }{role, name}; theirs != ours {
			t.Errorf("%s is %+v, and the browser says %+v", e, ours, theirs)
		}
	}
}
