package extension_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

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
			input "Password" #2 password (secret), checkbox "Gift" #3 checked
			combobox "Size" #4 = "M" of "S", "M"
			input "Day" #5 date = "2027-01-31"
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
		{"a dialog", `<button>Order</button><p>Text</p><dialog id=d aria-label=Sure><p>Order it?</p><button>Yes</button></dialog><script>d.showModal()</script>`, `
			dialog "Sure" #3 modal
			  "Order it?"
			  button "Yes" #2 focused
			behind the dialog, out of reach until that is closed:
			button "Order" #1
			"Text"`},
	})
}
