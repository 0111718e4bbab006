package httpd

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// The owner reads on the dashboard what a client is about to do on a page by itself, and its script whole, answers for
// this site and this session, and finds in the record what each step did.
func TestActsOnTheDashboard(t *testing.T) {
	t.Parallel()
	d := openSignIn(t, nil)
	page := d.openSignedIn(chromium.Shared(t, chromium.Options{}))
	page.Resize(1280, 900)
	awaitView(page, "now")
	by := &consent.Caller{Principal: &policy.Principal{ID: "c-claude", Name: "claude"}, Session: "s"}
	lines := []string{"for (const tea of [\"Assam\", \"</li><b>Green\"]) {"}
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("  await page.click('button \"Add\" in row \"Tea %d\"');%s", i, strings.Repeat(" ", 300)+"// far"))
	}
	code := strings.Join(append(lines, "}", "return page.text()"), "\n")
	args, _ := json.Marshal(map[string]string{"code": code})
	ask := func(c consent.Call) <-chan error {
		c.Action.Principal, c.Action.Session, c.Action.Of, c.Action.Class, c.Action.Site = by.Principal, by.Session, policy.OfHub, policy.Act, policy.Site{Domain: "shop.example"}
		c.Origin, c.Decision = "https://shop.example", d.tenant.Hub.Rules.Policy().Decide(c.Action, time.Now())
		asked := make(chan error, 1)
		go func() {
			_, err := d.tenant.Hub.Owner.Desk().Ask(t.Context(), by, c)
			asked <- err
		}()
		return asked
	}
	click := ask(consent.Call{Action: &policy.Action{Name: "browser_page click"}, Args: json.RawMessage(`{"ref":"kfa7"}`), Steps: []string{`click button "Order"`}})
	page.WaitFor(`document.querySelector("#questions article h3")?.textContent === 'claude wants to click button "Order" on shop.example'`)
	script := ask(consent.Call{ID: "C1", Action: &policy.Action{Name: "browser_script"}, Args: args, Script: code})
	page.WaitFor(`document.querySelectorAll("#questions .script li").length === 63`)
	picture(page, "question-of-acts")
	if wide := page.Eval(`[...document.querySelectorAll(".script code")].filter(c => c.scrollWidth > c.clientWidth + 1).length`); wide != "0" {
		t.Errorf("%s lines of the script hide to the right", wide)
	}
	if got := page.Eval(`[...document.querySelector("#questions select").options].map(o => o.text)`); got != `["this once","this site, this session"]` {
		t.Errorf("what may be answered: %s", got)
	}
	page.Eval(`document.querySelector("#questions select").value = "session"`)
	page.WaitFor(`document.querySelector(".answer-yes").ariaDisabled === "false"`)
	page.Click(".answer-yes")
	for name, asked := range map[string]<-chan error{"the click": click, "the script, which is about the same site and session": script} {
		if err := <-asked; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	rules := d.tenant.Hub.Rules.Policy().Document().Rules
	if len(rules) != 1 || rules[0].Client != "c-claude" || rules[0].Session != "s" || rules[0].Site != "shop.example" || rules[0].Class != "act" || rules[0].Tool != "" {
		t.Errorf("the rules are %+v", rules)
	}
	awaitView(page, "sites?show=rules")
	page.WaitFor(`document.querySelector("#rules").textContent.includes(", one session") && [...document.querySelectorAll("#rule-form [name=class] option")].some(o => o.text === "act")`)
	picture(page, "rules-of-acts")

	d.tenant.Hub.Core.Record(record.Entry{
		Time: time.Now(), Event: record.Call, Call: "C1", Client: "c-claude", Name: "claude", Session: "s", Domain: "shop.example", Tool: "browser_script", Class: "act",
		Decision: "ask", Rule: "preset:act", Reach: string(spec.ReachSession), By: consent.ByDashboard, Decided: 1e6, Sent: 2e6, Outcome: "STALE_REF", Duration: time.Second,
		Args: args, Result: json.RawMessage(`{"did":["clicked button \"Add\" in row \"Tea 0\"","perhaps: click button \"Add\" in row \"Tea 1\""]}`),
	})
	awaitView(page, "record?class=act&event=call")
	page.WaitFor(`document.querySelector("#record-rows").rows.length === 1 && document.querySelector("#record-rows").textContent.includes('clicked button "Add" in row "Tea 0"; perhaps: click')`)
	page.Eval(`location.hash = "#record?call=C1"`)
	page.WaitFor(`document.querySelectorAll("#story-given .script li").length === 63 && document.querySelectorAll("#story .steps li").length === 2`)
	page.WaitFor(`document.querySelector("#story").textContent.includes("You allowed it for this site, this session, after")`)
	picture(page, "story-of-acts")
}
