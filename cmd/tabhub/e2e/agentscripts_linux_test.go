package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"tabhub/spec/rawjson"
	"tabhub/tabtransport/tabtest/taskpages"
)

// script is what the careful agent sends as one call of browser_script, once it has looked at the page.
type script struct {
	frame string // the name of a frame in which it runs
	steps string // JSON, or
	code  string // after the lines of prelude
	says  string // what the page must say in the end; of code it is in the result
}

// prelude is the beginning of each code.
const prelude = `const until = async (words) => { for (let i = 0; i < 60; i++) { const said = await page.look({ find: words }); if (said.includes(words)) return said; await page.wait(50); } throw new Error("the page does not say " + words); };
`

// scripts do the tasks. $it is what was learned by the look.
var scripts = map[string][]script{
	"shop": {{code: `await page.click('button "Reject all"'); await page.fill('searchbox "Search products"', "sencha"); await page.click('button "Search"');
await page.click('link "Sencha green tea"'); await page.fill('field "Quantity"', "2"); await page.click('button "Add to cart"'); return until("2 × Sencha green tea added");`}},
	"checkout": {{code: `await page.click('link "Proceed to checkout"');
await page.fill({ 'field "Full name"': "Ada Byron", 'field "Street"': "12 High Street", 'field "City"': "Graz", 'combobox "Country"': "Austria", 'radio "Express..."': true, 'checkbox "Wrap as a gift"': true });
await page.click('button "Place order"'); return until("Order 1001 is confirmed");`}},
	"cheapest": {{code: `const offers = await page.read({ list: 'article in main', fields: { name: 'heading', text: {} } });
const cost = ({ text }) => Number(/€ ([\d.]+)/.exec(text)[1]);
const best = offers.filter(({ text }) => text.includes("In stock")).sort((a, b) => cost(a) - cost(b))[0];
await page.click('button "Add to cart" in article ' + JSON.stringify(best.name)); return until("added to your cart");`}},
	"event": {{code: `while (!(await page.look({ find: "Week 32" })).includes("Week 32")) await page.click('button "Next week"');
await page.click('button "New event"'); await page.fill({ 'field "Title"': "Tea tasting", 'combobox "Day"': "Thu", 'field "Starts at"': "15:30", 'field "Room"': "Hall", 'checkbox "Remind me"': true });
await page.click('button "Save"'); return until("Tea tasting is in the calendar");`}},
	"move": {{steps: `[{"drag":{"target":"button \"Review\"","to":"gridcell \"Thu 14:00\""}}]`, says: "Review is now on Thu 14:00"}},
	"sort": {{code: `await page.click('button "Amount"'); await page.click('button "Amount"'); await page.click('button "Approve" #1'); return until("approved");`}},
	"filter": {{code: `await page.fill('searchbox "Filter"', "Nora Berg"); await until("4 tickets"); await page.select('combobox "Status"', ["Open"]); await until("2 tickets");
for (const { ref } of await page.find('checkbox "Select..."')) await page.fill(ref, true);
await page.click('button "Close selected"'); return until("Closed T-500");`}},
	"paging": {{code: `for (;;) { await page.wait('table "Members"'); const hit = /"Ruth Adler".*?button "Invite" (\w+)/.exec(await until("Ruth Adler")); if (hit) { await page.click(hit[1]); return until("Ruth Adler is invited"); } await page.click('link "Next page"'); }`}},
	"cells":  {{code: `await page.click('cell "4.60" in row "Flat white..."', { count: 2 }); await page.fill('field "Flat white, large"', "4.80"); await page.press("Enter", 'field "Flat white, large"'); return until("Flat white, large: 4.80");`}},
	"contact": {{frame: "Contact form", code: `await page.fill({ 'field "Your name"': "Ada", 'combobox "Topic"': "Orders", 'field "Message"': "Where is order 1001?", 'radio "Phone"': true });
await page.click('button "Send"'); return until("your message is on its way");`}},
	"delivery": {
		{frame: "Delivery window", code: `await page.fill('radio "Wednesday, 12 to 16"', true); await page.click('button "Reserve"'); return until("Reserved");`},
		{code: `await until("Reserved: Wednesday"); await page.click('button "Confirm delivery"'); return until("Your kettle comes Wednesday");`},
	},
	"reference":  {{code: `await page.fill({ 'field "Booking reference"': "$it", 'field "Last name"': "Byron" }); await page.click('button "Check in"'); return until("You are checked in");`}},
	"newsletter": {{code: `await page.fill({ 'field "First name"': "Ada", 'field "Email"': "ada@example.org" }); await page.click('checkbox "Weekly digest"'); await page.click('button "Subscribe"'); return until("Welcome, Ada");`}},
	"settings":   {{steps: `[{"click":"switch \"Weekly report\""},{"fill":{"radio \"Dark\"":true}},{"click":"button \"Save settings\""}]`, says: "Settings saved"}},
	"feed":       {{code: `while (!(await page.look({ find: "Lighthouse keeper wanted" })).includes("Lighthouse keeper wanted")) await page.scroll(20); await page.click('button "Like" in article "Lighthouse keeper wanted"'); return until("You like Lighthouse");`}},
	"contacts":   {{code: `for (;;) { const hit = /"Berg, Mira".*?button "Call" (\w+)/.exec(await page.look({ find: "Berg, Mira" })); if (hit) { await page.click(hit[1]); return until("Calling Berg, Mira"); } await page.scroll('list "Contacts"', 1); }`}},
	"editor":     {{code: `await page.fill('textbox "Note"', "Meeting moved to noon"); await page.press("Control+A", 'textbox "Note"'); await page.click('button "Bold"'); await page.click('button "Save note"'); return until("Note saved");`}},
	"board":      {{steps: `[{"drag":{"target":"listitem \"Book the hall\"","to":"list \"Done\""}}]`, says: "Book the hall is in Done"}},
	"thermostat": {{code: `for (let i = 18; i < 21; i++) await page.press("ArrowRight", 'slider "Target temperature"'); await page.fill('slider "Fan speed"', "60"); await page.click('button "Apply"'); return until("21 degrees, fan at 60 %");`}},
	"report":     {{steps: `[{"select":{"target":"combobox \"Quarter\"","options":["Q3"]}},{"upload":{"target":"field \"Report (CSV)\"","files":["report.csv"]}},{"click":"button \"Send report\""}]`, says: "Your report has arrived"}},
	"photo":      {{steps: `[{"fill":{"field \"Display name\"":"Ada Byron"}},{"upload":{"target":"button \"Choose a photo\"","files":["photo.png"]}},{"click":"button \"Save profile\""}]`, says: "Profile saved"}},
	"trash":      {{code: `await page.fill({ 'checkbox "Select budget 2024.xlsx"': true, 'checkbox "Select budget 2025.xlsx"': true }); await page.dialog(true); await page.click('button "Delete selected"'); return until("2 files deleted");`}},
	"rename":     {{code: `await page.click('button "letter.txt"', { button: "right" }); await page.dialog(true, "offer.txt"); await page.click('menuitem "Rename"'); return until("letter.txt is now offer.txt");`}},
	"wizard": {{code: `await page.fill({ 'radio "Water"': true, 'field "When"': "2026-03-20" }); await page.click('button "Next"');
await page.fill({ 'field "Description"': "Washing machine leaked", 'field "Estimated cost in euros"': "450" }); await page.click('button "Next"');
await page.fill('checkbox "All of this is true"', true); await page.click('button "Submit claim"'); return until("is submitted");`}},
	"dates": {{code: `await page.click('textbox "Check-in"'); while ((await page.find('button "12 August 2026"')).length === 0) await page.click('button "Next month"'); await page.click('button "12 August 2026"');
await page.click('textbox "Check-out"'); await page.click('button "15 August 2026"'); await page.select('combobox "Guests"', ["2"]); await page.click('button "Book"'); return until("Your room is booked");`}},
	"country": {{code: `await page.fill('combobox "Country"', "Port"); await page.click('option "Portugal"'); await page.click('combobox "Language..."'); await page.click('option "Português"'); await page.click('button "Save region"'); return until("Region saved");`}},
	"tabs":    {{steps: `[{"click":"tab \"Billing\""},{"click":"button \"More actions\""},{"click":"menuitem \"Export as CSV\""}]`, says: "Payments exported as csv"}},
	"undo":    {{code: `await page.click('button "Archive" in row "...Quarterly numbers..."'); await page.click('button "Undo"'); return until("Quarterly numbers is back");`}},
	"menu":    {{code: `await page.hover('menuitem "Products"'); await page.hover('menuitem "Services"'); await page.click('menuitem "Support plans"'); await page.click('button "Request a call" in article "Premium"'); return until("We call you back");`}},
	"flights": {{code: `await page.fill('combobox "To"', "lisb"); await page.click('option "Lisbon, Portugal"'); await page.click('button "Search flights"'); await until("TP 1273");
const flights = await page.read({ table: 'table "Flights"' });
const best = flights.sort((a, b) => Number(a.Price.slice(2)) - Number(b.Price.slice(2)))[0].Flight;
await page.click('button "Select" in row ' + JSON.stringify(best + "...")); return until(best + " is yours");`}},
}

// learned is what a look shows that a script needs.
var learned = map[string]*regexp.Regexp{"reference": regexp.MustCompile(`17 June 2026: reference (\w+)`)}

// withScript looks at a task's page, and does the task by scripts.
func withScript(m *meter, s *taskpages.Server, task *taskpages.Task) error {
	b := &browserPage{m: m}
	if err := b.open(s.URL + "/" + task.Name + "/"); err != nil {
		return err
	}
	said, err := b.call(map[string]any{"action": "snapshot"})
	if err != nil {
		return err
	}
	it := ""
	if re := learned[task.Name]; re != nil {
		found := re.FindStringSubmatch(said)
		if found == nil {
			return fmt.Errorf("there is no %s in\n%s", re, said)
		}
		it = found[1]
	}
	for _, x := range scripts[task.Name] {
		args := map[string]any{}
		if x.code != "" {
			args["code"] = prelude + strings.ReplaceAll(x.code, "$it", it)
		} else {
			args["steps"] = json.RawMessage(x.steps)
		}
		if x.frame != "" {
			for _, n := range b.lines(said) {
				if n.role == "frame" && n.name == x.frame {
					args["frame"] = n.ref
				}
			}
		}
		result, failed := m.call("browser_script", args)
		if failed || rawjson.Get([]byte(result), "error") != nil {
			return fmt.Errorf("%s", result)
		}
		if x.says != "" {
			if err := (&careful{eyes: b}).see(x.says); err != nil {
				return err
			}
		}
	}
	return nil
}
