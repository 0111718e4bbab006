package extension_test

import "testing"

// What its user has allowed is an act on what the look has shown. If that has become something else meanwhile, or
// leads elsewhere, nothing is done, and what there is now is said.
func TestActsOnWhatWasShown(t *testing.T) {
	t.Parallel()
	const (
		log   = `<script>clicked = []; addEventListener("click", ({target}) => clicked.push(target.textContent))</script>`
		order = log + `<button id=b>Order</button><button id=o>Other</button>`
		rows  = log + `<table><tr><td>Tea<td><button>Remove</button><tr><td>Milk<td><button>Remove</button></table>`
		divs  = log + `<div class=r><span>Tea</span><button>Remove</button></div><div class=r><span>Milk</span><button>Remove</button></div>`
		click = `{"click": {"target": @'"Order"'}}`
		none  = `clicked.length === 0`
	)
	attacked(t, []attack{
		{name: "nothing changes", page: order, act: click, want: "null [click yes]", is: `clicked.join() === "Order"`},
		{name: "its name", page: order, act: click, then: `b.textContent = "Delete account"`, want: `0 STALE_REF @ was button "Order", and is button "Delete account" by now`, is: none},
		{name: "its name and another's", page: order, act: click, then: `b.textContent = "Other"; o.textContent = "Order"`, want: `0 STALE_REF @ was button "Order", and is button "Other" by now`, is: none},
		{name: "what it shows beside its name", page: `<button id=b aria-label=Order>Order now</button>` + log, act: click, then: `b.textContent = "Delete account"`, want: `0 STALE_REF @ was button "Order"`, is: none},
		{name: "its role", page: order, act: click, then: `b.setAttribute("role", "link")`, want: `0 STALE_REF @ was button "Order", and is link "Order" by now`, is: none},
		{name: "it goes", page: order, act: click, then: `b.remove()`, want: `0 STALE_REF @ was button "Order", and that is gone`, is: none},
		{name: "a twin in its place", page: order, act: click, then: `b.replaceWith(b.cloneNode(true))`, want: `0 STALE_REF @ was button "Order", and that is gone`, is: none},
		{name: "it is hidden", page: order, act: click, then: `b.style.display = "none"`, want: `0 STALE_REF @ was button "Order", and that is not seen any more`, is: none},
		{name: "it is clear", page: order, act: click, then: `b.style.opacity = 0`, want: `0 STALE_REF @ was button "Order", and that is transparent`, is: none},
		{name: "it is disabled", page: order, act: click, then: `b.disabled = true`, want: `0 STEP_REFUSED button "Order" is disabled`, is: none},
		{name: "it is covered", page: order, act: click, then: `document.body.insertAdjacentHTML("beforeend", "<div role=dialog aria-label=Ad style='position: fixed; inset: 0'>Ad</div>")`, want: `0 STEP_REFUSED button "Order" is covered by dialog "Ad"`, is: none},
		{name: "the text of its row", page: rows, act: `{"click": {"target": @'"Remove"'}}`, then: `document.querySelector("td").textContent = "Milk"`, want: `0 STALE_REF @ was button "Remove" in "Tea Remove", and is button "Remove" in "Milk Remove" by now`, is: none},
		{name: "its row", page: rows, act: `{"click": {"target": @'"Remove"'}}`, then: `document.querySelectorAll("td")[3].append(document.querySelector("button"))`, want: `0 STALE_REF @ was button "Remove" in "Tea Remove", and is`, is: none},
		{name: "the text of a row of divs", page: divs, act: `{"click": {"target": @'"Remove"'}}`, then: `document.querySelector("span").textContent = "Milk"`, want: `0 STALE_REF @ was button "Remove" in "Tea Remove", and is`, is: none},
		{name: "its document is written anew", page: order, act: click, then: `document.open(), document.write("<script>clicked = []<\/script><button onclick='clicked.push(1)'>Order</button>"), document.close()`, want: `0 STALE_REF @ was button "Order", and that is gone`, is: none},
		{name: "its address, by a script", page: order, act: click, then: `history.pushState(0, "", "/next")`, want: "null [click yes]", is: `clicked.join() === "Order"`},
	})
}

// What happens to an element from the press of the button on does not go unsaid, and what follows is not done.
func TestActsWhileTheyAreDone(t *testing.T) {
	t.Parallel()
	const (
		log   = `<script>clicked = []; addEventListener("click", ({target}) => clicked.push(target.textContent))</script>`
		click = `{"click": {"target": @'"Order"'}}`
		none  = `clicked.length === 0`
	)
	attacked(t, []attack{
		{name: "its name", page: log + `<button onpointerdown="textContent = 'Delete account'">Order</button>`, act: click, want: `0 STEP_REFUSED button "Order" has become button "Delete account" while it was pressed [click perhaps]`, is: none},
		{name: "its row", page: log + `<table><tr><td id=c>Tea<td><button onpointerdown="c.textContent = 'Milk'">Order</button></table>`, act: click, want: `0 STEP_REFUSED button "Order" in "Tea Order" has become one in "Milk Order" while it was pressed [click perhaps]`, is: none},
		{name: "it is moved to another row", page: log + `<table><tr><td>Tea<td><button onmousedown="c.append(this)">Order</button><tr><td>Milk<td id=c></table>`, act: click, want: `0 STEP_REFUSED button "Order" in "Tea Order" has become one in "Milk Order" while it was pressed`, is: none},
		{name: "it is disabled", page: log + `<button onmouseup="this.disabled = true">Order</button>`, act: click, want: `0 STEP_REFUSED button "Order" is disabled while it was pressed`, is: none},
		{name: "something comes between", page: log + `<button onpointerdown="o.hidden = false">Order</button><div id=o hidden role=dialog aria-label=Ad style="position: fixed; inset: 0">Ad</div>`, act: click, want: `0 STEP_REFUSED button "Order" was moved, or is covered by dialog "Ad" while it was pressed`, is: none},
		{name: "something comes between as it is scrolled to", page: log + `<div style="height: 3000px"></div><button>Order</button><div id=o hidden role=dialog aria-label=Ad style="position: fixed; inset: 0">Ad</div><script>onscroll = () => o.hidden = false</script>`, act: click, want: `null [click yes]`, is: `clicked.join() === "Order"`},
		{name: "it moves away", page: log + `<button onpointerover="style.cssText = 'position: absolute; left: 300px; top: 300px'">Order</button>`, act: click, want: `0 STEP_REFUSED button "Order" was moved`, is: none},
		{name: "where it leads", page: log + `<a href=/next onmousedown="this.href = 'http://other.example/'">Order</a>`, act: click, want: `0 STEP_REFUSED link "Order" leads to http://other.example/`, is: none},
		{name: "where its form leads", page: log + `<form action=/next><button onmousedown="this.form.action = 'http://other.example/'">Order</button></form>`, act: click, want: `0 STEP_REFUSED form without a name leads to http://other.example/`, is: none},
		{name: "where its form leads, as it is sent", page: `<form action=/next onsubmit="this.action = 'http://other.example/'"><button>Order</button></form>`, act: click, want: `0 STEP_REFUSED the step led to http://other.example/`, is: `location.pathname !== "/next"`},
		{name: "a third site instead of the one that was allowed", page: log + `<a id=a href="http://one.example/">Order</a>`, act: click, then: `a.href = "http://two.example/"`, want: `0 STEP_REFUSED link "Order" leads to http://two.example/`, is: none},
		{name: "a form with two sites", page: log + `<form action="http://one.example/"><button id=a>Order</button></form>`, act: click, then: `a.formAction = "http://two.example/"`, want: `0 STEP_REFUSED`, is: none},
		{name: "a field that becomes one for a secret", page: `<label>Find <input id=q onfocus="this.type = 'password'"></label>`, act: `{"fill": {"fields": [{"target": @'"Find"', "value": "x"}]}}`, want: `0 STEP_REFUSED textbox "Find" is a password`, is: `q.value === ""`},
		{name: "fields that change places", page: `<label><b id=k>Street</b> <input id=p onfocus="k.textContent = 'Town'; l.textContent = 'Street'"></label><label><b id=l>Town</b> <input id=q></label>`,
			act: `{"fill": {"fields": [{"target": @'"Street"', "value": "x"}, {"target": @'"Town"', "value": "y"}]}}`, want: `0 STEP_REFUSED textbox "Town" has become textbox "Street" [fill perhaps]`, is: `q.value === ""`},
		{name: "focus that goes elsewhere", page: `<label>Find <input id=q onfocus="p.focus()"></label><input type=password id=p>`, act: `{"fill": {"fields": [{"target": @'"Find"', "value": "x"}]}}`, want: `null [fill yes]`, is: `q.value === "x" && p.value === ""`},
		{name: "keys that go elsewhere", page: `<label>Find <input id=q onfocus="p.focus()"></label><input type=password id=p>`, act: `{"press": {"target": @'"Find"', "key": "x"}}`, want: `0 STEP_REFUSED textbox "Find" has not got the focus`, is: `q.value === "" && p.value === ""`},
		{name: "a page that takes a person's input only", page: `<label>Find <input id=q oninput="if (!event.isTrusted) value = ''"></label>`, act: `{"fill": {"fields": [{"target": @'"Find"', "value": "x"}]}}`, want: `0 NEEDS_TRUSTED_INPUT textbox "Find" did not take`, is: `q.value === ""`},
		{name: "a page that undoes it later", page: `<label>Find <input id=q oninput="setTimeout(() => value = '', 30)"></label>`, act: `{"fill": {"fields": [{"target": @'"Find"', "value": "x"}]}}`, want: `null [fill yes]`, is: `q.value === ""`},
		{name: "a checkbox for a person only", page: `<label><input type=checkbox id=q onclick="if (!event.isTrusted) event.preventDefault()"> Gift</label>`, act: `{"fill": {"fields": [{"target": @'"Gift"', "value": true}]}}`, want: `0 NEEDS_TRUSTED_INPUT checkbox "Gift" did not take`, is: `!q.checked`},
		{name: "a button that opens a window", page: log + `<button onclick="opened = open('/next')">Order</button>`, act: click, want: `null [click yes]`},
		{name: "a button that answers by a dialog", page: log + `<button onclick="alert('Pay?'); said = confirm('Delete?')">Order</button>`, act: click, want: `null [click yes]`, is: `said === false`},
		{name: "a button that prints", page: log + `<button onclick="print()">Order</button>`, act: click, want: `null [click yes]`, is: `clicked.join() === "Order"`},
		{name: "a button that throws", page: log + `<button onclick="throw 'x'">Order</button>`, act: click, want: `null [click yes]`, is: `clicked.join() === "Order"`},
		{name: "a button that takes its time", page: log + `<button onclick="for (const to = Date.now() + 3000; Date.now() < to;);">Order</button>`, act: click, want: `null [click yes]`, is: `clicked.join() === "Order"`},
	})
}
