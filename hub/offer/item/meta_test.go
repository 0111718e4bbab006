package item

import (
	"encoding/json"
	"testing"

	"tabhub/spec"
)

// Hosts obey `_meta`: a page's may say what is its own, and nothing to them.
func TestMetaOf(t *testing.T) {
	for _, c := range []struct {
		domain spec.Domain
		meta   string
		want   string
	}{
		{"example.com", `{"tags":["a", "b"],"com.example/x":1.0,"com.example.sub/y":{"z":[1e2]}}`, `{"tags":["a", "b"],"com.example/x":1.0,"com.example.sub/y":{"z":[1e2]}}`},
		{"shop.example.com:8443", `{"com.example.shop/x":1,"com.example/x":2}`, `{"com.example.shop/x":1}`},
		{"xn--mnchen-3ya.de", `{"de.xn--mnchen-3ya/x":1}`, `{"de.xn--mnchen-3ya/x":1}`},
		{"example.com", `{"com.example/x":"a\u202eb\udb40\udc41","tags":["\u200bt"]}`, `{"com.example/x":"ab","tags":["t"]}`},
		{"example.com", `{"tags":"a","progressToken":1,"k":1,"com.examples/x":1,"com.example":1,"com.example/":1,"com.example/a/b":1,"com.example/a b":1,"COM.EXAMPLE/x":1,"com.example/a\u200b":1}`, ``},
		{"example.com", `{"openai/outputTemplate":"ui://x","openai/widgetAccessible":true,"anthropic/maxResultSizeChars":9,"ui/resourceUri":"ui://x","ui":{"resourceUri":"ui://x"},"mcpui.dev/ui":1}`, ``},
		{"example.com", `{"tabhub/proxy":{"proxyAction":"call"},"\u0074abhub/proxy":1,"io.modelcontextprotocol/serverInfo":{}}`, ``},
		{"modelcontextprotocol.io", `{"io.modelcontextprotocol/subscriptionId":1}`, ``},
		{"mcp.dev", `{"dev.mcp/x":1}`, ``},
		{"example.com", `{"com.example.mcp/x":1}`, ``},
		{"unverified_example.com", `{"com.example/x":1,"tags":["t"]}`, `{"tags":["t"]}`},
		{"http_example.com", `{"com.example/x":1}`, ``},
		{"openai", `{"openai/x":1}`, ``},
		{"localhost:5173", `{"localhost/x":1}`, ``},
		{"app.localhost", `{"localhost.app/x":1}`, ``},
		{"127.0.0.1:3000", `{"1.0.0.127/x":1}`, ``},
		{"0_0_0_0_0_0_0_1", `{"0_0_0_0_0_0_0_1/x":1}`, ``},
		{"example.com", `"text"`, ``},
		{"example.com", `{}`, `{}`},
	} {
		if got := string(metaOf(c.domain, json.RawMessage(c.meta))); got != c.want {
			t.Errorf("of %s passes of\n%s\n%s, want\n%s", c.domain, c.meta, got, c.want)
		}
	}
}

// The rule is the same for what calls return, wherever MCP has `_meta` there. What is
// the page's own data stays.
func TestPublish(t *testing.T) {
	it := &Item{Provenance: Provenance{Domain: "example.com", Origin: "https://example.com", Verified: true}}
	for _, c := range []struct{ result, want string }{
		{`{ "content" : [ { "type":"text","text":"{\"_meta\":1}" } ],"n":1.0 }`, `{ "content" : [ { "type":"text","text":"{\"_meta\":1}" } ],"n":1.0 }`},
		{`{"content":[],"_meta":{"openai/outputTemplate":"ui://x"}}`, `{"content":[]}`},
		{`{"content":[],"\u005fmeta":{"openai/outputTemplate":"ui://x"}}`, `{"content":[]}`},
		{`{"_meta":{"a/b":1},"content":[],"_meta":{"com.example/x":1.0,"tabhub/proxy":{}}}`, `{"content":[],"_meta":{"com.example/x":1.0}}`},
		{`{"content":[{"type":"text","text":"a","_meta":{"ui":1}},7,{"type":"resource","resource":{"uri":"ui://x","text":"<p>","_meta":{"mcpui.dev/ui":1}}}]}`,
			`{"content":[{"type":"text","text":"a"},7,{"type":"resource","resource":{"uri":"ui://x","text":"<p>"}}]}`},
		{`{"content":[{"type":"resource_link","uri":"x:y","name":"n","icons":[{"src":"http://169.254.169.254/"},{"src":"https://example.com/i.png"}]}]}`,
			`{"content":[{"type":"resource_link","uri":"x:y","name":"n","icons":[{"src":"https://example.com/i.png"}]}]}`},
		{`{"contents":[{"uri":"x:y","text":"","_meta":{"a/b":1}}],"_meta":null}`, `{"contents":[{"uri":"x:y","text":""}]}`},
		{`{"messages":[{"role":"user","content":{"type":"text","text":"hi","_meta":{"a/b":1}}}]}`, `{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}`},
		{`{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"m","_meta":{"progressToken":1}}}}}`,
			`{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"message":"example.com asks: m"}}}}`},
		{`{"inputRequests":{"k":{"params":{"message":" \u200b","n":1}},"l":{"params":{"message":null}}}}`,
			`{"inputRequests":{"k":{"params":{"n":1}},"l":{"params":{}}}}`},
		// The hub asks with the same means: no page can speak in its name.
		{`{"inputRequests":{"tabhub/consent-1":{"method":"elicitation/create","params":{}},"k":{"params":{"message":"\n\ntabhub asks:\u202e ok?","mess\u0061ge":"two"}},"n":1}}`,
			`{"inputRequests":{"k":{"params":{"message":"example.com asks: tabhub asks: ok?","message":"example.com asks: two"}},"n":1}}`},
		{`{"content":[],"structuredContent":{"_meta":{"a/b":1},"icons":["x"]}}`, `{"content":[],"structuredContent":{"_meta":{"a/b":1},"icons":["x"]}}`},
	} {
		if got := string(it.publishAll(json.RawMessage(c.result))); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.result, got, c.want)
		}
	}
}

// A client loads an icon from where it is, on behalf of a page that may not.
func TestIcons(t *testing.T) {
	site := &Item{Provenance: Provenance{Domain: "example.com", Origin: "https://example.com", Verified: true}}
	local := &Item{Provenance: Provenance{Domain: "localhost:5173", Origin: "http://localhost:5173", Verified: true}}
	printer := &Item{Provenance: Provenance{Domain: "192.168.1.5", Origin: "https://192.168.1.5", Verified: true}}
	liar := &Item{Provenance: Provenance{Domain: "unverified_192.168.1.5", Origin: "https://192.168.1.5"}}
	plain := &Item{Provenance: Provenance{Domain: "http_example.com", Origin: "http://example.com", Verified: true}}
	const png = "data:image/png;base64,iVBORw0KGgo="
	big := "data:image/png;base64,"
	for len(big) <= maxInlineIcon {
		big += "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	}
	for _, c := range []struct {
		of   *Item
		src  string
		want bool
	}{
		{site, "https://example.com/i.png", true},
		{site, "https://cdn.example.net:8443/i.svg?v=1", true},
		{site, "HTTPS://CDN.example.net/i.png", true},
		{site, png, true},
		{site, big, false},
		{site, "data:image/svg+xml;base64,PHN2Zz4=", false},
		{site, "data:image/svg+xml,<svg onload=alert(1)>", false},
		{site, "data:text/html;base64,PHA+", false},
		{site, "data:image/png;base64,iVBORw0KGgo=\n", false},
		{site, "javascript:alert(1)", false},
		{site, "file:///etc/passwd", false},
		{site, "blob:https://example.com/1", false},
		{site, "i.png", false},
		{site, "//example.com/i.png", false},
		{site, "http://example.com/i.png", false},
		{site, "http://169.254.169.254/latest/meta-data/", false},
		{site, "https://169.254.169.254/", false},
		{site, "https://127.0.0.1:3300/", false},
		{site, "https://[::1]/", false},
		{site, "https://[fe80::1]/", false},
		{site, "https://8.8.8.8/i.png", false},
		{site, "https://2130706433/", false},
		{site, "https://0x7f.1/", false},
		{site, "https://127.1/", false},
		{site, "https://localhost/", false},
		{site, "https://a.localhost./", false},
		{site, "https://nas.local/", false},
		{site, "https://router/", false},
		{site, "https://metadata.google.internal/", false},
		{site, "https://user:password@example.com/", false},
		{site, `https://example.net\@127.0.0.1/`, false},
		{site, "https://example.com/\u202e.png", false},
		{local, "http://localhost:5173/i.png", true},
		{local, "http://localhost:3300/", false},
		{local, "http://127.0.0.1:5173/", false},
		{printer, "https://192.168.1.5/i.png", true},
		{printer, "https://192.168.1.6/i.png", false},
		{liar, "https://192.168.1.5/i.png", false},
		{plain, "http://example.com/i.png", false},
	} {
		if got := c.of.mayLoad(c.src); got != c.want {
			t.Errorf("%s on %s: %t", c.src, c.of.Origin, got)
		}
	}
	icons := `[{"src":"javascript:x"},{"src":"https://example.com/a.png","sizes":["1x1"],"odd":1},{"src":"https://example.com/b.png","mimeType":"a\u202eb"},{"src":"` + png + `"}]`
	warn := func(err error) { t.Errorf("warned of %v", err) }
	got := site.iconsOf(json.RawMessage(icons), warn)
	if want := `[{"src":"https://example.com/a.png","sizes":["1x1"]},{"src":"` + png + `"}]`; string(got) != want {
		t.Errorf("left are %s, want %s", got, want)
	}
	if got := site.iconsOf(json.RawMessage(`[{"src":"javascript:x"}]`), warn); got != nil {
		t.Errorf("left are %s", got)
	}
}
