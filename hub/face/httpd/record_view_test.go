package httpd

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// The owner finds what was done by any of its words, leafs through it, and takes all that was
// found along as a file.
func TestRecordIsSearchedAndExported(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	for i := range 120 {
		d.tenant.Hub.Core.Record(record.Entry{Time: time.Now(), Event: record.Call, Call: fmt.Sprint("c", i), Name: "claude", Domain: "shop.example", Tool: fmt.Sprintf("tool-%03d", i), Outcome: "ok"})
	}
	d.tenant.Hub.Core.Record(record.Entry{Time: time.Now(), Event: record.Call, Call: "odd", Said: `<img src=x onerror=alert(1)>`, Domain: "bank.example", Tool: "pay", Decision: "deny", Outcome: "DENIED", Reason: "because of rule r-1"})
	page := d.openDashboard()
	awaitView(page, "record")
	rows := func(n int, first string) string {
		return fmt.Sprintf(`(rows => rows.length === %d && rows[0].textContent.includes(%q))([...document.querySelectorAll("#record-rows tr")])`, n, first)
	}
	page.WaitFor(rows(50, "pay"))
	page.WaitFor(`document.querySelector("#record-rows").textContent.includes("onerror=")`)
	if got := page.Eval(`[document.querySelectorAll("main img").length, document.querySelector("#newer").hidden]`); got != `[0,true]` {
		t.Errorf("on the first page: %s", got)
	}
	page.Click("#older")
	page.WaitFor(rows(50, "tool-070"))
	page.Click("#record-rows a")
	page.WaitFor(`document.querySelector("#story").textContent.includes("tool-070")`)
	page.Eval(`void history.back()`)
	page.WaitFor(rows(50, "tool-070"))
	page.Click("#older")
	page.WaitFor(rows(21, "tool-020") + ` && document.querySelector("#older").hidden`)
	page.Click("#newer")
	page.WaitFor(rows(50, "tool-070"))
	page.Click("#newer")
	page.WaitFor(rows(50, "pay"))

	page.Click("[name=text]")
	page.Type("TOOL-11 claude")
	page.WaitFor(rows(10, "tool-119"))
	page.Eval(`URL.createObjectURL = (blob) => (window.saved = blob.text(), "blob:x")`)
	page.Click("#jsonl")
	page.WaitFor(`document.querySelector("#toasts").textContent.includes("tabhub-record.jsonl")`)
	var saved string
	page.Into("saved", &saved)
	if strings.Count(saved, "\n") != 10 || !strings.Contains(strings.SplitN(saved, "\n", 2)[0], "tool-110") {
		t.Errorf("the file has %q", saved)
	}
	page.Reload() // which does not lose what was asked for
	page.WaitFor(rows(10, "tool-119"))

	// What comes meanwhile waits until it is asked for, whatever an older hub let a page call its outcome.
	d.tenant.Hub.Core.Record(record.Entry{Time: time.Now(), Event: record.Call, Name: "claude", Tool: "tool-11-new", Outcome: "constructor"})
	page.WaitFor(`document.querySelector("#added-lines").textContent.includes("1 line has")`)
	page.Click("#added-lines")
	page.WaitFor(rows(11, "tool-11-new"))

	page.Eval(`location.hash = "#record?site=bank.example&outcome=failed"`)
	page.WaitFor(rows(1, "pay"))
	page.Click("#record-rows a")
	page.WaitFor(`document.querySelector("#story").textContent.includes("because of rule r-1")`)
	page.Click("#back")
	page.WaitFor(rows(1, "pay"))
	page.Eval(`(field => { field.value = "read-only"; field.dispatchEvent(new Event("input", {bubbles: true})) })(document.querySelector("[name=tool]"))`)
	page.WaitFor(`document.querySelector("#no-match").checkVisibility()`)
}

// The owner sees in the rules, in the record and in a call's story which pack acts, makes a rule about a pack, and
// finds what packs have done.
func TestPacksInRulesAndRecord(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	for i, pack := range []string{"", "shop-tools", "notes"} {
		d.tenant.Hub.Core.Record(record.Entry{Time: time.Now(), Event: record.Call, Call: fmt.Sprint("c", i), Name: "claude", Domain: "shop.example", Tool: "add", Pack: pack, Class: "write", Decision: "ask", By: "window", Reach: "app", Outcome: "ok"})
	}
	d.tenant.Hub.Core.Record(record.Entry{Time: time.Now(), Event: record.Pack, Pack: "shop-tools", By: "command", Outcome: "added", Reason: "9f86d081"})
	page := d.openDashboard()
	page.Resize(1280, 800)
	awaitView(page, "sites?show=rules")
	page.Click("#rule-form [name=pack]")
	page.Type("shop-tools")
	page.Eval(`document.querySelector("#rule-form [name=class]").value = "write"`)
	page.Click("#test")
	page.WaitFor(`document.querySelector("#rule-form .answer").textContent.includes("name a tool, a site or both")`)
	page.Click("#rule-form [name=site]")
	page.Type("shop.example")
	page.Click("#test")
	page.WaitFor(`document.querySelector("#rule-form .answer").textContent.includes("what the pack shop-tools does at shop.example")`)
	page.Click("#rule-form button:not([type])")
	page.WaitFor(`document.querySelector("#rules").textContent.includes("of the pack shop-tools · write")`)
	if rules := d.tenant.Hub.Rules.Policy().Document().Rules; len(rules) != 1 || rules[0].Pack != "shop-tools" || rules[0].Class != "write" || rules[0].Site != "shop.example" {
		t.Errorf("the rules are %+v", rules)
	}
	awaitView(page, "record?pack=shop-tools")
	page.WaitFor(`document.querySelector("#record-rows").rows.length === 1 && document.querySelector("#record-rows").textContent.includes("· pack shop-tools")`)
	page.Click("[name=all]")
	page.WaitFor(`document.querySelector("#record-rows").rows.length === 3 && document.querySelector("#record-rows").textContent.includes("added")`) // with the owner's rule
	page.Eval(`location.hash = "#record?call=c1"`)
	page.WaitFor(`document.querySelector("#story").textContent.includes("shop-tools")`)
}

// What was ordered at a site yesterday, for how much and by which client, takes three clicks: the record, the
// day, the site. A call is one line, all of which leads to its story, and no line is wider than a phone.
func TestRecordOfYesterday(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	now := time.Now()
	noon := time.Date(now.Year(), now.Month(), now.Day(), 12, 0, 0, 0, now.Location())
	for i, site := range []spec.Domain{"shop.example", "mail.example", spec.Domain(strings.Repeat("a-long-name.", 7) + "example")} {
		for days := range 9 {
			e := record.Entry{
				Time: noon.AddDate(0, 0, -days), Event: record.Call, Call: fmt.Sprint("c", i, "-", days), Name: "claude-desktop", Domain: site, Tool: "place_order", Class: "write",
				Decision: "allow", Rule: "preset:careful", Outcome: "ok", Asked: 114 * time.Second, Duration: 115 * time.Second, Args: json.RawMessage(fmt.Sprintf(`{"item":"Desk lamp","price":"%d.90"}`, 40+days)),
				Result: json.RawMessage(`{"content":[],"structuredContent":{"total":"46.80"}}`),
			}
			if site == "shop.example" {
				e.Class = "destructive" // what it came to is in its answer
			}
			d.tenant.Hub.Core.Record(e)
		}
	}
	d.tenant.Hub.Core.Record(record.Entry{Time: now, Event: record.Gone, Domain: "shop.example", Tab: "b/1", Outcome: "ok"})
	page := d.openDashboard()
	page.Resize(1280, 800)
	count := func(n int) {
		t.Helper()
		page.WaitFor(fmt.Sprintf(`document.querySelector("#record-rows")?.rows.length === %d`, n))
	}
	page.Click("#nav a[href='#record']")
	count(27)
	page.Click("[value=yesterday] + span")
	count(3)
	if got := page.Eval(`[...document.querySelector("[name=site]").options].map(o => o.value).sort()`); !strings.Contains(got, `["","a-long-name.`) || !strings.Contains(got, `"mail.example","shop.example"]`) {
		t.Errorf("the sites to choose from are %s", got)
	}
	choose := `(s => { s.value = "shop.example"; s.dispatchEvent(new Event("input", {bubbles: true})) })(document.querySelector("[name=site]"))`
	page.Eval(choose)
	count(1)
	want := `["place_order · shop.example","item: Desk lamp · price: 41.90 → total: 46.80","claude-desktop","ok","1.0 s you: 114 s"]`
	if got := page.Eval(`[...document.querySelector("#record-rows tr").cells].slice(1).map(td => td.textContent)`); strings.NewReplacer(`\u00b7`, "·", `\u2192`, "→").Replace(got) != want {
		t.Errorf("the line is %s, want %s", got, want)
	}
	page.Reload() // which does not lose what was asked for
	count(1)
	page.Eval(`document.querySelector("[name=site]").value = ""; document.querySelector("[value=week]").click()`)
	count(21)
	if got := page.Eval(`[...document.querySelectorAll("#record-rows tr")].map(tr => tr.offsetHeight).filter(h => h > 33)`); got != `[]` {
		t.Errorf("lines are %s pixels high", got)
	}
	// The order is that of the times that are shown, though a line is written when its call ends.
	if got := page.Eval(`(times => times.every((t, i) => i === 0 || t <= times[i - 1]))([...document.querySelectorAll("#record-rows tr")].map(tr => /c.-(\d)/.exec(tr.querySelector("a").href)[1]).map(n => -n))`); got != "true" {
		t.Error("the lines are not in the order of their times")
	}
	page.Resize(390, 800)
	if got := page.Eval(`[document.documentElement.scrollWidth - innerWidth, [...document.querySelectorAll("#record-rows tr")].map(tr => tr.offsetHeight).filter(h => h > 100)]`); got != `[0,[]]` {
		t.Errorf("on a phone: %s", got)
	}
	page.Resize(1280, 800)
	page.Click("[name=all]")
	page.WaitFor(`document.querySelector("#record-rows").textContent.includes("gone")`)
	page.Click("#record-rows tr:has(a) td:nth-child(5)") // not the link itself
	page.WaitFor(`document.querySelector("#story").textContent.includes("place_order")`)
}

// The story of a call names its client and its tool, the decision, the tab and the end,
// with what was said where that is kept.
func TestStoryOfACall(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	page := d.openDashboard()
	d.call("claude", "search_products", `{"query":"<script>alert(1)</script>"}`)
	page.WaitFor(`document.querySelector("#calls a")?.checkVisibility()`)
	page.Click("#calls a")
	page.WaitFor(`document.querySelector("#story")?.children.length === 4`)
	var steps []string
	page.Into(`[...document.querySelectorAll("#story li")].map(li => li.textContent)`, &steps)
	for i, words := range [][]string{
		{"claude asked for search_products"},
		{"Allowed", "the mode: "},
		{"Sent to a tab", "https://demo.tabhub/"},
		{"Ended: ok after", `"products"`},
	} {
		for _, want := range words {
			if !strings.Contains(steps[i], want) {
				t.Errorf("step %d is %q; want %q", i, steps[i], want)
			}
		}
	}
	for _, want := range []string{"claude: search_products at demo.tabhub", "said-claude", "query<script>alert(1)</script>"} {
		var got string
		if page.Into(`document.querySelector("#whole-story").textContent`, &got); !strings.Contains(got, want) {
			t.Errorf("the story does not say %s: %s", want, got)
		}
	}
	if got := page.Eval(`document.querySelectorAll("#view script").length`); got != "0" {
		t.Error("what was said has become a part of the page")
	}
}

// The story of a call about which its owner was asked has what happened in the order in which it did:
// one that has it sent before the owner's yes makes the hub look as if it had not asked.
func TestStoryOfAnAskedCall(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../admin/dashboard/testdata/story.json")
	if err != nil {
		t.Fatal(err)
	}
	var stories []struct{ Lines []record.Entry }
	if err := json.Unmarshal(text, &stories); err != nil {
		t.Fatal(err)
	}
	d := openSignIn(t, nil)
	for _, e := range stories[0].Lines {
		d.tenant.Hub.Core.Record(e)
	}
	page := d.openDashboard()
	awaitView(page, "record?call=C1")
	page.WaitFor(`document.querySelector("#story").children.length === 7`)
	var steps []string
	page.Into(`[...document.querySelectorAll("#story h3")].map(h => h.textContent)`, &steps)
	want := []string{
		"claude-desktop asked for transfer_money", "You were asked", "You allowed it once, after 13.2 s, in its window", "Allowed by your answer",
		"About to be done: what cannot be undone", "Sent to a tab", "Ended: ok after 1.2 s · you took 13.2 s",
	}
	if !slices.Equal(steps, want) {
		t.Errorf("the steps are %q, want %q", steps, want)
	}
}

// A call that the owner allowed when its client had given up on an earlier one has the question in its story.
func TestStoryOfACallAllowedBefore(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	at := time.Now().Add(-time.Hour)
	of := record.Entry{Name: "claude", Domain: "shop.example", Tool: "pay", Decision: "ask"}
	first, asked, second := of, of, of
	first.Time, first.Event, first.Call, first.Outcome, first.Duration = at, record.Call, "c1", "CANCELLED", time.Minute
	asked.Time, asked.Event, asked.Call, asked.Question, asked.Reach, asked.Outcome, asked.Asked = at.Add(2*time.Minute), record.Ask, "c1", "q1", "once", "ok", 2*time.Minute
	second.Time, second.Event, second.Call, second.Question, second.Reach, second.Outcome, second.Decided, second.Sent, second.Duration = at.Add(5*time.Minute), record.Call, "c2", "q1", "once", "ok", 1, 2, 5*time.Millisecond
	for _, e := range []record.Entry{first, asked, second} {
		d.tenant.Hub.Core.Record(e)
	}
	page := d.openDashboard()
	awaitView(page, "record?call=c2")
	page.WaitFor(`document.querySelector("#story").children.length === 6`)
	var got string
	page.Into(`[...document.querySelectorAll("#story h3")].map(h => h.textContent).join("; ")`, &got)
	if got != "You were asked; You allowed it once, after 120 s; claude asked for pay; Allowed by your answer; Sent; Ended: ok after 5.0 ms" {
		t.Errorf("the story is %s", got)
	}
}

// The story of a call that was decided about for what its client had read says so, and that
// the hub has forgotten which texts it sent.
func TestStoryOfAFlow(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	d.tenant.Hub.Core.Record(record.Entry{Time: time.Now(), Event: record.Call, Call: "c1", Name: "claude", Domain: "shop.example", Tool: "note", Tab: "b:1", Decision: "ask", Outcome: "ok", Flows: []string{"mail.example → shop.example"}})
	page := d.openDashboard()
	awaitView(page, "record")
	page.WaitFor(`document.querySelector("#record-rows a")`)
	page.Click("#record-rows a")
	page.WaitFor(`document.querySelector("#story").textContent.includes("mail.example → shop.example")`)
	page.WaitFor(`document.querySelector("#story").textContent.includes("not kept any more")`)
}
