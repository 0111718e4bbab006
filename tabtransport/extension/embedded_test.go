package extension_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// forged is a page that speaks to the extension as the hub's script does, and as no
// such script would. HUB stands for the hub's address.
const forged = `<!doctype html><title>Forged</title><script src="http://HUB/tab.js"></script><script>
	const said = [];
	let ran = 0;
	addEventListener("tabhub-extension", () => said.push("announced"));
	// It brings the extension to the page, and is no word about a hub.
	const sign = () => void dispatchEvent(new Event("tabhub-page"));
	const big = "x".repeat(40 << 20);
	function join(hub, more) {
		const {port1, port2} = new MessageChannel();
		const send = (m) => port1.postMessage({frame: JSON.stringify({jsonrpc: "2.0", ...m})});
		port1.onmessage = ({data}) => {
			if (data.code) said.push("closed " + data.code);
			if (!data.frame) return;
			const m = JSON.parse(data.frame);
			if (m.id === "hello") said.push("served");
			more(m, send, port1);
		};
		const heard = !dispatchEvent(new MessageEvent("tabhub-page", {cancelable: true, data: hub, ports: [port2]}));
		// Before its hello it may say nothing.
		send({id: 1, method: "browser/registerTools", params: {tools: [{name: "early"}]}});
		send({id: "hello", method: "browser/hello", params: {tabId: 1, browserId: "b"}});
		return heard;
	}
	const tool = (name, more) => ({name, description: "d", inputSchema: {type: "object"}, ...more});
	const junk = [null, 1, "x", [], {}, {frame: 7}, {frame: "{"}, {frame: "[]"}, {frame: "null"}, {frame: big}, {close: 1}, {open: true}, {code: 1}];
	const start = () => join("http://HUB", (m, send, port) => {
		if (m.id === "hello") {
			for (const j of junk) port.postMessage(j);
			send({id: 2, method: "browser/registerTools", params: {tools: [
				tool("fine"), tool("hangs"), tool("polluter"), tool("huge"), tool("origin", {origin: "https://bank.example", frameId: 99, tabId: 1}), null, {description: "no name"},
				tool("long schema", {inputSchema: {type: "object", description: "x".repeat(1 << 20)}}),
				...Array.from({length: 5000}, (_, i) => tool("many" + i)),
			]}});
			send({id: 3, method: "browser/registerResources", params: {resources: "none"}});
			send({id: 4, method: "__proto__", params: {__proto__: null}});
			send({id: 5, method: "browser/openTab", params: {url: "https://bank.example"}});
			send({method: "browser/tabState", params: {url: "https://bank.example"}});
			send({method: "browser/tabClosed", params: {}});
			for (let i = 0; i < 5000; i++) send({method: "browser/resourceUpdated", params: {uri: "flood://" + i}});
		}
		if (m.method === "browser/executeTool") {
			ran++;
			const {toolName} = m.params;
			for (const id of ["e0", "e999", "hello", 1, null, {}]) if (id !== m.id) send({id, result: {success: true, payload: {forged: true}}});
			for (let i = 0; i < 500; i++) send({method: "browser/progress", params: {requestId: m.id, progress: i}});
			if (toolName === "huge") send({id: m.id, result: {success: true, payload: {content: [{type: "text", text: big}]}}});
			else if (toolName === "polluter") port.postMessage({frame: '{"jsonrpc":"2.0","id":"' + m.id + '","result":{"success":true,"payload":{"content":[],"__proto__":{"polluted":1}}}}'});
			else if (toolName !== "hangs") send({id: m.id, result: {success: true, payload: {content: [{type: "text", text: "own"}]}}});
		}
	});
	</script>`

// What a page forges towards the extension harms nothing but itself.
func TestForgedScript(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	good := b.Open(site(t, map[string]string{"/": strings.ReplaceAll(oldServer, "ANNOUNCED", "0")}))
	victim := h.tabWith("old")
	url := site(t, map[string]string{"/": strings.ReplaceAll(forged, "HUB", h.addr)})
	p := b.Open(url)
	p.Eval("sign()")
	p.WaitFor(`said.includes("announced")`)
	began := time.Now()
	p.Eval("start()")
	p.WaitFor(`said.includes("served")`)
	var tab int64
	h.wait("its tools", func() bool {
		for id := range h.tabs {
			if id != victim && len(h.tabs[id].tools) > 900 {
				tab = id
				return true
			}
		}
		return false
	})
	if fine, forged := h.tool(tab, "fine"), h.tool(tab, "origin"); fine.Origin != url || forged.Origin != url || forged.FrameID != 0 {
		t.Errorf("%+v, %+v", fine, forged)
	}
	// A page may say a hundred things a second, of the thousands that this one says.
	most := func() int { return 100 * (2 + int(time.Since(began).Seconds())) }
	h.mu.Lock()
	count, state, updates := len(h.tabs[tab].tools), h.tabs[tab].state.URL, len(h.updates)
	for _, it := range h.tabs[tab].tools {
		if it.Name == "early" || len(it.InputSchema) > spec.MaxSchema {
			t.Errorf("it offers %s with a schema of %d bytes", it.Name, len(it.InputSchema))
		}
	}
	h.mu.Unlock()
	if count > spec.MaxToolsPerTab || state != nil && strings.Contains(*state, "bank") || updates > most() {
		t.Errorf("%d tools, at %v, %d updates", count, state, updates)
	}
	for _, name := range []string{"fine", "polluter"} {
		if got, err := h.call(tab, name, "{}"); err != nil || strings.Contains(got, "forged") {
			t.Errorf("%s: %.200s, %v", name, got, err)
		}
	}
	began = time.Now()
	progress := 0
	if got, err := h.callFrame(t.Context(), tab, 0, "fine", "{}", tabtransport.Wait{Timeout: chromium.Timeout, Progress: func(spec.Progress) { progress++ }}); err != nil || got != `{"content":[{"type":"text","text":"own"}]}` || progress > most() {
		t.Errorf("fine: %.200s, %v, %d times progress", got, err, progress)
	}
	for _, name := range []string{"hangs", "huge"} {
		if got, err := h.callFrame(t.Context(), tab, 0, name, "{}", tabtransport.Wait{Timeout: time.Second}); err == nil && !strings.HasPrefix(got, "failed") {
			t.Errorf("%s: %.200s", name, got)
		}
	}
	w := b.Worker()
	if got := w.Eval("({}).polluted === undefined"); got != "true" {
		t.Error("the page changed the prototypes of the worker")
	}
	w.Close()

	// It cannot find out by trying where the hub is: its first word counts.
	for _, first := range []string{"http://127.0.0.1:1", "no address", ""} {
		other := b.Open(url)
		other.Eval("sign()")
		other.WaitFor(`said.includes("announced")`)
		for _, hub := range []string{first, "http://" + h.addr} {
			if got := other.Eval(fmt.Sprintf(`join(%q, () => {})`, hub)); got != "false" {
				t.Errorf("a page that says %q first is answered for %q", first, hub)
			}
		}
		other.Close()
	}
	if got, err := h.call(victim, "old", "{}"); err != nil || !strings.Contains(got, "from the old server") {
		t.Errorf("another tab's tool: %s, %v", got, err)
	}
	good.Eval(`change([{name: 'old'}, {name: 'new'}])`)
	h.wait("another tab's news", func() bool { return equal(names(h.tabs[victim].tools), []string{"old", "new"}) })
}
