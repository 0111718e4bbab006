package extension_test

import (
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// spy is a page without tools that looks for extensions with all that a page has: its
// first script notes what reaches the page, and what is called or read in it.
const spy = `<!doctype html><title>Spy</title><script>
	window.seen = [];
	const real = {setTimeout, setInterval, dispatchEvent, postMessage};
	for (const type of ['tabhub-port', 'tabhub-frame', 'tabhub-extension', 'tabhub-page', 'tabhub-gateway', 'tabhub-half', 'tabhub-sign', 'tabhub-taken']) addEventListener(type, () => seen.push('event ' + type));
	addEventListener('message', ({data}) => seen.push('message ' + JSON.stringify(data)));
	for (const name of Object.keys(real)) window[name] = (...args) => { seen.push('calls ' + name); return real[name].call(window, ...args); };
	for (const [object, name] of [[Math, 'min'], [Object, 'hasOwn'], [Reflect, 'apply'], [JSON, 'stringify'], [MessagePort.prototype, 'postMessage'], [EventTarget.prototype, 'addEventListener'], [EventTarget.prototype, 'dispatchEvent']]) {
		const before = object[name];
		object[name] = function (...args) { if (new Error().stack.includes('chrome-extension')) seen.push('calls ' + name); return before.apply(this, args); };
	}
	Symbol.for = new Proxy(Symbol.for, {apply(f, self, args) { seen.push('calls Symbol.for'); return Reflect.apply(f, self, args); }});
	Object.setPrototypeOf(NodeList.prototype, new Proxy(Object.prototype, {get(target, key) { seen.push('reads ' + String(key) + ' of a NodeList'); return target[key]; }}));
	Object.setPrototypeOf(EventTarget.prototype, new Proxy(Object.prototype, {has(target, key) { seen.push('looks for ' + String(key)); return key in target; }}));
	for (const name of ['mcp', '__mcpBridge', 'tabhub']) Object.defineProperty(window, name, {configurable: true, get: () => void seen.push('reads ' + name)});
	const data = Object.getOwnPropertyDescriptor(MessageEvent.prototype, 'data').get;
	Object.defineProperty(MessageEvent.prototype, 'data', {configurable: true, get() { if (new Error().stack.includes('chrome-extension')) seen.push('reads data'); return data.call(this); }});
	window.nodes = new MutationObserver(all => seen.push('changes ' + all[0].target.nodeName));
	</script><body><iframe src="about:blank"></iframe><script>
	frames[0].addEventListener('message', ({data}) => seen.push('message in a frame ' + JSON.stringify(data)));
	nodes.observe(document, {childList: true, subtree: true, attributes: true});
	// What the page asks for itself.
	function ask(type, data, more) {
		const {port1, port2} = new MessageChannel();
		port1.onmessage = ({data}) => seen.push('answers ' + JSON.stringify(data));
		for (const message of [{type: 'start'}, {type: 'tools', tools: '[]'}, {type: 'call', id: '1', name: 'x', args: {}}]) port1.postMessage(message);
		let heard = 0;
		addEventListener(type, () => heard++);
		if (!real.dispatchEvent.call(window, new MessageEvent(type, {cancelable: true, data, ports: [port2], ...more}))) seen.push('prevents ' + type);
		if (!heard) seen.push('hides ' + type);
	}
	</script>`

// A page that has no tools cannot find out that the extension is there.
func TestPagesWithoutToolsSeeNothing(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	library := strings.ReplaceAll(oldServer, "ANNOUNCED", "0")
	off := site(t, map[string]string{"/": spy})
	switchSite(b, off, false)
	for what, url := range map[string]string{"": site(t, map[string]string{"/": spy}), " of a site that is switched off": off} {
		p := b.Open(url)
		for _, expr := range []string{
			`ask('tabhub-page')`, `ask('tabhub-page', 'http://` + h.addr + `')`, `ask('tabhub-page', 'http://127.0.0.1:3300')`,
			`ask('tabhub-port')`, `ask('tabhub-frame')`, `ask('tabhub-gateway')`, `ask('tabhub-half')`, `ask('tabhub-sign')`, `ask('tabhub-taken')`, `void dispatchEvent(new CustomEvent('tabhub-gateway', {detail: 'x'}))`,
			`void dispatchEvent(new Event('tabhub-port'))`,
		} {
			p.Eval("seen = seen.filter(line => !line.startsWith('event ')); " + expr + "; seen = seen.filter(line => !line.startsWith('event ') && line !== 'calls dispatchEvent')")
		}
		// By the time that another page is known this one is, too.
		other := b.Open(site(t, map[string]string{"/": library}))
		h.tabWith("old")
		other.Close()
		h.wait("the other page is closed", func() bool { return len(h.tabs) == 0 })
		p.Front()
		p.Eval("Object.hasOwn(window, 'tabhubSigns') && void seen.push('a mark')")
		if got := p.Eval("seen"); got != "[]" {
			t.Errorf("a page without tools%s has seen %s", what, got)
		}
	}
}

// Where a site is switched off nothing runs in the page's own world; where it is switched
// on again all does, with the page's next load.
func TestNothingInThePageWhereSwitchedOff(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	url := site(t, map[string]string{"/": `<!doctype html><title>Outer</title><body>`, "/frame": `<!doctype html><title>Frame</title>`})
	p := b.Open(url)
	// A browser with WebMCP shows what runs there before the page's scripts.
	runs := func() string {
		return p.Eval(`new Promise(done => {
			const frame = document.createElement('iframe');
			frame.src = '/frame';
			frame.onload = () => done('mcp' in frame.contentWindow);
			document.body.append(frame);
		})`)
	}
	if runs() != "true" {
		t.Error("the sentinel does not run where the site is on")
	}
	for _, hide := range []string{
		`{ask: "site", origin: "` + url + `", on: false}`,
		`{ask: "save", settings: {mode: "allowed", allowed: []}}`,
		`{ask: "save", settings: {mode: "allowed", allowed: ["http://127.0.0.1:1"]}}`,
	} {
		tell(b, hide)
		if runs() != "false" {
			t.Errorf("%s: the sentinel runs", hide)
		}
		tell(b, `{ask: "site", origin: "`+url+`", on: true}`)
		if runs() != "true" {
			t.Errorf("%s, and on again: the sentinel does not run", hide)
		}
	}
}

// While a site is switched off its frames are left alone also when another frame of the page
// has tools, which leads to all that the page has.
func TestFramesOfSwitchedOffSitesAreLeftAlone(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	off := site(t, map[string]string{"/": `<!doctype html><title>Off</title>`})
	url := site(t, map[string]string{
		"/":     `<!doctype html><title>Outer</title><iframe src="` + off + `/"></iframe><iframe src="/tool"></iframe>`,
		"/tool": `<!doctype html><script>` + chromium.InFrame(`document.modelContext.registerTool({name: "tool", description: "d", execute: () => "x"})`) + `</script>`,
	})
	switchSite(b, off, false)
	w := b.Worker()
	defer w.Close()
	w.Eval(`(() => {
		const { executeScript } = chrome.scripting;
		self.ran = [];
		chrome.scripting.executeScript = async (injection) => {
			const results = await executeScript.call(chrome.scripting, injection);
			if (injection.world === "MAIN") ran.push(...results.map(({ documentId }) => documentId));
			return results;
		};
	})()`)
	b.Open(url)
	h.tabWith("tool")
	got := w.Eval(`(async () => {
		const [tab] = await chrome.tabs.query({ url: "` + url + `/" });
		const all = await chrome.scripting.executeScript({ target: { tabId: tab.id, allFrames: true }, func: () => location.href });
		return all.filter(({ documentId }) => ran.includes(documentId)).map(({ result }) => result);
	})()`)
	if strings.Contains(got, off) || !strings.Contains(got, url+"/tool") {
		t.Errorf("scripts were brought to the page's world of %s", got)
	}
}
