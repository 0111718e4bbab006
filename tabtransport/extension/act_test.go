package extension_test

import (
	"fmt"
	"image"
	"image/color"
	"net/url"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest"
	"tabhub/tabtransport/tabtest/chromium"
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
		{"a row that becomes another as it is pressed", `<ul><li><span id=s>Tea</span> <button onpointerdown="s.textContent = 'Coffee'" onclick="clicked = true">Remove</button><li>Milk</ul><script>clicked = false</script>`, on("click", "button", "Remove", ""), "", `0 STEP_REFUSED: button "Remove" in "Tea Remove" has become one in "Coffee Remove" while it was pressed`, `!clicked`, "perhaps: "},
		{"members of a document that a page has put over its own", `<img name=elementFromPoint><img name=defaultView><img name=execCommand><img name=getSelection><form name=body></form><label>Name <input id=a></label><div contenteditable role=textbox aria-label=Text id=g>old</div><button onclick="clicked = true">Order</button>`,
			`[{"fill": {"fields": [{"target": {"label": "Name"}, "value": "x"}, {"target": {"label": "Text"}, "value": "new"}]}}, {"click": {"target": {"role": "button", "name": "Order"}}}]`, "", "null", `clicked && a.value === "x" && g.textContent === "new"`, ""},
		{"a link to another tab", `<a href=/in/next target=_blank>Next</a>`, on("click", "link", "Next", ""), "", `0 NEEDS_TRUSTED_INPUT: link "Next" opens another tab, which browsers let only a person do; browser_tab new does it, with the address http://`, "", "no: "},
		{"a page that opens another tab itself", `<button onclick="window.open('/in/next')">Next</button>`, on("click", "button", "Next", ""), "", `0 NEEDS_TRUSTED_INPUT: the page wanted to open another tab, which browsers let it do only for a person; browser_tab new does it, with the address http://`, "", `yes: clicked button "Next"`},
		{"a file field", `<label>Photo <input type=file></label>`, `[{"click": {"target": {"label": "Photo"}}}]`, "", `0 NEEDS_TRUSTED_INPUT: browsers let only a person choose files; the step upload`, "", "no: "},
	})
}

// Keys do what they do under a hand, in fields, choices, dialogs and what scrolls.
func TestActsOfTheKeyboard(t *testing.T) {
	t.Parallel()
	press := func(key, role, name string) string { return on("press", role, name, fmt.Sprintf(`"key": %q`, key)) }
	typed := func(keys ...string) string {
		var all []string
		for _, key := range keys {
			all = append(all, fmt.Sprintf(`{"press": {"key": %q}}`, key))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	actRows(t, []row{
		{"the order of the events", logged + `<input aria-label=Name id=a><script>log("keydown", "keypress", "beforeinput", "input", "keyup")</script>`, press("x", "textbox", "Name"), "", "null", `seen.join() === "keydown,keypress,beforeinput,input,keyup" && a.value === "x"`, `yes: pressed x in textbox "Name"`},
		{"with others held", `<button onkeydown="k = [...(window.k ?? []), event.key + event.ctrlKey + event.shiftKey]">A</button>`, press("Control+Shift+k", "button", "A"), "", "null", `k.join() === "Controltruefalse,Shifttruetrue,Ktruetrue"`, ""},
		{"into what has the focus", `<input id=a autofocus value=bc><script>a.focus(); a.setSelectionRange(0, 0)</script>`, typed("a", "End", "d", "Backspace", "ArrowLeft", "Delete", "!", "Space"), "", "null", `a.value === "ab! "`, "yes: pressed Space in textbox"},
		{"all of it", `<textarea id=a autofocus>one\ntwo</textarea><script>a.focus()</script>`, typed("Control+A", "x", "Enter", "y"), "", "null", `a.value === "x\ny"`, ""},
		{"on the page", `<p>x</p><script>addEventListener("keydown", e => key = e.key)</script>`, typed("Escape"), "", "null", `key === "Escape"`, "yes: pressed Escape on the page"},
		{"to the next field, and back", `<input id=a autofocus><input disabled><input tabindex=-1><input id=b value=old><input id=c><script>a.focus()</script>`, typed("Tab", "x", "Tab", "y", "Shift+Tab", "z"), "", "null", `[b.value, c.value].join() === "z,y"`, ""},
		{"space on a checkbox", `<input type=checkbox aria-label=Gift id=a>`, press("Space", "checkbox", "Gift"), "", "null", `a.checked`, ""},
		{"arrows in a group", `<input type=radio name=r id=a checked aria-label=A><input type=radio name=r id=b>`, press("ArrowDown", "radio", "A"), "", "null", `b.checked && document.activeElement === b`, ""},
		{"arrows in a select", `<select aria-label=Size onchange="n = value"><option>S<option disabled>M<option>L</select>`, press("ArrowDown", "combobox", "Size"), "", "null", `n === "L"`, ""},
		{"arrows of a slider", `<input type=range aria-label=Loud min=0 max=10 step=2 value=4 oninput="n = value">`, press("ArrowRight", "slider", "Loud"), "", "null", `n === "6"`, ""},
		{"a page down", `<p>x</p><div style="height:5000px"></div>`, typed("PageDown"), "", "null", `scrollY > 300`, ""},
		{"out of a dialog", `<dialog id=d><button>Ok</button></dialog><script>d.showModal()</script>`, typed("Escape"), "", "null", `!d.open`, ""},
		{"out of a dialog that stays", `<dialog id=d oncancel="event.preventDefault()"><button>Ok</button></dialog><script>d.showModal()</script>`, typed("Escape"), "", "null", `d.open`, ""},
		{"bold", `<div contenteditable id=g role=textbox aria-label=Text>old</div>`, `[{"press": {"target": {"role": "textbox"}, "key": "Control+A"}}, {"press": {"key": "Control+b"}}]`, "", "null", `g.querySelector("b, span[style*=bold]") !== null`, ""},
		{"the clipboard", `<input aria-label=Name onkeydown="key = 1"><script>key = 0</script>`, press("Control+V", "textbox", "Name"), "", `0 NEEDS_TRUSTED_INPUT: browsers let only a person use the clipboard by Control+V`, `key === 0`, "no: "},
		{"no key", `<input aria-label=Name>`, press("Hyper+x", "textbox", "Name"), "", `0 STEP_REFUSED: there is no key "Hyper+x"`, "", "no: "},
		{"a letter into a password that has the focus", `<input type=password id=a autofocus><script>a.focus()</script>`, typed("x"), "", `0 STEP_REFUSED: field without a name is a password`, `a.value === ""`, "no: "},
		{"away from a password", `<input type=password id=a value=x autofocus><script>a.focus()</script>`, typed("Backspace"), "", `0 STEP_REFUSED: field without a name is a password`, `a.value === "x"`, "no: "},
	})
}

// What a page's own fields take is what a person would have put there.
func TestActsOnFields(t *testing.T) {
	t.Parallel()
	fill := func(role, name, value string) string {
		return fmt.Sprintf(`[{"fill": {"fields": [{"target": {"role": %q, "name": %q}, "value": %s}]}, "timeout": 2}]`, role, name, value)
	}
	const slider = `<div role=slider tabindex=0 aria-label=Loud aria-valuemin=0 aria-valuemax=20 aria-valuenow=3 id=a></div><script>a.onkeydown = e => setTimeout(() => a.ariaValueNow = Math.min(20, Math.max(0, +a.ariaValueNow + STEP * ({ArrowRight: 1, ArrowLeft: -1}[e.key] ?? 0))))</script><style>div { height: 20px }</style>`
	// An editor that keeps its own document, and draws that a moment after each edit.
	const editor = `<div contenteditable id=g role=textbox aria-label=Text><p>old</p></div><script>
		lines = ["old"]; whole = false
		draw = () => setTimeout(() => { g.replaceChildren(...lines.map(l => Object.assign(document.createElement("p"), {textContent: l || "\u200b"}))) })
		document.addEventListener("selectionchange", () => whole = getSelection().toString().trim() === lines.join("\n\n").trim())
		g.addEventListener("beforeinput", e => { e.preventDefault(); if (whole) lines = [""]; whole = false
			if (e.inputType === "insertText") lines[lines.length - 1] += e.data
			if (e.inputType === "insertParagraph") lines.push(""); draw() })</script>`
	actRows(t, []row{
		{"a field that its page controls", `<label>Name <input id=a></label><script>
			// As React does it: what is set is remembered, and an event that brings nothing new is none.
			const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value"); let last = ""; state = ""
			Object.defineProperty(a, "value", { get() { return own.get.call(this) }, set(v) { last = v; own.set.call(this, v) } })
			a.addEventListener("input", () => { const v = own.get.call(a); if (v !== last) { last = state = v; queueMicrotask(() => a.value = state) } })</script>`, fill("textbox", "Name", `"Ann"`), "", "null", `state === "Ann" && a.value === "Ann"`, ""},
		{"an editor of the browser's", `<div contenteditable id=g role=textbox aria-label=Text>old</div>`, fill("textbox", "Text", `"one\ntwo"`), "", "null", `g.innerText.replace(/\n+/g, "|") === "one|two"`, `set textbox "Text" to "one two"`},
		{"an editor with its own document", editor, fill("textbox", "Text", `"one\ntwo"`), "", "null", `lines.join("|") === "one|two"`, `set textbox "Text" to "one two"`},
		{"an editor that takes nothing", `<div contenteditable role=textbox aria-label=Text onbeforeinput="event.preventDefault()">old</div>`, fill("textbox", "Text", `"one"`), "", `0 NEEDS_TRUSTED_INPUT: textbox "Text" did not take what it was set to`, "", "perhaps: "},
		{"more than a slider has", `<label>Loud <input type=range max=20 step=5 id=a></label>`, fill("slider", "Loud", `"60"`), "", `0 STEP_REFUSED: slider "Loud" takes a number from 0 to 20, in steps of 5, not "60"`, `a.value === "10"`, ""},
		{"what a slider has", `<label>Loud <input type=range value=2 step=5 id=a></label>`, fill("slider", "Loud", `12`), "", "null", `a.value === "12"`, `set slider "Loud" to "12"`},
		{"a slider of the page's own", strings.ReplaceAll(slider, "STEP", "1"), fill("slider", "Loud", `12`), "", "null", `a.ariaValueNow === "12"`, `set slider "Loud" to 12`},
		{"one that goes by steps", strings.ReplaceAll(slider, "STEP", "5"), fill("slider", "Loud", `12`), "", "null", `a.ariaValueNow === "13"`, `set slider "Loud" to 12, which the page made 13`},
		{"one that does not go so far", strings.ReplaceAll(slider, "STEP", "1"), fill("slider", "Loud", `30`), "", `0 STEP_REFUSED: slider "Loud" goes from 0 to 20`, "", "no: "},
		{"one that takes no keys", strings.ReplaceAll(slider, "STEP", "0"), fill("slider", "Loud", `12`), "", `0 NEEDS_TRUSTED_INPUT: slider "Loud" did not take`, "", "perhaps: "},
		{"a checkbox, by a text", `<label><input type=checkbox id=a>Gift</label>`, fill("checkbox", "Gift", `"true"`), "", "null", `a.checked`, `set checkbox "Gift" to true`},
		{"a slider, a color and a time of the browser's", `<input type=range aria-label=R id=a max=10><input type=color aria-label=C id=b><input type=time aria-label=T id=c>`,
			`[{"fill": {"fields": [{"target": {"label": "R"}, "value": 7}, {"target": {"label": "C"}, "value": "#ff0000"}, {"target": {"label": "T"}, "value": "14:30"}]}}]`, "", "null", `[a.value, b.value, c.value].join() === "7,#ff0000,14:30"`, ""},
	})
}

// An option is chosen by its label in any list that says by roles what it is; where it cannot be sure, it says so.
func TestActsOnLists(t *testing.T) {
	t.Parallel()
	choose := func(role, name string, labels ...string) string {
		return on("select", role, name, fmt.Sprintf(`"options": ["%s"]`, strings.Join(labels, `", "`)))
	}
	const options = `["Apple", "Pear", "Plum"].map(n => "<li role=option>" + n).join("")`
	actRows(t, []row{
		{"of the browser", `<select aria-label=Size id=a onchange="n = value"><option>S<option>L</select>`, choose("combobox", "Size", "L"), "", "null", `n === "L"`, `set combobox "Size" to "L"`},
		{"several of the browser's", `<select multiple aria-label=Sizes id=a><option>S<option selected>M<option>L</select>`, choose("listbox", "Sizes", "S", "L"), "", "null", `[...a.selectedOptions].map(o => o.value).join() === "S,L"`, `set listbox "Sizes" to "S", "L"`},
		{"a button with a list", `<button role=combobox aria-label=Fruit aria-controls=l aria-expanded=false id=b onclick="setTimeout(() => { l.hidden = false; b.ariaExpanded = true })">None</button><ul id=l role=listbox hidden></ul><script>l.innerHTML = ` + options + `; l.onclick = e => { b.textContent = e.target.textContent; l.hidden = true; b.ariaExpanded = false }</script>`,
			choose("combobox", "Fruit", "Pear"), "", "null", `b.textContent === "Pear" && l.hidden`, `to "Pear"`},
		{"a list that is put at the end of the page as it is pressed", `<button aria-haspopup=listbox id=b>Fruit</button><script>b.onpointerdown = () => { const l = document.createElement("ul"); l.setAttribute("role", "listbox"); l.innerHTML = ` + options + `; b.ariaExpanded = true; l.onpointerup = e => { picked = e.target.textContent; b.textContent = "Fruit: " + picked; l.remove() }; document.body.append(l) }</script>`,
			choose("button", "Fruit", "Plum"), "", "null", `picked === "Plum"`, ""},
		{"a field that offers what fits", `<label>City <input role=combobox aria-controls=l aria-expanded=false id=a></label><ul id=l role=listbox hidden></ul><script>
			a.oninput = () => setTimeout(() => { l.innerHTML = ["Paris, France", "Paris, Texas"].filter(n => n.startsWith(a.value)).map(n => "<li role=option>" + n).join(""); l.hidden = false }, 50)
			a.onclick = a.oninput; l.onmousedown = e => { a.value = e.target.textContent; l.hidden = true }</script>`, choose("combobox", "City", "Paris, Texas"), "", "null", `a.value === "Paris, Texas"`, ""},
		{"several of a list", `<ul role=listbox aria-multiselectable=true aria-label=Fruits id=l></ul><script>l.innerHTML = ` + options + `; l.children[2].ariaSelected = true; l.onclick = e => e.target.ariaSelected = e.target.ariaSelected !== "true"</script>`, choose("listbox", "Fruits", "Apple", "Pear"), "", "null", `[...l.children].map(o => o.ariaSelected).join() === "true,true,false"`, ""},
		{"a long list that draws what is in view", `<button role=combobox aria-label=Number aria-controls=l id=b>-</button><div id=l role=listbox hidden style="height:100px;overflow:auto"><div id=i style="height:4000px;position:relative"></div></div><script>
			const draw = () => { i.innerHTML = ""; const first = Math.floor(l.scrollTop / 20); for (let n = first; n < first + 6; n++) i.innerHTML += "<div role=option style='position:absolute;height:20px;top:" + n * 20 + "px'>Number " + n + "</div>" }
			b.onclick = () => { l.hidden = false; draw() }; l.onscroll = draw; l.onclick = e => { b.textContent = e.target.textContent; l.hidden = true }</script>`, choose("combobox", "Number", "Number 42"), "", "null", `b.textContent === "Number 42"`, ""},
		{"no such option", `<button role=combobox aria-label=Fruit aria-controls=l id=b onclick="l.hidden = false">None</button><ul id=l role=listbox hidden></ul><script>l.innerHTML = ` + options + `</script>`, choose("combobox", "Fruit", "Kiwi"), "", `0 STEP_NOT_FOUND: combobox "Fruit" has no option "Kiwi" [option "Apple"; option "Pear"; option "Plum"]`, "", "perhaps: "},
		{"two such options", `<ul role=listbox aria-label=L><li role=option>A<li role=option>A</ul>`, choose("listbox", "L", "A"), "", `0 STEP_AMBIGUOUS: listbox "L" has 2 options "A"`, "", ""},
		{"a list that does not show what was chosen", `<ul role=listbox aria-label=L aria-multiselectable=true><li role=option>A</ul>`, choose("listbox", "L", "A"), "", "null", "", `to "A", which the page does not show as chosen`},
		{"no list", `<button>Fruit</button>`, choose("button", "Fruit", "Pear"), "", `0 STEP_REFUSED: button "Fruit" is no list of options; click it`, "", "no: "},
	})
}

// Scrolling shows where it has come to, and what has come there.
func TestActsOfScrolling(t *testing.T) {
	t.Parallel()
	const endless = `<div id=l style="height:200px;overflow:auto" role=list aria-label=Orders></div><script>add = () => { for (let i = 0; i < 20; i++) l.innerHTML += "<div role=listitem style='height:20px'>x</div>" }; add(); l.onscroll = () => { if (l.scrollTop + 201 > l.scrollHeight && l.children.length < 60) setTimeout(add, 100) }</script>`
	actRows(t, []row{
		{"to an element", `<div style="height:5000px"></div><p role=note aria-label=End id=e>x</p>`, `[{"scroll": {"target": {"role": "note"}}}]`, "", "null", `e.getBoundingClientRect().bottom <= innerHeight`, `yes: scrolled to note "End"`},
		{"the page", `<div style="height:5000px"></div>`, `[{"scroll": {"pages": 2}}]`, "", "null", `scrollY === 2 * innerHeight`, `yes: scrolled the page down: it is at `},
		{"up at its beginning", `<div style="height:5000px"></div>`, `[{"scroll": {"pages": -1}}]`, "", "null", "", `yes: could not scroll the page up: it is at its beginning`},
		{"a part of the page", endless, `[{"scroll": {"target": {"role": "list", "name": "Orders"}, "pages": 0.5}}]`, "", "null", `l.scrollTop === 100`, `yes: scrolled list "Orders" down: it is at 75 %`},
		{"a list that goes on", endless, `[{"scroll": {"target": {"role": "list", "name": "Orders"}, "pages": 5}}]`, "", "null", `l.children.length === 40`, `, and more has come below`},
		{"a page whose body does not scroll", `<style>html, body { height: 100%; margin: 0; overflow: hidden }</style><main id=m style="height:100%;overflow:auto"><div style="height:5000px"></div></main>`, `[{"scroll": {"pages": 1}}]`, "", "null", `m.scrollTop === m.clientHeight`, `yes: scrolled main `},
	})

	r := newActor(t)
	site := stepsServer(t, map[string]string{"/in/behind": `<div style="height:5000px"></div>`, "/in/front": "front"})
	p := r.b.Open(site + "/in/behind")
	t.Cleanup(p.Close)
	t.Cleanup(r.b.Open(site + "/in/front").Close)
	if got := r.act(site+"/in/behind", `[{"scroll": {"pages": 20}}]`).did(); !strings.Contains(got, "it is at its end; while its tab is behind, a page may add no more") {
		t.Error(got)
	}
}

// What is dragged gets to where it was to, with the mouse or as the browser drags.
func TestActsOfDragging(t *testing.T) {
	t.Parallel()
	drag := func(from, to string) string {
		return fmt.Sprintf(`[{"drag": {"target": {"selector": %q}, "to": {"selector": %q}}, "timeout": 3}]`, from, to)
	}
	const items = `<style>li { height: 30px; width: 200px }</style><ul id=l><li id=a>A<li id=b>B<li id=c>C<li id=d>D</ul><script>order = () => [...l.children].map(i => i.id).join("")</script>`
	actRows(t, []row{
		{"a list that listens to pointers", items + `<script>
			let held; l.onpointerdown = e => { held = e.target.closest("li"); held.style.pointerEvents = "none" }
			document.onpointermove = e => { if (!held) return; const o = document.elementFromPoint(e.clientX, e.clientY)?.closest("li"); if (!o || o === held) return; const r = o.getBoundingClientRect(); e.clientY > r.top + r.height / 2 ? o.after(held) : o.before(held) }
			document.onpointerup = () => { if (held) held.style.pointerEvents = ""; held = undefined }</script>`, drag("#a", "#c"), "", "null", `order() === "bcad"`, `yes: dragged listitem "A" to listitem "C"`},
		{"upwards", items + `<script>
			let held; l.onmousedown = e => held = e.target
			onmousemove = e => { if (!held || !e.buttons) return; held.style.transform = "translateY(" + (e.clientY - held.offsetTop - 15) + "px)" }
			onmouseup = e => { if (!held) return; held.style.transform = ""; const after = [...l.children].filter(i => i !== held && i.getBoundingClientRect().top + 15 < e.clientY).at(-1); after ? after.after(held) : l.prepend(held); held = undefined }</script>`, drag("#d", "#b"), "", "null", `order() === "adbc"`, ""},
		{"as the browser drags", items + `<div id=bin style="height:50px" aria-label=Bin>Bin</div><script>for (const i of l.children) { i.draggable = true; i.ondragstart = e => e.dataTransfer.setData("text/plain", i.id)}
			bin.ondragover = e => e.preventDefault(); bin.ondrop = e => { e.preventDefault(); document.getElementById(e.dataTransfer.getData("text/plain")).remove() }</script>`, drag("#b", "#bin"), "", "null", `order() === "acd"`, ""},
		{"what is made draggable as it is pressed", items + `<script>
			let held; l.onpointerdown = e => e.target.draggable = true; l.ondragstart = e => { held = e.target; e.dataTransfer.effectAllowed = "move" }
			l.ondragover = e => { e.preventDefault(); if (e.target !== held && e.target !== l) e.target.after(held) }; l.ondragend = () => held.draggable = false</script>`, drag("#a", "#c"), "", "null", `order() === "bcad" && !a.draggable`, ""},
		{"where it is not taken", items + `<script>a.draggable = true; a.ondragend = () => ended = true</script>`, drag("#a", "#c"), "", `0 STEP_REFUSED: listitem "C" does not take what was dragged there`, `ended && order() === "abcd"`, "perhaps: "},
		{"far down", items + `<div style="height:4000px"></div><div id=bin style="height:50px">Bin</div><script>a.draggable = true; bin.ondragover = e => e.preventDefault(); bin.ondrop = e => dropped = true</script>`, drag("#a", "#bin"), "", "null", `dropped`, ""},
		{"a slider", `<div id=t style="width:300px;height:20px;position:relative;background:#ddd"><div id=k role=slider aria-label=Loud aria-valuenow=0 style="position:absolute;width:20px;height:20px;background:#000"></div><i id=e style="position:absolute;left:200px;width:20px;height:20px"></i></div><script>
			let on; k.onpointerdown = e => { on = true; k.setPointerCapture(e.pointerId) }; k.onpointermove = e => { if (on) { const x = e.clientX - t.getBoundingClientRect().left - 10; k.style.left = x + "px"; k.ariaValueNow = Math.round(x) } }; k.onpointerup = () => on = false</script>`, drag("#k", "#e"), "", "null", `k.ariaValueNow >= 195 && k.ariaValueNow <= 210`, ""},
		{"a slider that keeps the mouse to itself", `<div id=k role=slider aria-label=Loud aria-valuenow=0 style="width:20px;height:20px;background:#000"></div><i id=e style="position:absolute;left:300px;top:300px;width:20px;height:20px;background:red"></i><script>
			k.onpointerdown = e => k.setPointerCapture(e.pointerId); k.onpointermove = e => { if (k.hasPointerCapture(e.pointerId)) k.ariaValueNow = e.clientX }; k.onpointerup = e => { up = k.hasPointerCapture(e.pointerId); k.releasePointerCapture(e.pointerId) }; k.onlostpointercapture = () => lost = true</script>`, drag("#k", "#e"), "", "null", `k.ariaValueNow > 300 && up && /native/.test(k.setPointerCapture)`, ""},
		{"what goes on the way", items + `<script>l.onpointerdown = () => c.remove()</script>`, drag("#a", "#c"), "", `0 STEP_REFUSED: listitem "C" is gone while it was dragged`, "", "perhaps: "},
	})
}

// Files come to the page as if a person had chosen or dropped them.
func TestActsWithFiles(t *testing.T) {
	t.Parallel()
	upload := func(target, files string) string {
		return `[{"upload": {"target": ` + target + `, "files": [` + files + `]}, "timeout": 2}]`
	}
	const a, b = `{"name": "a.txt", "mimeType": "text/plain", "data": "aGVsbG8="}`, `{"name": "b.txt", "data": "YQ=="}`
	actRows(t, []row{
		{"a field", `<label>Photo <input type=file id=f onchange="f.files[0].text().then(t => text = f.files[0].name + t + f.files[0].type)"></label>`, upload(`{"label": "Photo"}`, a), "", "null", `text === "a.txthellotext/plain"`, `yes: put "a.txt" into field "Photo"`},
		{"a label of a hidden field", `<label role=button>Choose<input type=file id=f hidden></label>`, upload(`{"role": "button"}`, a), "", "null", `f.files.length === 1`, `into field "Choose" of button "Choose"`},
		{"a button near a hidden field", `<div><input type=file id=f style="display:none" aria-label=Photo><div><button>Choose</button></div></div>`, upload(`{"role": "button"}`, a), "", "null", `f.files.length === 1`, `into field "Photo" of button "Choose"`},
		{"two into one", `<label>Photo <input type=file id=f></label>`, upload(`{"label": "Photo"}`, a+","+b), "", `0 STEP_REFUSED: field "Photo" takes one file, not 2`, `f.files.length === 0`, "no: "},
		{"two", `<label>Photo <input type=file id=f multiple></label>`, upload(`{"label": "Photo"}`, a+","+b), "", "null", `f.files.length === 2`, ""},
		{"dropped", `<div id=z role=region aria-label=Drop style="height:50px" ondragover="event.preventDefault()" ondrop="event.preventDefault(); got = event.dataTransfer.files[0].name + event.dataTransfer.types">x</div>`, upload(`{"role": "region"}`, a), "", "null", `got === "a.txtFiles"`, `yes: dropped "a.txt" onto region "Drop"`},
		{"dropped where nothing is taken", `<div role=region aria-label=Drop style="height:50px" ondrop="got = true">x</div><script>got = false</script>`, upload(`{"role": "region"}`, a), "", `0 STEP_REFUSED: region "Drop" takes no files`, `!got`, "no: "},
		{"a button that opens a field elsewhere", `<div><div><div><div><div><button onclick="setTimeout(() => f.click(), 50)">Choose</button></div></div></div></div></div><p><input type=file id=f hidden aria-label=CV><input type=file id=g hidden>`, upload(`{"role": "button"}`, a), "", "null", `f.files.length === 1 && !g.files.length`, `yes: put "a.txt" into field "CV" of button "Choose"`},
		{"a click on such a button", `<button onclick="f.click()">Choose</button><input type=file id=f hidden aria-label=CV>`, on("click", "button", "Choose", ""), "", `0 NEEDS_TRUSTED_INPUT: the page wanted to have files chosen for field "CV", which browsers let it do only for a person; upload does it`, "", `yes: clicked button "Choose"`},
		{"a button without a field", `<button>Choose</button>`, upload(`{"role": "button"}`, a), "", `0 STEP_NOT_FOUND: button "Choose" opened no file field when it was clicked`, "", "perhaps: "},
	})
}

// A dialog does not stop a page: it is answered as the client has said, or so that nothing comes of it.
func TestActsAnswerDialogs(t *testing.T) {
	t.Parallel()
	ask := on("click", "button", "Delete", "")
	after := func(dialog string) string { return "[" + dialog + ", " + ask[1:] }
	const del = `<button onclick="got = confirm('Delete 3 items?')">Delete</button>`
	actRows(t, []row{
		{"a question", del, ask, "", "null", `got === false && /native code/.test(confirm)`, `yes: clicked button "Delete"; the page asked "Delete 3 items?" and got Cancel; to answer otherwise, say dialog before it`},
		{"a question with an answer", del, after(`{"dialog": {"accept": true}}`), "", "null", `got === true`, `yes: clicked button "Delete"; the page asked "Delete 3 items?" and got OK`},
		{"one answer is for one question", `<button onclick="got = [confirm('Delete?'), confirm('Really?')]">Delete</button>`, after(`{"dialog": {"accept": true}}`), "", "null", `got.join() === "true,false"`, `; the page asked "Delete?" and got OK; the page asked "Really?" and got Cancel; to`},
		{"a text", `<button onclick="got = prompt('Name?', 'old')">Delete</button>`, after(`{"dialog": {"accept": true, "text": "Ann"}}`), "", "null", `got === "Ann"`, `; the page asked for a text, "Name?", and got "Ann"`},
		{"no text", `<button onclick="got = prompt('Name?')">Delete</button>`, ask, "", "null", `got === null`, `; the page asked for a text, "Name?", and got Cancel`},
		{"a message, a moment later", `<button onclick="setTimeout(() => { alert('Saved\nclicked button “All”'); got = 1 }, 30)">Delete</button>`, ask, "", "null", `got === 1`, `yes: clicked button "Delete"; the page said "Saved clicked button “All”"`},
		{"in a frame", `<iframe srcdoc="<button onclick='parent.got = confirm(1)'>Delete</button>"></iframe>`, ask, "", "null", `got === false`, `; the page asked "1" and got Cancel`},
		{"of the page's own", `<script>confirm = () => "mine"</script>` + del, ask, "", "null", `got === "mine" && confirm() === "mine"`, `yes: clicked button "Delete"`},
		{"what a page keeps of it", `<button onclick="kept = confirm; got = confirm('x')">Delete</button>`, ask, "", "null", `kept !== confirm`, ""},
		{"a page that prints", `<button onclick="print()">Delete</button>`, ask, "", "null", "", "; the page wanted to print, and was not let"},
	})
}

// For a moment a page shows where a step has acted; no picture that a client gets does, and no page whose owner does
// not want it.
func TestRing(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, map[string]string{"/": `<!doctype html><meta name=color-scheme content="light dark"><title>Shop</title><style>body { font: 16px sans-serif; padding: 2em }</style><h1>Shop</h1>
		<p><label>Name <input></label> <button>Order</button> <a href="#x">Terms</a></p><dialog id=d style="width:300px;height:120px"><button>Confirm</button></dialog>
		<script>rings = 0; new MutationObserver(all => { for (const {addedNodes: [node]} of all) if (node?.popover === "manual") rings++ }).observe(document.documentElement, {childList: true})</script>`})
	p := b.Open(url)
	p.Front()
	tab := front(b)
	click := func(name string) {
		t.Helper()
		req := &spec.Run{FrameID: new(int64), Origin: url}
		if got := h.runAs(t.Context(), tab, req, fmt.Sprintf(`{"click": {"target": {"role": "button", "name": %q}}}`, name), tabtransport.Wait{Timeout: chromium.Timeout}); got != "null [click yes]" {
			t.Error(got)
		}
	}
	blue := color.RGBA{R: 0x1f, G: 0x5f, B: 0xbf, A: 255}
	isBlue := func(img image.Image) bool {
		for x := range img.Bounds().Dx() {
			if times, _, _ := bands(img, x, blue); times > 0 {
				return true
			}
		}
		return false
	}
	for _, dark := range []bool{false, true} {
		p.Dark(dark)
		click("Order")
		picture(t, p, fmt.Sprintf("ring-dark-%v", dark))
	}
	click("Order")
	if img, _ := h.shot(tab, "ring-of-client", &spec.Screenshot{}); isBlue(img) {
		t.Error("a client's picture shows the ring")
	}
	p.Eval("d.showModal()")
	click("Confirm")
	picture(t, p, "ring-in-dialog")
	p.WaitFor(`document.documentElement.children.length === 2`)
	if got := p.Eval("rings"); got != "4" {
		t.Errorf("%s rings, want 4", got)
	}
	settings := b.Open("chrome-extension://" + b.ExtensionID + "/options.html")
	settings.Click("#mark input")
	b.Worker().WaitFor(`chrome.storage.local.get("settings").then(({settings}) => settings?.mark === false)`)
	click("Confirm")
	if got := p.Eval("rings"); got != "4" {
		t.Errorf("%s rings without the mark, want 4", got)
	}
}
