package extension_test

import (
	"strings"
	"testing"
)

// However a page dresses it up, a step does not lead where the pack does not reach, not even in a frame, where
// nothing stops what has begun to leave.
func TestStepsLeadNowhereElse(t *testing.T) {
	t.Parallel()
	const (
		frame = `<iframe name=f></iframe>`
		slot  = `<script>customElements.define("x-l", class extends HTMLElement { constructor() { super(); this.attachShadow({mode: "MODE"}).innerHTML = "<a href=/outside target=f><slot></slot></a>"; } })</script>`
	)
	fill := func(role string) string {
		return `[{"fill": {"fields": [{"target": {"role": "` + role + `", "name": "Gift"}, "value": true}]}}]`
	}
	click := func(selector string) string { return `[{"click": {"target": {"selector": "` + selector + `"}}}]` }
	open, closed := strings.ReplaceAll(slot, "MODE", "open"), strings.ReplaceAll(slot, "MODE", "closed")
	runRows(t, []row{
		{"a checkbox that is a link", `<a role=checkbox href=/outside target=f>Gift</a>` + frame, fill("checkbox"), "", `0 STEP_REFUSED: checkbox "Gift" leads to http`, "", "no: "},
		{"a switch that submits", `<form action=/outside target=f><button role=switch aria-checked=false>Gift</button></form>` + frame, fill("switch"), "", `0 STEP_REFUSED: form without a name leads to http`, "", "no: "},
		{"the label of a button that submits", `<label for=s id=l>Go</label><form action=/outside target=f><button id=s>x</button></form>` + frame, click("#l"), "", `0 STEP_REFUSED: form without a name leads to http`, "", "no: "},
		{"what a component shows in a link", `<x-l><span id=s>Order</span></x-l>` + frame + open, click("#s"), "", `0 STEP_REFUSED: link "Order" leads to http`, "", "no: "},
		{"what a closed component shows in a link", `<x-l><span id=s>Order</span></x-l>` + frame + closed, click("#s"), "", `0 STEP_REFUSED: link "Order" leads to http`, "", "no: "},
		{"a link in a link", `<script>const [a, b] = [document.createElement("a"), document.createElement("a")]; a.href = "/outside"; a.target = "f"; b.id = "s"; b.append("Order"); a.append(b); document.documentElement.append(a)</script>` + frame, click("#s"), "", `0 STEP_REFUSED: link "Order" leads to http`, "", "no: "},
		{"a form that leads elsewhere once it is sent", `<form action=/in/next onsubmit="this.action = '/outside'"><button>Order</button></form>`, click("button"), "", `0 STEP_REFUSED: the step led to http`, `location.pathname.startsWith("/in/")`, "yes: "},
		{"an address that the page takes while it is pressed", `<button onpointerdown="history.pushState(0, '', '/elsewhere')" onclick="clicked = true">Order</button><script>clicked = false</script>`, click("button"), "", `0 STEP_REFUSED: button "Order" is by now on a page at http`, `!clicked`, "perhaps: "},
		{"an address that the page takes between two fields", `<label>A <input oninput="history.pushState(0, '', '/elsewhere')"></label><label>B <input id=b></label>`, `[{"fill": {"fields": [{"target": {"label": "A"}, "value": "x"}, {"target": {"label": "B"}, "value": "y"}]}}]`, "",
			`0 STEP_REFUSED: textbox "B" is by now on a page at http`, `b.value === ""`, `perhaps: set 1 of 2 fields: textbox "A" to "x"`},
	})
}

// A field that a page makes one for a password when a step comes to it is not filled, and none in a component or
// frame is read once it shows its text.
func TestStepsKeepFromPasswords(t *testing.T) {
	t.Parallel()
	const (
		fill  = `[{"fill": {"fields": [{"target": {"label": "Find"}, "value": "x"}]}}]`
		press = `[{"press": {"target": {"label": "Find"}, "key": "x"}}]`
		show  = `[{"click": {"target": {"role": "button", "name": "Show"}}}, {"read": {"fields": {"v": {"target": {"selector": "input"}, "give": "value"}}}}]`
	)
	runRows(t, []row{
		{"by its focus", `<label>Find <input id=q onfocus="this.type = 'password'"></label>`, fill, "", `0 STEP_REFUSED: textbox "Find" is a password`, `q.value === ""`, "perhaps: "},
		{"by a key", `<label>Find <input id=q onkeydown="this.type = 'password'"></label>`, press, "", `0 STEP_REFUSED: textbox "Find" is a password`, `q.value === ""`, "perhaps: "},
		{"to which a key goes", `<label>Find <input onkeydown="p.focus()"></label><input type=password id=p>`, press, "", `0 STEP_REFUSED: textbox "Find" has not got the focus`, `p.value === ""`, "perhaps: "},
		{"to which what is typed goes", `<div contenteditable role=textbox aria-label=Find onfocus="p.focus()">a</div><input type=password id=p>`, fill, "", `0 NEEDS_TRUSTED_INPUT: textbox "Find" did not take`, `p.value === ""`, "perhaps: "},
		{"in a component", `<x-p></x-p><button onclick="document.querySelector('x-p').shadowRoot.querySelector('input').type = 'text'">Show</button><script>customElements.define("x-p", class extends HTMLElement { constructor() { super(); this.attachShadow({mode: "open"}).innerHTML = "<input type=password name=q value=x>"; } })</script>`,
			show, "", `1 STEP_REFUSED: v: textbox without a name is a password`, "", ""},
		{"in a frame", `<iframe srcdoc="<input type=password name=q value=x>"></iframe><button onclick="frames[0].document.querySelector('input').type = 'text'">Show</button>`, show, "", `1 STEP_REFUSED: v: textbox without a name is a password`, "", ""},
		{"one that its page hides as such", `<label>Find <input value=x style="-webkit-text-security: disc"></label>`, `[{"read": {"fields": {"v": {"target": {"label": "Find"}, "give": "value"}}}}]`, "", `0 STEP_REFUSED: v: textbox "Find" is a secret, whose text its page hides`, "", ""},
		{"a field whose hint goes with its focus", `<input id=q placeholder=Find onfocus="placeholder = ''">`, fill, "", "null", `q.value === "x"`, `yes: set textbox "Find" to "x"`},
	})
}

// Of a click that the browser makes nothing of no step says that it was done.
func TestStepsSayWhatClicksNeedAPerson(t *testing.T) {
	t.Parallel()
	const click = `[{"click": {"target": {"role": "link"}}}]`
	runRows(t, []row{
		{"a link that is a script", `<a href="javascript:document.title = 1">Order</a>`, click, "", `0 NEEDS_TRUSTED_INPUT: link "Order" has a script as an address`, `!document.title`, "perhaps: "},
		{"by its key", `<a href="javascript:document.title = 1">Order</a>`, `[{"press": {"target": {"role": "link"}, "key": "Enter"}}]`, "", `0 NEEDS_TRUSTED_INPUT: link "Order" has a script as an address`, `!document.title`, "perhaps: "},
		{"one that its page takes", `<a href="javascript:document.title = 1" onclick="clicked = true; return false">Order</a>`, click, "", "null", `clicked`, ""},
		{"one that does nothing by itself", `<a href="javascript:void(0);" onclick="clicked = true">Order</a>`, click, "", "null", `clicked`, ""},
		{"a form", `<form action="javascript:document.title = 1"><button>Order</button></form>`, `[{"click": {"target": {"role": "button"}}}]`, "", `0 NEEDS_TRUSTED_INPUT: form without a name has a script as an address`, `!document.title`, "no: "},
		{"a part of a button that is disabled", `<button disabled><b onclick="clicked = true">Order</b></button><script>clicked = false</script>`, `[{"click": {"target": {"selector": "b"}}, "timeout": 1}]`, "", `0 STEP_REFUSED: b that shows "Order" is disabled`, `!clicked`, "no: "},
	})
}
