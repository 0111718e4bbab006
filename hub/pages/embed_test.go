package pages_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"tabhub/hub/pages"
	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

const offerOne = `<script>tabhub.registerTool({name: "here", description: "d", execute: (args, {progress}) => { progress(1, 2, "half"); return "origin " + location.origin }})</script>`

// A page whose policy forbids it a connection joins through the widget, as itself
// and not as the hub.
func TestEmbed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	policy := "default-src 'none'; script-src http://HUB 'unsafe-inline'; frame-src http://HUB"
	url := s.host(`<body><script src="http://HUB/embed.js"></script>`+offerOne, policy)
	b := chromium.Shared(t, chromium.Options{})
	page := b.Open(url)
	var steps []spec.Progress
	r := s.send(t.Context(), s.name("here"), `{}`, func(p spec.Progress) { steps = append(steps, p) })
	if want := "origin " + strings.TrimSuffix(url, "/"); r.text() != want || len(steps) != 1 {
		t.Errorf("reply %+v, progress %v, want %q", r, steps, want)
	}
	tab := s.hub.Tabs(nil)[0]
	if want := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"); string(tab.Domains[0].Domain) != want {
		t.Errorf("the page's domain is %q, want %q", tab.Domains[0].Domain, want)
	}
	page.Reload()
	page.WaitFor(`tabhub.status.state === "open"`)
	s.awaitNumbers("reloaded", 1)

	s.stop()
	page.WaitFor(`tabhub.status.state === "waiting"`)
	s.start()
	s.awaitNumbers("after a restart of the hub", 1)
	if r := s.call("here", `{}`); r.IsError {
		t.Errorf("a call after the restart: %+v", r)
	}

	// The same page with /tab.js says why it cannot join.
	page = b.Open(s.host(`<script src="http://HUB/tab.js"></script>`+offerOne, policy))
	page.WaitFor(`["waiting", "refused"].includes(tabhub.status.state)`)
}

// A page that frames the widget may say in its hello what it likes: the widget
// writes over it, and the hub takes no second hello.
func TestWidgetTellsTheBrowsersWord(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	url := s.host(`<body><script>
		const frames = [], closed = [];
		const widget = document.createElement("iframe");
		widget.src = "http://HUB/widget.html";
		addEventListener("message", ({data, source}) => {
			if (source !== widget.contentWindow || data !== "tabhub.ready") return;
			const {port1, port2} = new MessageChannel();
			widget.contentWindow.postMessage("tabhub.connect", "*", [port2]);
			const lie = {"tabhub/pageOrigin": "https://bank.example"};
			const hello = (id) => ({frame: JSON.stringify({jsonrpc: "2.0", id, method: "browser/hello", params: {protocolVersion: "tabhub.v1", tabKey: "k", extensions: lie}})});
			port1.onmessage = ({data}) => {
				if (data.open) { port1.postMessage(hello(1)); port1.postMessage(hello(2)) }
				else if (data.frame) { frames.push(data.frame); if (frames.length === 2) port1.postMessage({frame: JSON.stringify({jsonrpc: "2.0", method: "browser/registerTools", params: {tools: [{name: "lie", inputSchema: {type: "object"}}], tabUrl: "https://bank.example/"}})}) }
				else closed.push(data);
			};
		});
		document.body.append(widget);
	</script>`, "")
	page := chromium.Shared(t, chromium.Options{}).Open(url)
	page.WaitFor("frames.length === 2 || closed.length === 1")
	if second := page.Eval("frames[1] ?? ''"); second != `""` && !strings.Contains(second, "error") {
		t.Errorf("a second hello was answered with %s", second)
	}
	for _, tab := range s.hub.Tabs(nil) {
		for _, d := range tab.Domains {
			if strings.Contains(string(d.Domain), "bank") {
				t.Errorf("the page passes for %s", d.Domain)
			}
		}
	}
}

func TestWidgetOrigin(t *testing.T) {
	for member, want := range map[string]string{
		`"https://example.com"`:      "https://example.com",
		`"http://localhost:8080"`:    "http://localhost:8080",
		`"https://example.com/path"`: "",
		`"https://example.com?q"`:    "",
		`"https://u@example.com"`:    "",
		`"null"`:                     "",
		`"chrome-extension://abc"`:   "",
		`"file://"`:                  "",
		`"HTTPS://example.com"`:      "",
		`7`:                          "",
		``:                           "",
	} {
		hello := &spec.Hello{Extensions: spec.Extensions{"tabhub/pageOrigin": []byte(member)}}
		if got := pages.WidgetOrigin(hello); got != want {
			t.Errorf("%s: %q, want %q", member, got, want)
		}
	}
	if got := pages.WidgetOrigin(nil); got != "" {
		t.Errorf("no hello: %q", got)
	}
}

// Pages are sent with what keeps other people's scripts out of them.
func TestHeaders(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for path, want := range map[string][]string{
		"/demo":        {"default-src 'none'", "frame-ancestors 'none'", "script-src 'self' 'sha256-", "connect-src 'self' ws://" + s.addr},
		"/widget.html": {"default-src 'none'", "frame-ancestors *", "script-src 'sha256-", "connect-src ws://" + s.addr},
		"/tab.js":      nil,
		"/embed.js":    nil,
	} {
		resp, err := http.Get(s.url(path))
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		policy := resp.Header.Get("Content-Security-Policy")
		for _, part := range want {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: policy %q lacks %q", path, policy, part)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if resp.Header.Get("X-Content-Type-Options") != "nosniff" || len(body) == 0 {
			t.Errorf("%s: %v, %d bytes", path, resp.Header, len(body))
		}
		again, _ := http.NewRequest(http.MethodGet, s.url(path), nil)
		again.Header.Set("If-None-Match", resp.Header.Get("ETag"))
		if resp, err := http.DefaultClient.Do(again); err != nil || resp.StatusCode != http.StatusNotModified {
			t.Errorf("%s asked for again: %v %v", path, resp, err)
		}
		for method, status := range map[string]int{http.MethodHead: 200, http.MethodPost: 405} {
			req, _ := http.NewRequest(method, s.url(path), nil)
			if resp, err := http.DefaultClient.Do(req); err != nil || resp.StatusCode != status {
				t.Errorf("%s %s: %v %v", method, path, resp, err)
			}
		}
	}
	if resp, err := http.Get(s.url("/other")); err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("/other: %v %v", resp, err)
	}
}
