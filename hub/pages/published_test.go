package pages_test

import (
	"net"
	"os"
	"strings"
	"testing"

	"tabhub/hub/call"
	"tabhub/tabtransport/tabtest/chromium"
)

// needPackages skips a test if the packages of package.json are not installed.
func needPackages(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("node_modules/@mcp-b"); err != nil {
		const reason = "needs the packages of hub/pages/package.json: npm ci --ignore-scripts"
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
}

// Pages built on the published libraries need nothing but the script, whether the
// browser has WebMCP itself or not.
func TestPublishedLibraries(t *testing.T) {
	t.Parallel()
	needPackages(t)
	const register = `<script>
		let runs = 0;
		document.modelContext.registerTool({name: "lib", description: "d", inputSchema: {type: "object", properties: {n: {type: "integer"}}},
			execute: async ({n}) => { runs++; return {content: [{type: "text", text: "n is " + n}]} }});
	</script>`
	const join = `<script src="http://HUB/tab.js"></script>`
	for _, native := range chromium.Rows(1, false, true) {
		b := chromium.Shared(t, chromium.Options{WebMCP: native})
		for _, lib := range []string{"global", "webmcp-polyfill"} {
			load := `<script src="/npm/@mcp-b/` + lib + `/dist/index.iife.js"></script>`
			if lib == "webmcp-polyfill" {
				load += `<script>WebMCPPolyfill.initializeWebMCPPolyfill()</script>`
			}
			for order, body := range map[string]string{"library first": load + register + join, "script first": join + load + register} {
				name := lib + ", " + order
				if native {
					name += ", in a browser with WebMCP"
				}
				t.Run(name, func(t *testing.T) {
					s := newSite(t)
					page := b.Open(s.host(body, ""))
					defer page.Close()
					raw, err := s.hub.Calls.Call(t.Context(), call.Request{By: tester, Name: s.name("lib"), Args: []byte(`{"n":5}`)})
					if err != nil || !strings.Contains(string(raw), `{"type":"text","text":"n is 5"}`) || strings.Contains(string(raw), "isError") {
						t.Errorf("reply %s %v", raw, err)
					}
					if n := page.Eval("runs"); n != "1" {
						t.Errorf("the tool ran %s times", n)
					}
					if names := s.names(); len(names) != 1 {
						t.Errorf("tools %v, want one", names)
					}
				})
			}
		}
	}
}

// Pages that embed the published relay's widget join the hub unchanged.
func TestPublishedWidget(t *testing.T) {
	t.Parallel()
	needPackages(t)
	s := newSite(t)
	_, port, _ := net.SplitHostPort(s.addr)
	url := s.host(`<body><script src="/npm/@mcp-b/global/dist/index.iife.js"></script><script>
		let runs = 0;
		document.modelContext.registerTool({name: "one", description: "first", inputSchema: {type: "object", properties: {n: {type: "integer"}}},
			execute: async ({n}) => { runs++; return {content: [{type: "text", text: "n is " + n}]} }});
		document.modelContext.registerTool({name: "fails", description: "d", execute: async () => { throw new Error("out of stock") }});
	</script><script src="/npm/@mcp-b/webmcp-local-relay/dist/browser/embed.js" data-relay-port="`+port+`"></script>`, "")
	page := chromium.Shared(t, chromium.Options{}).Open(url)
	if r := s.call("one", `{"n":1}`); r.IsError || r.text() != "n is 1" {
		t.Errorf("reply %+v", r)
	}
	if r := s.call("fails", `{}`); !r.IsError {
		t.Errorf("fails: %+v", r)
	}
	// The widget's own server and the page are one origin, so the claim is true.
	if want := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"); string(s.hub.Tabs(nil)[0].Domains[0].Domain) != want {
		t.Errorf("domain %q, want %q", s.hub.Tabs(nil)[0].Domains[0].Domain, want)
	}
	s.stop()
	s.start()
	if r := s.call("one", `{"n":2}`); r.IsError || r.text() != "n is 2" {
		t.Errorf("after a restart of the hub: %+v", r)
	}
	if n := page.Eval("runs"); n != "2" {
		t.Errorf("the tool ran %s times for two calls", n)
	}

	page.Reload()
	s.await("tab 1 after a reload", func() bool { return len(s.numbers()) == 1 && s.numbers()[0] == 1 })
}
