package extension_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// A page that changes its own world, or calls its elements as members are called, is looked at and acted on all
// the same.
func TestLooksInChangedWorlds(t *testing.T) {
	t.Parallel()
	const click = `{"click": {"target": @'"Order"'}}`
	const button = `<button onclick="done = true">Order</button>`
	names := []string{
		"tabhubSteps", "navigation", "performance", "innerWidth", "scrollX", "document", "MessageChannel", "getComputedStyle", "chrome_", "Element", "Node", "JSON", "Promise", "Map", "WeakRef", "self", "parent", "top", "frames", "length",
		"origin", "location", "history", "globalThis", "devicePixelRatio", "setTimeout", "requestAnimationFrame", "CSS", "Reflect", "crypto",
	}
	members := []string{
		"defaultView", "elementFromPoint", "createElement", "baseURI", "execCommand", "getSelection", "cookie", "documentElement", "querySelectorAll", "location", "body", "title", "head", "scrollingElement", "activeElement", "URL", "readyState",
		"addEventListener", "createTreeWalker", "getElementById", "forms", "hidden", "visibilityState", "currentScript", "styleSheets", "adoptedStyleSheets",
	}
	fields := []string{
		"getAttribute", "submit", "elements", "id", "action", "method", "ownerDocument", "parentNode", "matches", "closest", "localName", "isConnected", "getClientRects", "getBoundingClientRect", "nodeType", "querySelectorAll", "requestSubmit",
		"attributes", "firstChild", "nextSibling", "dispatchEvent", "children", "target", "shadowRoot", "checkVisibility", "tagName", "className", "style", "hidden", "textContent", "innerText", "childNodes", "hasAttribute", "title", "role", "ariaLabel", "contains", "getRootNode",
	}
	var globals, clobbered, named strings.Builder
	for _, n := range names {
		fmt.Fprintf(&globals, `<img hidden id=%s name=%[1]s><form id=%[1]s name=%[1]s></form><iframe hidden name=%[1]s srcdoc=x></iframe>`, n)
	}
	for _, n := range members {
		fmt.Fprintf(&named, `<form name=%s></form><img hidden name=%[1]s id=%[1]s><embed hidden name=%[1]s><object hidden id=%[1]s name=%[1]s></object>`, n)
	}
	for _, n := range fields {
		fmt.Fprintf(&clobbered, `<input type=hidden name=%s>`, n)
	}
	attacked(t, []attack{
		{name: "elements called like globals", page: globals.String() + button, shows: []string{`button "Order" @`}, act: click, want: "null [click yes]", is: "done"},
		{name: "elements called like members of the document", page: `<title>Page</title>` + named.String() + button, shows: []string{`button "Order" @`}, act: click, want: "null [click yes]", is: "done"},
		{name: "fields called like members of their form", page: `<form onsubmit="event.preventDefault(); done = true" aria-label=Buy><label>Amount <input name=amount value=3></label>` + clobbered.String() + `<button name=click>Order</button></form>`,
			shows: []string{`form "Buy" @`, `textbox "Amount" @ = "3"`, `button "Order" @`}, act: click, want: "null [click yes]", is: "done"},
		{name: "prototypes", page: button + `<label>Amount <input value=3></label><script>
			for (const proto of [Element.prototype, Node.prototype, HTMLElement.prototype, HTMLInputElement.prototype, Document.prototype, CharacterData.prototype, CSSStyleDeclaration.prototype]) for (const key of Object.getOwnPropertyNames(proto))
				if (!["addEventListener", "constructor", "dispatchEvent"].includes(key)) try { Object.defineProperty(proto, key, {get() { return () => "forged" }, set() {}}) } catch {}
			Object.prototype.ref = "forged"; Array.prototype.map = Array.prototype.filter = Array.prototype.push = JSON.stringify = JSON.parse = () => "forged"; RegExp.prototype.test = () => true; String.prototype.replace = () => "forged";
			Promise.prototype.then = Map.prototype.get = WeakRef.prototype.deref = MessageChannel = performance.now = getComputedStyle = () => "forged"; Object.prototype.toJSON = () => "forged"; Symbol.iterator in [] && (Array.prototype[Symbol.iterator] = () => "forged");</script>`,
			shows: []string{`button "Order" @`, `textbox "Amount" @ = "3"`}, act: click, want: "null [click yes]", is: "done"},
		{name: "getters on the document", page: button + `<script>for (const key in document) try { Object.defineProperty(document, key, {configurable: true, get() { throw "trap" }}) } catch {}</script>`, shows: []string{`button "Order" @`}, act: click, want: "null [click yes]", is: "done"},
		{name: "a policy that allows nothing", page: `<meta http-equiv=Content-Security-Policy content="default-src 'none'; script-src 'unsafe-inline'; require-trusted-types-for 'script'; sandbox allow-scripts">` + button, shows: []string{`button "Order" @`}, act: click, want: "null [click yes]", is: "done"},
		{name: "no body", page: `<script>document.documentElement.replaceChildren(Object.assign(document.createElement("button"), {textContent: "Order", onclick() { done = true }}))</script>`, shows: []string{`button "Order" @`}, act: click, want: "null [click yes]", is: "done"},
		{name: "no element at all", page: `<script>document.documentElement.remove()</script>`, hides: []string{"button"}},
		{name: "a drawing as its root", page: `<script>document.documentElement.replaceWith(document.createElementNS("http://www.w3.org/2000/svg", "svg"))</script>`, hides: []string{"button"}},
		{name: "a loop of labels", page: `<b id=a aria-labelledby=b>A</b><b id=b aria-labelledby=a>B</b><button aria-labelledby="c c c c c" id=c>Order</button><label for=d id=e><input id=d aria-labelledby=e></label>` + strings.Repeat(`<a href=/ aria-labelledby="x x x x x x x x"></a>`, 50) + `<p id=x>` + strings.Repeat("word ", 10_000), shows: []string{`button "Order`}},
		{name: "slots in slots", page: `<div id=h><div slot=a>In</div>Order</div><script>const r = h.attachShadow({mode: "open"}); r.innerHTML = "<p><slot name=a></slot></p><x-i id=i><slot></slot></x-i>"; r.querySelector("#i").attachShadow({mode: "closed"}).innerHTML = "<button><slot></slot></button>"</script>`, shows: []string{`button "Order" @`, `"In"`}},
	})
}

// A page does not see that it is looked at: nothing of it changes, no event comes, no property of its world is
// asked for, and what it says to the extension's world is not heard.
func TestPageDoesNotSeeItsLook(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, map[string]string{"/": `<!doctype html><title>Page</title><label>Name <input value=x id=q></label><button>Order</button><x-a a=1></x-a><div style="height: 3000px"></div><p id=low>Low</p><iframe srcdoc="<p>In a frame"></iframe><script>
		seen = [];
		const note = (what) => seen.push(what);
		customElements.define("x-a", class extends HTMLElement { static observedAttributes = ["a", "id", "style"]; attributeChangedCallback(name, was) { if (was !== null) note("attribute " + name); } connectedCallback() {} });
		addEventListener("load", () => setTimeout(() => {
			new MutationObserver((all) => note("mutation " + all[0].type)).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
			for (const type of ["scroll", "focus", "blur", "focusin", "focusout", "pointermove", "mouseover", "click", "input", "change", "select", "selectionchange", "message", "error", "unhandledrejection", "visibilitychange", "resize", "beforematch", "contentvisibilityautostatechange", "securitypolicyviolation", "pagehide", "freeze"])
				for (const target of [window, document]) target.addEventListener(type, ({target}) => note(type), true);
			for (const proto of [Element.prototype, Node.prototype, HTMLElement.prototype, HTMLInputElement.prototype, Document.prototype, ShadowRoot.prototype]) for (const [key, at] of Object.entries(Object.getOwnPropertyDescriptors(proto)))
				if (at.get) Object.defineProperty(proto, key, {...at, get() { note("get " + key); return at.get.call(this); }});
				else if (typeof at.value === "function" && key !== "constructor" && key !== "addEventListener") Object.defineProperty(proto, key, {...at, value(...a) { note("call " + key); return at.value.apply(this, a); }});
			const {getComputedStyle: style} = window; window.getComputedStyle = (...a) => (note("style"), style(...a));
			globalThis.ready = false;
			for (const type of ["run", "look", "tabhub", "message"]) { window.postMessage({type, tabhub: true, steps: []}, "*"); document.dispatchEvent(new CustomEvent(type, {detail: {type: "run"}})); }
			setTimeout(() => { seen = []; ready = true; }, 100);
		}, 100));
	</script>`})
	p := b.Open(url)
	p.WaitFor("globalThis.ready")
	tab := front(b)
	// What gives pages WebMCP asks for a few members all the time.
	const seen = `seen.filter((what) => !/^(get modelContext|get defaultView|call querySelectorAll)$/.test(what))`
	p.Eval("new Promise((done) => setTimeout(done, 200))")
	if all := p.Eval(seen); all != "[]" {
		t.Fatalf("the page has seen %s before", all)
	}
	for _, l := range []spec.Look{{Viewer: "v"}, {Viewer: "v", Changes: true}, {Viewer: "v", Find: "order"}, {Viewer: "v"}} {
		if got := h.lookAt(tab, l); !strings.Contains(got, "Order") && !l.Changes {
			t.Error(got)
		}
	}
	p.Eval("new Promise(requestAnimationFrame)")
	if all := p.Eval(seen); all != "[]" {
		t.Errorf("the page has seen %s", all)
	}
	if is := p.Eval(`[["tabhubSteps", "tabhubView", "tabhubOverlay"].some((name) => name in window), performance.getEntriesByType("resource").filter(({name}) => name.startsWith("chrome-extension")).length, scrollY, document.activeElement === document.body]`); is != `[false,0,0,true]` {
		t.Errorf("its world is another: %s", is)
	}
}

// A document that goes, or another one in its place, ends what was begun with it in an answer that says so.
func TestLooksAtDocumentsThatGo(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	url := site(t, map[string]string{
		"/":       `<!doctype html><title>First</title><button onclick="document.title = 'clicked'">Order</button><iframe id=f title=Inner srcdoc="<button>Within</button>"></iframe>`,
		"/second": `<!doctype html><title>Second</title><button>Order</button>`,
		"/reload": `<!doctype html><title>Reload</title><button>Order</button><script>setTimeout(() => location.reload(), 20)</script>`,
		"/frames": `<!doctype html><title>Frames</title><button>Order</button><script>for (let i = 0; i < 20; i++) document.write("<iframe src=/frame></iframe>")</script>`,
		"/frame":  `<!doctype html><p>Frame</p><script>setInterval(() => top.document.readyState === "complete" && location.reload(), 20)</script>`,
		"/write":  `<!doctype html><title>Write</title><script>setInterval(() => { document.open(); document.write("<title>Write</title><button>Order</button>"); document.close(); }, 5)</script>`,
		"/churn":  `<!doctype html><title>Churn</title><div id=d></div><script>setInterval(() => d.innerHTML = Array.from({length: 500}, (_, i) => "<p><button>Order " + i + "</button>").join(""), 1)</script>`,
		"/adopt":  `<!doctype html><title>Adopt</title><iframe id=f srcdoc="x"></iframe><button id=b onclick="top.clicked = true">Order</button>`,
		"/busy":   `<!doctype html><title>Busy</title><button>Order</button><script>busy = (ms) => setTimeout(() => { for (const to = Date.now() + ms; Date.now() < to;); }, 0)</script>`,
	})
	click := func(ref string) string { return `{"click": {"target": {"ref": "` + ref + `"}}}` }
	refs := func(tab int64, ref string) string {
		answer, err := h.ask(tab, &spec.Refs{Refs: []string{ref}})
		return fmt.Sprint(answer, err)
	}
	own := func() *spec.Run { return &spec.Run{FrameID: new(int64), Origin: url} }
	stale := func(t *testing.T, got string) {
		t.Helper()
		if !strings.Contains(got, "STALE_REF") && !strings.Contains(got, `"stale"`) {
			t.Errorf("it is not said to be stale: %s", got)
		}
	}
	t.Run("kept for when one goes back", func(t *testing.T) {
		p := b.Open(url)
		defer p.Close()
		tab := front(b)
		order := refAfter(t, h.lookAt(tab, spec.Look{}), "Order")
		p.Navigate(url + "/second")
		stale(t, refs(tab, order))
		stale(t, h.runAs(t.Context(), tab, own(), click(order), claude))
		other := refAfter(t, h.lookAt(tab, spec.Look{}), "Order")
		if other == order {
			t.Errorf("%s stands for two", other)
		}
		p.Back()
		stale(t, refs(tab, other))
		stale(t, h.runAs(t.Context(), tab, own(), click(other), claude))
		if got := h.runAs(t.Context(), tab, own(), click(order), claude); got != "null [click yes]" || p.Eval("document.title") != `"clicked"` {
			t.Errorf("back on its page: %s", got)
		}
	})
	t.Run("loaded anew", func(t *testing.T) {
		p := b.Open(url)
		defer p.Close()
		tab := front(b)
		order := refAfter(t, h.lookAt(tab, spec.Look{}), "Order")
		p.Reload()
		stale(t, refs(tab, order))
		stale(t, h.runAs(t.Context(), tab, own(), click(order), claude))
	})
	t.Run("of another tab", func(t *testing.T) {
		p := b.Open(url)
		defer p.Close()
		order := refAfter(t, h.lookAt(front(b), spec.Look{}), "Order")
		other := b.Open(url)
		defer other.Close()
		tab := front(b)
		h.lookAt(tab, spec.Look{})
		stale(t, refs(tab, order))
		stale(t, h.runAs(t.Context(), tab, own(), click(order), claude))
	})
	t.Run("a frame that is removed", func(t *testing.T) {
		p := b.Open(url)
		defer p.Close()
		tab := front(b)
		look := h.lookAt(tab, spec.Look{})
		within, frame := refAfter(t, look, "Within"), refAfter(t, look, "Inner")
		p.Eval("f.remove()")
		stale(t, refs(tab, within))
		stale(t, h.lookAt(tab, spec.Look{Scope: frame})+refs(tab, frame))
		stale(t, h.runAs(t.Context(), tab, own(), click(within), claude))
	})
	t.Run("an element that goes to another document", func(t *testing.T) {
		p := b.Open(url + "/adopt")
		defer p.Close()
		tab := front(b)
		order := refAfter(t, h.lookAt(tab, spec.Look{}), "Order")
		p.Eval("clicked = false, f.contentDocument.body.append(b)")
		if got := h.runAs(t.Context(), tab, own(), click(order), claude); got != "null [click yes]" || p.Eval("clicked") != "true" {
			t.Error(got)
		}
	})
	for _, c := range []struct{ path, has string }{{"/reload", ""}, {"/frames", `button "Order"`}, {"/write", ""}, {"/churn", ""}} {
		t.Run("while it is looked at: "+c.path, func(t *testing.T) {
			p := b.Open(url + c.path)
			defer p.Close()
			tab := front(b)
			for range 8 {
				began := time.Now()
				got := h.lookAt(tab, spec.Look{Viewer: "v"})
				if !strings.Contains(got, c.has) || time.Since(began) > 10*time.Second {
					t.Errorf("after %v: %s", time.Since(began), got)
				}
				if all := madeUp(got); c.has != "" && len(all) > 0 {
					t.Errorf("%q", all)
				}
			}
		})
	}
	t.Run("a page that is busy", func(t *testing.T) {
		p := b.Open(url + "/busy")
		defer p.Close()
		tab := front(b)
		p.Eval("busy(3000)")
		began := time.Now()
		if got := h.lookAt(tab, spec.Look{}); !strings.Contains(got, "Order") || time.Since(began) > 10*time.Second {
			t.Errorf("after %v: %s", time.Since(began), got)
		}
		// Others are looked at meanwhile.
		p.Eval("busy(15000)")
		other := b.Open(url)
		defer other.Close()
		began = time.Now()
		if got := h.lookAt(front(b), spec.Look{}); !strings.Contains(got, "Order") || time.Since(began) > 5*time.Second {
			t.Errorf("another tab, after %v: %s", time.Since(began), got)
		}
	})
}
