package extension_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest"
)

// site serves pages by path.
func site(t testing.TB, pages map[string]string) string {
	t.Helper()
	return siteAt(t, "127.0.0.1", pages)
}

// insecureSite is site at an address of this machine that browsers do not trust as they
// trust its loopback addresses: scripts there lack what secure contexts have.
func insecureSite(t testing.TB, pages map[string]string) string {
	t.Helper()
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range addrs {
		if ip, ok := addr.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			return siteAt(t, ip.IP.String(), pages)
		}
	}
	missing(t, "this machine has no address but loopback ones")
	return ""
}

func siteAt(t testing.TB, host string, pages map[string]string) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		kind := "text/html; charset=utf-8"
		if strings.HasSuffix(r.URL.Path, ".js") {
			kind = "text/javascript; charset=utf-8"
		}
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, page)
	}))
	if err := s.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// published returns the script of an npm package as it is published.
func published(t testing.TB, name string) string {
	t.Helper()
	script, err := os.ReadFile("node_modules/" + name + "/dist/index.iife.js")
	if err != nil {
		missing(t, "the npm packages are not installed: run npm ci in tabtransport/extension")
	}
	return string(script)
}

// bundled returns a script of testdata/libraries with all that it imports.
func bundled(t testing.TB, name string) string {
	t.Helper()
	if _, err := os.Stat("node_modules"); err != nil {
		missing(t, "the npm packages are not installed: run npm ci in tabtransport/extension")
	}
	return tabtest.Bundle(t, "testdata/libraries/"+name)
}

// missing skips the test, or fails it in CI, where nothing may be missing.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// shop is a page with tools of every kind, registered with the browser itself.
const shop = `<!doctype html><title>Shop</title>
<form toolname="search" tooldescription="Searches the shop" toolautosubmit>
	<input name="q" required toolparamdescription="What to look for">
</form>
<script>
window.counts = {};
const count = name => window.counts[name] = (window.counts[name] ?? 0) + 1;
const add = (name, execute, more = {}) =>
	document.modelContext.registerTool({name, description: 'Does ' + name, execute: (...a) => { count(name); return execute(...a); }, ...more});
add('echo', input => input, {
	inputSchema: {type: 'object', properties: {text: {type: 'string', description: 'Said back'}}, required: ['text']},
	annotations: {readOnlyHint: true},
});
add('words', () => 'plain words');
add('rich', () => ({content: [{type: 'text', text: 'a'}, {type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo='}], structuredContent: {n: 1}, isError: false}));
add('throws', () => { throw new Error('the cart is empty'); });
add('big', ({n}) => ({content: [{type: 'text', text: 'x'.repeat(n)}]}));
add('slow', ({ms}, {signal}) => new Promise((done, fail) => {
	setTimeout(() => done('late'), ms);
	signal.addEventListener('abort', () => { document.title = 'aborted: ' + signal.reason?.message; fail(signal.reason); });
}), {inputSchema: {type: 'object', properties: {ms: {type: 'number'}}}});
</script>`

var shopTools = []string{"search", "echo", "words", "rich", "throws", "big", "slow"}
