package extension_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest"
)

// newActor is a runner of clients' own steps, whose pages' dialogs are answered.
func newActor(t testing.TB) *runner {
	t.Helper()
	r := newRunner(t)
	r.worker.Eval("void (globalThis.dialogs = (() => {" + tabtest.Bundle(t, "worker/dialogs.ts", "--global-name=dialogs") + "return dialogs})())")
	return r
}

// act runs a client's own steps in the page at an address.
func (r *runner) act(at, steps string) ran {
	r.t.Helper()
	r.runs++
	u, err := url.Parse(at)
	if err != nil {
		r.t.Fatal(err)
	}
	begin := fmt.Sprintf(`{"url": %q, "run": {"id": "a%d", "steps": %s, "args": {}, "match": [], "origins": [%q], "mark": true}}`, at, r.runs, steps, u.Scheme+"://"+u.Host)
	var got ran
	r.worker.Into("start("+begin+")", &got)
	return got
}

// actRows runs a client's own steps, each row in a page of its own; steps are as in row.
func actRows(t *testing.T, rows []row) {
	r := newActor(t)
	pages := map[string]string{"/in/next": `<title>Next</title><h1>Thanks</h1>`}
	for i, row := range rows {
		pages[fmt.Sprintf("/in/%d", i)] = row.page
	}
	site := stepsServer(t, pages)
	for i, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			at := fmt.Sprintf("%s/in/%d", site, i)
			p := r.b.Open(at)
			defer p.Close()
			got := r.act(at, row.steps)
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

// on is a step of a verb with a target by role and name, and more members.
func on(verb, role, name, more string) string {
	if more != "" {
		more = ", " + more
	}
	return fmt.Sprintf(`[{%q: {"target": {"role": %q, "name": %q}%s}, "timeout": 2}]`, verb, role, name, more)
}

const logged = `<script>seen = []; log = (...types) => types.forEach(t => addEventListener(t, e => seen.push(t + (e.detail > 1 ? e.detail : "")), true))</script>`

// What the mouse does has the events of a hand, and what an element becomes under it gets no click.
func TestActsOfTheMouse(t *testing.T) {
	t.Parallel()
	actRows(t, []row{
		{"a double click", logged + `<button onclick="n = (window.n ?? 0) + 1">Open</button><script>log("mousedown", "mouseup", "click", "dblclick")</script>`, on("click", "button", "Open", `"count": 2`), "", "null",
			`n === 2 && seen.join() === "mousedown,mouseup,click,mousedown2,mouseup2,click2,dblclick2"`, `yes: double-clicked button "Open"`},
		{"a double click on what changes with the first", `<button id=b onclick="textContent = 'Really delete'">Delete</button>`, on("click", "button", "Delete", `"count": 2`), "", `0 STEP_REFUSED: button "Delete" has become button "Really delete" after it was clicked once`, "", "perhaps: "},
		{"the menu of a page", logged + `<button oncontextmenu="event.preventDefault(); menu = event.button">Row</button><script>log("click", "contextmenu", "auxclick")</script>`, on("click", "button", "Row", `"button": "right"`), "", "null",
			`menu === 2 && seen.join() === "auxclick,contextmenu"`, `yes: right-clicked button "Row"`},
		{"no menu of the page", `<button>Row</button>`, on("click", "button", "Row", `"button": "right"`), "", "null", "", "; the page has no menu of its own for that"},
		{"a menu that shows under the mouse", `<div onmouseenter="b.hidden = false" onmouseleave="b.hidden = true"><button>Menu</button><button id=b hidden onclick="clicked = true">Item</button></div>`,
			`[{"hover": {"target": {"role": "button", "name": "Menu"}}}, {"click": {"target": {"role": "button", "name": "Item"}}}]`, "", "null", `clicked && !b.hidden`, `yes: moved the mouse over button "Menu"`},
		{"what the mouse has left hears of it", `<button id=a onmouseleave="left = (window.left ?? 0) + 1">A</button><button onmouseover="over = event.relatedTarget">B</button>`,
			`[{"hover": {"target": {"role": "button", "name": "A"}}}, {"hover": {"target": {"role": "button", "name": "B"}}}]`, "", "null", `left === 1 && over === a`, ""},
		{"a list that opens as it is pressed, over what opened it", `<button aria-expanded=false onpointerdown="setAttribute('aria-expanded', 'true'); l.hidden = false" onclick="clicked = true">Size</button><div id=l role=listbox aria-label=Sizes hidden style="position:fixed;inset:0;background:#fff">S</div><script>clicked = false</script>`,
			on("click", "button", "Size", ""), "", "null", `!clicked && !l.hidden`, `yes: pressed button "Size", which opened it`},
		{"what comes over it as it is pressed", `<button onpointerdown="d.hidden = false" onclick="clicked = true">Order</button><div id=d role=dialog aria-label=Pay hidden style="position:fixed;inset:0"><button onclick="paid = true">Pay</button></div><script>clicked = paid = false</script>`,
			on("click", "button", "Order", ""), "", `0 STEP_REFUSED: button "Order" was moved, or is covered by button "Pay" while it was pressed`, `!clicked && !paid`, "perhaps: "},
		{"what moves away as it is pressed", `<button id=b onpointerdown="style.marginLeft = '500px'" onclick="clicked = true">Order</button><script>clicked = false</script>`, on("click", "button", "Order", ""), "", `0 STEP_REFUSED: button "Order" was moved`, `!clicked`, "perhaps: "},
		{"what shrinks as it is pressed", `<button onpointerdown="style.cssText = 'width:0;height:0;padding:0;border:0;overflow:hidden'" onclick="clicked = true">Order</button><script>clicked = false</script>`, on("click", "button", "Order", ""), "", `0 STEP_REFUSED: button "Order" `, `!clicked`, "perhaps: "},
		{"what goes as it is pressed", `<button onpointerdown="this.remove()" onclick="clicked = true">Order</button><script>clicked = false</script>`, on("click", "button", "Order", ""), "", `0 STEP_REFUSED: button "Order" is gone while it was pressed`, `!clicked`, "perhaps: "},
		{"what becomes another as it is pressed", `<button onpointerdown="textContent = 'Delete all'" onclick="clicked = true">Order</button><script>clicked = false</script>`, on("click", "button", "Order", ""), "", `0 STEP_REFUSED: button "Order" has become button "Delete all"`, `!clicked`, "perhaps: "},
		{"members of a document that a page has put over its own", `<img name=elementFromPoint><img name=defaultView><img name=execCommand><img name=getSelection><form name=body></form><label>Name <input id=a></label><div contenteditable role=textbox aria-label=Text id=g>old</div><button onclick="clicked = true">Order</button>`,
			`[{"fill": {"fields": [{"target": {"label": "Name"}, "value": "x"}, {"target": {"label": "Text"}, "value": "new"}]}}, {"click": {"target": {"role": "button", "name": "Order"}}}]`, "", "null", `clicked && a.value === "x" && g.textContent === "new"`, ""},
		{"a link to another tab", `<a href=/in/next target=_blank>Next</a>`, on("click", "link", "Next", ""), "", `0 NEEDS_TRUSTED_INPUT: link "Next" opens another tab, which browsers let only a person do; browser_tab new does it, with the address http://`, "", "no: "},
		{"a page that opens another tab itself", `<button onclick="window.open('/in/next')">Next</button>`, on("click", "button", "Next", ""), "", `0 NEEDS_TRUSTED_INPUT: the page wanted to open another tab, which browsers let it do only for a person; browser_tab new does it, with the address http://`, "", `yes: clicked button "Next"`},
		{"a file field", `<label>Photo <input type=file></label>`, `[{"click": {"target": {"label": "Photo"}}}]`, "", `0 NEEDS_TRUSTED_INPUT: browsers let only a person choose files; the step upload`, "", "no: "},
	})
}
