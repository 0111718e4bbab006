package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tabhub/spec/rawjson"
)

// plainPage offers no tools.
const plainPage = `<!doctype html><html lang=en><title>Orders</title><main><h1>Orders</h1>
	<p id=count>0 orders</p>
	<button id=order onclick="n++; count.textContent = n + ' orders'; what.append(' ' + note.value + ' ' + size.value + ' ' + gift.checked)">Order</button>
	<label>Note <input id=note></label>
	<label>Size <select id=size><option>Small<option>Large</select></label>
	<label><input id=gift type=checkbox> Gift</label>
	<label>Card number <input id=card autocomplete=cc-number value=4111111111111111></label>
	<label>CV <input id=cv type=file onchange="what.append(' ' + cv.files[0].name)"></label>
	<input id=search aria-label=Search onkeydown="if (event.key === 'Enter') what.append(' searched ' + search.value)">
	<button onclick="if (confirm('Delete all orders?')) what.append(' deleted')">Delete all</button>
	<a href="/other">Other page</a> <a href="%[1]s/pay">Payment</a>
	<p id=what></p>
	<iframe title=Bank src="%[1]s/pay" width=300 height=120></iframe>
	<script>let n = 0;</script></main>`

const payPage = `<!doctype html><html lang=en><title>Pay</title><p>Balance: 70</p><button onclick="done.textContent = 'paid'">Pay now</button><p id=done></p>`

// plainSite serves plainPage, and payPage in a frame of another site; it returns their addresses.
func plainSite(t *testing.T) (shop, bank string) {
	serve := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/":
			fmt.Fprintf(w, plainPage, bank)
		case "/pay":
			_, _ = io.WriteString(w, payPage)
		default:
			_, _ = io.WriteString(w, `<!doctype html><html lang=en><title>Other</title><h1>Another page</h1>`)
		}
	}
	a, b := httptest.NewServer(http.HandlerFunc(serve)), httptest.NewServer(http.HandlerFunc(serve))
	t.Cleanup(a.Close)
	t.Cleanup(b.Close)
	bank = strings.Replace(b.URL, "127.0.0.1", "localhost", 1)
	return a.URL, bank
}

// textOf returns the texts of a result.
func (a answer) texts() string {
	var all []string
	for block := range rawjson.Elements(rawjson.Get(a.result, "content")) {
		text, _ := rawjson.String(rawjson.Get(block, "text"))
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

// refOf returns the reference of an element in a snapshot.
func refOf(t *testing.T, snapshot, words string) string {
	t.Helper()
	m := regexp.MustCompile(regexp.QuoteMeta(words) + `(?: of \S+)? ([a-z]{3,8}[0-9]+)`).FindStringSubmatch(snapshot)
	if m == nil {
		t.Fatalf("no %s in\n%s", words, snapshot)
	}
	return m[1]
}

// A client looks at a page that offers nothing, and acts there, with a real browser.
func TestAnyPage(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	files := t.TempDir()
	if err := os.WriteFile(filepath.Join(files, "cv.txt"), []byte("me"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.serve("--uploads", files, "--policy", "careful")
	shop, bank := plainSite(t)
	site := func(url string) string { return strings.TrimPrefix(url, "http://") }
	p.succeed("policy", "set", "allow", "--class", "act", "--site", site(shop))
	p.succeed("policy", "set", "allow", "--class", "act", "--site", site(bank))
	c, other := p.stdio(), p.stdio()
	b := p.browse()
	page := b.Open(shop + "/")
	page.WaitFor("document.querySelector('iframe').contentWindow.length === 0")

	call := func(tool, format string, args ...any) answer {
		t.Helper()
		return c.call(tool, fmt.Sprintf(format, args...))
	}
	ok := func(tool, format string, args ...any) string {
		t.Helper()
		a := call(tool, format, args...)
		if a.outcome() != "ok" {
			t.Fatalf("%s: %s: %s", tool, a.outcome(), a.result)
		}
		return a.texts()
	}
	look := func() string { t.Helper(); return ok("browser_page", `{"action":"snapshot"}`) }
	fails := func(a answer, code string, words ...string) {
		t.Helper()
		if a.outcome() != code {
			t.Errorf("%s, want %s: %s", a.outcome(), code, a.result)
		}
		for _, w := range words {
			if !strings.Contains(a.texts(), w) {
				t.Errorf("without %q: %s", w, a.texts())
			}
		}
	}
	shows := func(expr, want string) {
		t.Helper()
		var got string
		if page.Into(expr, &got); got != want {
			t.Errorf("%s is %q, want %q", expr, got, want)
		}
	}

	seen := look()
	t.Logf("a snapshot:\n%s", seen)
	for _, want := range []string{`Page "Orders" ` + shop + `/ tab `, `button "Pay now"`, `Balance: 70`} {
		if !strings.Contains(seen, want) {
			t.Errorf("without %q:\n%s", want, seen)
		}
	}
	if strings.Contains(seen, "4111") {
		t.Errorf("a card's number is in\n%s", seen)
	}

	order, note, size, gift := refOf(t, seen, `button "Order"`), refOf(t, seen, `textbox "Note"`), refOf(t, seen, `combobox "Size"`), refOf(t, seen, `checkbox "Gift"`)
	t.Log(ok("browser_page", `{"action":"click","ref":%q,"changes":true}`, order))
	shows("count.textContent", "1 orders")
	ok("browser_page", `{"action":"fill","fields":[{"ref":%q,"value":"Ann's"},{"ref":%q,"value":true}]}`, note, gift)
	ok("browser_page", `{"action":"select","ref":%q,"value":"Large"}`, size)
	ok("browser_page", `{"action":"click","ref":%q}`, order)
	shows("what.textContent", "  Small false Ann's Large true")
	ok("browser_page", `{"action":"fill","ref":%q,"value":"tea"}`, refOf(t, seen, `textbox "Search"`))
	ok("browser_page", `{"action":"press","ref":%q,"key":"Enter"}`, refOf(t, seen, `textbox "Search"`))
	t.Log(ok("browser_page", `{"action":"upload","ref":%q,"files":["cv.txt"]}`, refOf(t, seen, `field "CV"`)))
	remove := refOf(t, seen, `button "Delete all"`)
	t.Log(ok("browser_page", `{"action":"click","ref":%q}`, remove))
	ok("browser_page", `{"action":"dialog","accept":true}`)
	ok("browser_page", `{"action":"click","ref":%q}`, remove)
	shows("what.textContent", "  Small false Ann's Large true searched tea cv.txt deleted")

	// In the frame of another site.
	pay := refOf(t, seen, `button "Pay now"`)
	ok("browser_page", `{"action":"click","ref":%q}`, pay)
	t.Log(ok("browser_page", `{"action":"snapshot","scope":%q}`, refOf(t, seen, `frame "Bank"`)))
	if changed := ok("browser_page", `{"action":"snapshot","changes":true}`); !strings.Contains(changed, "paid") || strings.Contains(changed, "Pay now") {
		t.Errorf("changed:\n%s", changed)
	}

	// A script: as steps, and as JavaScript.
	steps := ok("browser_script", `{"steps":[{"fill":{"field \"Note\"":"Bob's"}},{"click":"button \"Order\""},{"read":{"fields":{"orders":"paragraph #1"}}}]}`)
	t.Log(steps)
	if !strings.Contains(steps, "3 orders") {
		t.Errorf("steps: %s", steps)
	}
	code, _ := json.Marshal(map[string]string{"code": `for (let i = 0; i < 2; i++) await page.click('button "Order"'); const all = await page.find('button'); return all.map(({name}) => name);`})
	a := c.call("browser_script", string(code))
	t.Log(a.texts())
	if a.outcome() != "ok" || !strings.Contains(a.texts(), "Delete all") {
		t.Errorf("code: %s", a.result)
	}
	shows("count.textContent", "5 orders")
	fails(call("browser_script", `{"steps":[{"click":"button \"Order\""},{"click":"button \"Nothing\""}]}`), "STEP_NOT_FOUND", "Step 2 of 2", "Step 1 was done", "Look at the page")

	// A picture with numbers.
	shot := call("browser_page", `{"action":"screenshot","numbered":true}`)
	if typ, _ := rawjson.String(rawjson.Get(shot.result, "content", "0", "type")); shot.outcome() != "ok" || !strings.Contains(shot.texts(), order) {
		t.Errorf("a picture: %s %.400s", typ, shot.result)
	}

	// Whose tab it is, and the record.
	tab := regexp.MustCompile(`tab (\S+)`).FindStringSubmatch(seen)[1]
	fails(other.call("browser_page", fmt.Sprintf(`{"action":"click","tabId":%q,"ref":%q}`, tab, order)), "TAB_LEASED")
	if log := p.succeed("log"); !strings.Contains(log, "browser_page click") || !strings.Contains(log, "browser_script") {
		t.Errorf("the record:\n%s", log)
	}

	// A client that has lost the answer makes the same request again: it is the same act.
	call("browser_tab", `{"action":"release"}`)
	h := p.http()
	for range 2 {
		if a := h.ask("tools/call", fmt.Sprintf(`{"name":"browser_page","arguments":{"action":"click","tabId":%q,"ref":%q}}`, tab, order)); a.outcome() != "ok" {
			t.Errorf("clicked again: %s", a.result)
		}
		h.lastID--
	}
	shows("count.textContent", "7 orders")
	h.ask("tools/call", `{"name":"browser_tab","arguments":{"action":"release"}}`)

	// An owner's own call has no session.
	if stdout, _, exit := p.run("call", "browser_page", fmt.Sprintf(`{"action":"snapshot","tabId":%q,"find":"order"}`, tab)); exit != 0 || !strings.Contains(stdout, `button "Order"`) {
		t.Errorf("the owner's snapshot: %d %s", exit, stdout)
	}

	// What leads elsewhere; what is denied; what is not there any more.
	lead := refOf(t, seen, `link "Payment"`)
	p.succeed("policy", "set", "deny", "--site", site(bank))
	p.succeed("policy", "set", "deny", "--class", "act", "--site", site(bank)) // which was allowed
	fails(call("browser_page", `{"action":"click","ref":%q}`, lead), "DENIED", "localhost")
	fails(call("browser_page", `{"action":"click","ref":%q}`, pay), "DENIED", "localhost")
	if again := look(); strings.Contains(again, "Balance") || !strings.Contains(again, "not shown") {
		t.Errorf("a denied frame:\n%s", again)
	}
	t.Log(ok("browser_page", `{"action":"click","ref":%q}`, refOf(t, seen, `link "Other page"`)))
	fails(call("browser_page", `{"action":"click","ref":%q}`, order), "STALE_REF", "nothing was done")
}
