package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// What a client does on a page by itself is asked about in the page's words, and allowed for this site and this
// session; its script is shown whole; and the record says what was done.
func TestActsAreAsked(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve("--policy", "careful")
	b := p.browseWith(chromium.Options{Windows: true})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!doctype html><title>Shop</title><h1>Teas</h1><label>Name <input></label><button onclick="this.textContent = 'Ordered ' + ++window.orders">Order</button><script>orders = 0</script>`)
	}))
	t.Cleanup(site.Close)
	page := b.Open(site.URL)
	c := p.stdio()
	window := func(name string, wants ...string) *chromium.Page {
		t.Helper()
		w := b.Window("ask.html")
		w.WaitFor("document.querySelector('#answers')?.hidden === false")
		for _, want := range wants {
			if text := w.Eval("document.body.innerText.replaceAll('\"', '')"); !strings.Contains(text, want) {
				t.Errorf("the window does not say %q: %s", want, text)
			}
		}
		if dir := os.Getenv("TABHUB_PICTURES"); dir != "" && name != "" {
			w.Screenshot(filepath.Join(dir, name+".png"))
		}
		return w
	}
	look := c.call("browser_page", `{"action":"snapshot"}`)
	ref := regexp.MustCompile(`button \\\\*"Order\\\\*" ([a-z]{3}[0-9]+)`).FindStringSubmatch(string(look.result))
	if ref == nil {
		t.Fatalf("the look: %s", look.result)
	}
	click := `{"name":"browser_page","arguments":{"action":"click","ref":"` + ref[1] + `"}}`

	// A no leaves the page as it is.
	asked := c.begin("tools/call", click)
	window("act-window", "wants to click button Order on "+site.URL, "acts on the page as you would", "this site, this session").ClickLast("#no")
	if a := c.wait("the click", asked); a.outcome() != "DENIED" || page.Eval("orders") != "0" {
		t.Errorf("not allowed: %s; the page has %s orders", a.result, page.Eval("orders"))
	}

	// A script is read to its end before a yes counts, and the yes is for the session.
	code, _ := json.Marshal("for (const name of ['Ann']) {\n" + strings.Repeat("  // a long way down\n", 80) + "  await page.fill('field \"Name\"', name);\n}\nreturn await page.text('heading \"Teas\"');")
	asked = c.begin("tools/call", `{"name":"browser_script","arguments":{"code":`+string(code)+`}}`)
	w := window("script-window", "wants to run a script on "+strings.TrimPrefix(site.URL, "http://"), "no network", "Its script, 84 lines", "await page.fill(")
	if w.Eval("document.querySelector('#yes').disabled") != "true" {
		t.Error("a yes counts before the script was read")
	}
	w.Eval("document.querySelector('#reach select').value = 'session'; question.scrollTo(0, 1e6)")
	w.ClickLast("#yes")
	if a := c.wait("the script", asked); a.outcome() != "ok" || !strings.Contains(string(a.result), "Teas") || page.Eval("document.querySelector('input').value") != `"Ann"` {
		t.Errorf("allowed: %s", a.result)
	}
	if a := c.call("browser_page", `{"action":"click","ref":"`+ref[1]+`"}`); a.outcome() != "ok" || page.Eval("orders") != "1" {
		t.Errorf("in this session at this site: %s; the page has %s orders", a.result, page.Eval("orders"))
	}

	// Another session, of the same client, is asked about.
	other := p.stdio()
	asked = other.begin("tools/call", `{"name":"browser_page","arguments":{"action":"press","key":"Tab"}}`)
	if a := other.wait("a tab that is leased", asked); a.outcome() != "TAB_LEASED" {
		t.Errorf("another session acts: %s", a.result)
	}
	c.call("browser_tab", `{"action":"release"}`)
	asked = other.begin("tools/call", `{"name":"browser_page","arguments":{"action":"press","key":"Tab"}}`)
	window("", "wants to press Tab on").ClickLast("#no")
	if a := other.wait("the key", asked); a.outcome() != "DENIED" {
		t.Errorf("another session: %s", a.result)
	}

	stdout, _, _ := p.run("log", "class=act", "event=call")
	for _, want := range []string{`clicked button "Order"`, "DENIED", "browser_script"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the record does not say %q:\n%s", want, stdout)
		}
	}
	stdout, _, _ = p.run("policy", "list")
	if !strings.Contains(stdout, "acts on pages at ") {
		t.Errorf("the rules:\n%s", stdout)
	}
}
