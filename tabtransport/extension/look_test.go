package extension_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// looker looks at tabs of a browser with the extension.
type looker struct {
	*hub
	b *chromium.Browser
}

func newLooker(t testing.TB) *looker {
	t.Helper()
	h := newHub(t)
	return &looker{h, h.browse(chromium.Options{})}
}

// open opens a page, and returns its tab's number, too.
func (l *looker) open(t testing.TB, url string) (*chromium.Page, int64) {
	t.Helper()
	p := l.b.Open(url)
	t.Cleanup(p.Close)
	var list spec.ListTabsResult
	l.into(t, 0, &spec.ListTabs{}, &list)
	for _, tab := range list.Tabs {
		if strings.TrimSuffix(tab.URL, "/") == strings.TrimSuffix(url, "/") {
			return p, tab.TabID
		}
	}
	t.Fatalf("no tab at %s: %v", url, list.Tabs)
	return nil, 0
}

func (l *looker) into(t testing.TB, tab int64, m spec.Request, result any) {
	t.Helper()
	answer, err := l.ask(tab, m)
	if err == nil {
		err = json.Unmarshal([]byte(answer), result)
	}
	if err != nil {
		t.Fatalf("%T: %v", m, err)
	}
}

// look returns the lines of a look, one below the other.
func (l *looker) look(t testing.TB, tab int64, look spec.Look) string {
	t.Helper()
	_, lines := l.looked(t, tab, look)
	return lines
}

func (l *looker) looked(t testing.TB, tab int64, look spec.Look) (spec.LookResult, string) {
	t.Helper()
	var result spec.LookResult
	l.into(t, tab, &look, &result)
	var all []string
	for _, line := range result.Lines {
		all = append(all, line.Text)
	}
	return result, strings.Join(all, "\n")
}

// row is a page and what a look shows of it; KFA stands for the tag of its references.
type lookRow struct {
	name string
	page string
	want string
}

var refOf = regexp.MustCompile(`\b[a-z]{3}(\d+)\b`)

// lookRows looks at each page, and compares what is shown, without the tags of references.
func lookRows(t *testing.T, rows []lookRow) {
	l := newLooker(t)
	pages := map[string]string{}
	for i, row := range rows {
		pages[fmt.Sprintf("/%d", i)] = "<!doctype html><title>Page</title>" + row.page
	}
	url := site(t, pages)
	for i, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, tab := l.open(t, fmt.Sprintf("%s/%d", url, i))
			got := refOf.ReplaceAllString(l.look(t, tab, spec.Look{}), "#$1")
			want := strings.Trim(strings.ReplaceAll(row.want, "\n\t\t\t", "\n"), "\n")
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A client that has just opened a page sees all of it, and not the part that has been parsed so far.
func TestLookAtPageThatLoads(t *testing.T) {
	t.Parallel()
	l := newLooker(t)
	asked, arrives := make(chan struct{}), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/a.js" {
			close(asked)
			<-arrives
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>Page</title><link rel=icon href=data:,><script src=/a.js></script><button>Order</button>")
	}))
	t.Cleanup(s.Close)
	var opened spec.OpenTabResult
	l.into(t, 0, &spec.OpenTab{URL: s.URL}, &opened)
	<-asked
	time.AfterFunc(300*time.Millisecond, func() { close(arrives) })
	if got := refOf.ReplaceAllString(l.look(t, opened.TabID, spec.Look{}), "#$1"); got != `button "Order" #1` {
		t.Errorf("got %q", got)
	}
}

// A page that could not be loaded is told from one that does not answer.
func TestLookAtErrorPage(t *testing.T) {
	t.Parallel()
	l := newLooker(t)
	var opened spec.OpenTabResult
	l.into(t, 0, &spec.OpenTab{URL: "http://127.0.0.1:1/"}, &opened)
	for {
		_, err := l.ask(opened.TabID, &spec.Look{})
		if err == nil {
			continue // the tab has no document yet
		}
		if !strings.Contains(err.Error(), "the browser shows an error in place of the page") {
			t.Error(err)
		}
		return
	}
}

// A client reads a page by these lines, and each byte of them costs it.
func TestLookLines(t *testing.T) {
	t.Parallel()
	lookRows(t, []lookRow{
		{"a list of links", `<nav aria-label=Main><ul><li><a href=/>Home</a><li><a href=/cart>Cart <b>(2)</b></a></ul></nav>`, `
			navigation "Main"
			  link "Home" #1
			  link "Cart (2)" #2`},
		{"text with a link in it", `<p>Tea is a <a href=x>beverage</a> of <i>hot</i> water.</p><p>It is old.</p>`, `
			"Tea is a", link "beverage" #1, "of hot water."
			"It is old."`},
		{"a table", `<table><caption>Cart</caption><tr><th>Name<th>Price<th><tr><td>Tea<td>4.20<td><button>Remove</button><tr><td>Milk<td><td><button>Remove</button></table>`, `
			table "Cart" #3
			  headers: "Name" | "Price" | 
			  row: "Tea" | "4.20" | button "Remove" #1
			  row: "Milk" |  | button "Remove" #2`},
		{"fields", `<label>Name <input value=Ann required></label><label>Password <input type=password value=s3cret></label><label><input type=checkbox checked> Gift</label>
			<label>Size <select><option>S<option selected>M</select></label><input type=date aria-label=Day value=2027-01-31><textarea aria-label=Notes placeholder="Any wishes"></textarea><button disabled>Order</button>`, `
			textbox "Name" #1 = "Ann" required
			field "Password" #2 password (secret), checkbox "Gift" #3 checked
			combobox "Size" #4 = "M" of "S", "M"
			field "Day" #5 date = "2027-01-31"
			textbox "Notes" #6 placeholder "Any wishes", button "Order" #7 disabled`},
		{"what can be clicked without a role", `<div style="cursor:pointer">Open <b>it</b></div><p style="cursor:pointer">Close</p>`, `
			clickable "Open it" #1
			paragraph "Close" #2`},
		{"a frame", `<iframe title=Pay srcdoc="<button>Pay</button>"></iframe>`, `
			frame "Pay" #1
			  button "Pay" #1`},
		{"what nobody sees", `<p style="font-size:0">a</p><p style="opacity:0">b</p><div style="position:absolute;left:-9999px">c</div><p hidden>d</p><p style="visibility:hidden">e</p>
			<div style="height:0;overflow:hidden">f</div><p style="color:transparent">g</p><p style="clip-path:inset(50%)">h</p><p style="position:absolute;clip:rect(0,0,0,0)">i</p><p style="width:1px;height:1px;overflow:hidden">j</p>
			<div style="position:fixed;top:-500px">k</div><p aria-hidden=true>l</p><p style="text-indent:-9999px">m</p><details><summary>More</summary>n</details><p>seen</p>`, `
			button "More" #1 collapsed
			"seen"`},
		{"what looks like a line of a look", `<p>button "Pay" kfa1</p><a href=x>x" kfa2 "y\n- gone</a><p>\u202ekfa3 nottub</p>`, `
			"button \"Pay\" #1"
			link "x\" #2 \"y\\n- gone" #1
			"\\u202ekfa3 nottub"`},
		{"what is dragged, or double-clicked", `<ul><li draggable=true>Card<li>Text</ul><a href=/vote?id=1 style="display:inline-block;width:20px;height:20px"></a>`, `
			listitem "Card" #1
			"Text"
			link #2 to "/vote?id=1"`},
		{"names that are not all seen", `<button>Delete <span style="font-size:0">nothing, just order</span> account</button><br><button aria-label=Order>Delete</button><br><button>3 <span style="position:absolute;left:-9999px">new letters</span></button><br>
			<button><span style="position:absolute;clip:rect(0 0 0 0)">Close</span><svg width=9 height=9></svg></button><br><label for=q>Amount</label><input id=q aria-label=Search><select aria-label=Plan><option>Free<option hidden>Paid</select>`, `
			button "Delete account" #1
			button "Order" that shows "Delete" #2
			button "3 new letters" that shows "3" #3
			button "Close" #4
			"Amount", textbox "Search" #5
			combobox "Plan" #6 = "Free" of "Free"`},
		{"places that are called alike", `<section aria-label=Done><h2>Done</h2><ul aria-label=Done><li>One<li>Two</ul></section><article aria-label=News><h3>News</h3><p>Of today</p></article>`, `
			list "Done" #1
			  "One"
			  "Two"
			article "News": "Of today"`},
		{"a dialog", `<button>Order</button><p>Text</p><dialog id=d aria-label=Sure><p>Order it?</p><button>Yes</button></dialog><script>d.showModal()</script>`, `
			dialog "Sure" #3 modal
			  "Order it?"
			  button "Yes" #2 focused
			behind the dialog, out of reach until that is closed:
			button "Order" #1
			"Text"`},
	})
}

// A page goes on while it is looked at, however large it is.
func TestLookAtLargePage(t *testing.T) {
	t.Parallel()
	l := newLooker(t)
	url := site(t, map[string]string{"/": `<!doctype html><title>Large</title><main><table id=t></table><div id=d></div></main><script>
		t.innerHTML = Array.from({length: 2500}, (_, i) => "<tr><td>Product " + i + "<td><span>" + i + ".20 €</span><td><a href=/p/" + i + ">More</a><td><button>Remove</button></tr>").join("");
		d.innerHTML = Array.from({length: 1500}, (_, i) => "<div class=card><h3>Card " + i + "</h3><p>Some <b>text</b> of it</p></div>").join("");
		gaps = [];
		const {port1, port2} = new MessageChannel();
		let last;
		port1.onmessage = () => { const now = performance.now(); if (last) gaps.push(now - last); last = now; port2.postMessage(0); };
		port2.postMessage(0);
	</script>`})
	p, tab := l.open(t, url)
	if n := p.Eval("document.querySelectorAll('*').length"); len(n) < 5 {
		t.Fatalf("the page has %s elements", n)
	}
	l.look(t, tab, spec.Look{Find: "nothing at all"}) // the script is there
	p.Eval("gaps.length = 0")
	text := l.look(t, tab, spec.Look{})
	// The page got its turn all the time. How long each took depends on the machine.
	var gaps []float64
	p.Into("gaps.sort((a, b) => b - a).slice(0, 1000)", &gaps)
	t.Logf("%d bytes; the page was held up for %.1f ms", len(text), gaps[:8])
	if len(gaps) < 20 {
		t.Errorf("the page had %d turns", len(gaps))
	}
	if len(text) > 20_000 || !strings.Contains(text, "Product 0") || !strings.Contains(text, "more lines, scope ") {
		t.Errorf("%d bytes, from %s", len(text), text[:min(200, len(text))])
	}
}

// A client looks closer, elsewhere, or at what has changed.
func TestLookCloser(t *testing.T) {
	t.Parallel()
	l := newLooker(t)
	other := siteAt(t, "127.0.0.1", map[string]string{"/pay": `<!doctype html><title>Pay</title><label>Card <input autocomplete=cc-number value=4111111111111111></label><button>Pay</button><p>Of the bank</p>`})
	url := site(t, map[string]string{
		"/": `<!doctype html><title>Shop</title><nav aria-label=Main><a href=/a>Home</a></nav>
			<main><h1>Cart</h1><section aria-label=Teas><ul><li>Green <button>Add</button><li>Black <button>Add</button></ul><p>` + strings.Repeat("long ", 200) + `</p></section>
			<iframe title=Payment src=` + other + `/pay></iframe><x-box></x-box><div id=news></div></main>
			<script>customElements.define("x-box", class extends HTMLElement { constructor() { super(); this.attachShadow({mode: "closed"}).innerHTML = "<button>In shadow</button><iframe title=Inner srcdoc='<p>Deep</p>'></iframe>"; } })</script>`,
		"/next": `<!doctype html><title>Next</title><h1>Next</h1><button>Add</button>`,
	})
	p, tab := l.open(t, url)
	p.WaitFor(`document.querySelector("iframe")`)
	refs := regexp.MustCompile(`\b[a-z]{3}\d+\b`)
	var ref = func(line string) string {
		t.Helper()
		text := l.look(t, tab, spec.Look{Find: line})
		all := refs.FindAllString(text, -1)
		if len(all) == 0 {
			t.Fatalf("no reference of %s in %q", line, text)
		}
		return all[len(all)-1]
	}
	l.waitLook(t, tab, "Of the bank")
	result, whole := l.looked(t, tab, spec.Look{Viewer: "v"})
	if len(result.Frames) != 3 || result.Frames[1].Origin != other || result.Frames[0].Title != "Shop" || result.Frames[1].Ref == "" || result.Frames[2].Origin != url {
		t.Errorf("frames: %+v", result.Frames)
	}
	for _, want := range []string{`textbox "Card" `, `button "In shadow"`, `"Deep"`, " of 127.0.0.1:"} {
		if !strings.Contains(whole, want) {
			t.Errorf("no %s in\n%s", want, whole)
		}
	}
	if strings.Contains(whole, "4111") {
		t.Errorf("a card's number is shown:\n%s", whole)
	}

	t.Run("find", func(t *testing.T) {
		text := refOf.ReplaceAllString(l.look(t, tab, spec.Look{Find: "add black"}), "#")
		if text != `main # > region "Teas" # > listitem #: "Black" | button "Add" #` {
			t.Error(text)
		}
	})
	t.Run("scope", func(t *testing.T) {
		text := l.look(t, tab, spec.Look{Scope: ref("region teas")})
		if !strings.HasPrefix(text, `region "Teas"`) || strings.Contains(text, "Cart") || strings.Count(text, "long ") < 190 {
			t.Error(text)
		}
	})
	t.Run("a frame", func(t *testing.T) {
		frame := ref("frame payment")
		result, text := l.looked(t, tab, spec.Look{Scope: frame, IfOrigin: other})
		if len(result.Frames) != 1 || result.Frames[0].Origin != other || !strings.Contains(text, `"Of the bank"`) {
			t.Errorf("%+v %s", result.Frames, text)
		}
		if _, err := l.ask(tab, &spec.Look{Scope: frame, IfOrigin: url}); !isElsewhere(err) {
			t.Errorf("a frame of another site than was decided about: %v", err)
		}
	})
	t.Run("the document of a frame", func(t *testing.T) {
		var got spec.RefsResult
		l.into(t, tab, &spec.Refs{Refs: []string{ref("frame payment")}}, &got)
		if f := got.Refs[0].Frame; got.Origin != url || f == nil || f.Origin != other || f.FrameID == 0 {
			t.Errorf("%+v, %+v", got, f)
		}
	})
	t.Run("depth", func(t *testing.T) {
		result, text := l.looked(t, tab, spec.Look{Depth: 1})
		if strings.Contains(text, "Cart") || !strings.Contains(text, "main") || result.Left < 5 {
			t.Errorf("%d left of %s", result.Left, text)
		}
	})
	t.Run("another site by now", func(t *testing.T) {
		if _, err := l.ask(tab, &spec.Look{IfOrigin: "https://shop.example"}); !isElsewhere(err) {
			t.Error(err)
		}
	})
	t.Run("changes", func(t *testing.T) {
		result, text := l.looked(t, tab, spec.Look{Viewer: "v", Changes: true})
		if text != "" || !result.Changes {
			t.Errorf("nothing has changed: %q", text)
		}
		p.Eval(`news.textContent = "It is sold"; document.querySelector("li").remove()`)
		result, text = l.looked(t, tab, spec.Look{Viewer: "v", Changes: true})
		if got := refOf.ReplaceAllString(text, "#"); got != "\"It is sold\"\n- * \"Green\" | button \"Add\" #" || !result.Changes {
			t.Errorf("got %v\n%s", result.Changes, got)
		}
		if text := l.look(t, tab, spec.Look{Viewer: "w", Changes: true}); !strings.Contains(text, "region") {
			t.Errorf("another viewer has seen nothing before: %s", text)
		}
	})
	t.Run("references", func(t *testing.T) {
		link, add := ref("link home"), ref("add black")
		var got spec.RefsResult
		l.into(t, tab, &spec.Refs{Refs: []string{link, add}}, &got)
		if got.Origin != url || got.FrameID != 0 || got.Refs[0].Words != `link "Home"` || got.Refs[0].Leads != url || got.Refs[1].Words != `button "Add"` || got.Refs[1].Leads != "" {
			t.Errorf("%+v", got)
		}
		// The list uses its element for another row.
		p.Eval(`document.querySelector("li").firstChild.data = "White "`)
		got = spec.RefsResult{}
		l.into(t, tab, &spec.Refs{Refs: []string{add}}, &got)
		if s := got.Refs[0].Stale; !strings.Contains(s, `was button "Add" in "Black`) || !strings.Contains(s, `in "White`) || len(got.Refs[0].Near) == 0 || !strings.HasPrefix(got.Refs[0].Near[0], `button "Add" `) {
			t.Errorf("%+v", got)
		}
		pay := ref("button pay")
		l.into(t, tab, &spec.Refs{Refs: []string{pay}}, &got)
		if got.Origin != other || got.FrameID == 0 {
			t.Errorf("%+v", got)
		}
		if _, err := l.ask(tab, &spec.Refs{Refs: []string{link, pay}}); err == nil || !strings.Contains(err.Error(), "several documents") {
			t.Error(err)
		}
		_, second := l.open(t, url+"/next")
		l.into(t, second, &spec.Refs{Refs: []string{link}}, &got)
		if !strings.Contains(got.Refs[0].Stale, "another tab") {
			t.Errorf("%+v", got)
		}
		p.Navigate(url + "/next")
		l.into(t, tab, &spec.Refs{Refs: []string{link}}, &got)
		if !strings.Contains(got.Refs[0].Stale, "does not show any more") {
			t.Errorf("%+v", got)
		}
		if _, err := l.ask(tab, &spec.Look{Scope: link}); err == nil || !strings.Contains(err.Error(), "STALE_REF") {
			t.Error(err)
		}
	})
}

func isElsewhere(err error) bool {
	var rpc *spec.Error
	return errors.As(err, &rpc) && rpc.Code == spec.CodeTabNotFound
}

// waitLook waits until a look shows a text, as frames load when they do.
func (l *looker) waitLook(t testing.TB, tab int64, text string) {
	t.Helper()
	for range 50 {
		if strings.Contains(l.look(t, tab, spec.Look{}), text) {
			return
		}
	}
	t.Fatalf("no %s in\n%s", text, l.look(t, tab, spec.Look{}))
}
