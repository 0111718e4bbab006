package e2e

import (
	"regexp"
	"strconv"
)

// The roles of what is filled in, and of what only has a text.
const (
	fields = "textbox|searchbox|combobox|spinbutton|slider|Date|InputTime|field"
	texts  = "cell|gridcell|listitem|text"
)

func button(name string) target       { return target{role: "button", name: name} }
func buttonAt(name, in string) target { return target{role: "button", name: name, in: in} }
func link(name string) target         { return target{role: "link", name: name} }
func of(role, name string) target     { return target{role: role, name: name} }
func box(name string) field           { return field{of("checkbox", name), "true"} }
func radio(name string) field         { return field{of("radio", name), "true"} }
func into(name, value string) field   { return field{of(fields, name), value} }
func click(at target) intent          { return intent{verb: "click", at: at} }
func follow(at target) intent         { return intent{verb: "click", at: at, leads: true} }
func fill(all ...field) intent        { return intent{verb: "fill", fields: all} }
func choose(name, option string) intent {
	return intent{verb: "select", at: of("combobox", name), value: option}
}
func press(key string, at target) intent   { return intent{verb: "press", at: at, value: key} }
func hover(at target) intent               { return intent{verb: "hover", at: at} }
func drag(at, to target) intent            { return intent{verb: "drag", at: at, to: to} }
func upload(at target, file string) intent { return intent{verb: "upload", at: at, value: file} }
func see(text string) intent               { return intent{verb: "see", value: text} }
func until(there target, step intent) intent {
	return intent{verb: "until", until: there, step: &step}
}
func answered(at target, accept bool, text string) intent {
	return intent{verb: "click", at: at, dialog: &reply{accept, text}}
}

// changing says that what is there becomes something else.
func changing(i intent) intent {
	i.renews = true
	return i
}

// least reads what pattern names where its number is the least.
func least(word, pattern string) intent {
	re := regexp.MustCompile(pattern)
	return intent{verb: "read", value: word, learn: func(text string) (name string) {
		best := 0.0
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			if price, err := strconv.ParseFloat(m[2], 64); err == nil && (name == "" || price < best) {
				name, best = m[1], price
			}
		}
		return name
	}}
}

// read reads what pattern has in parentheses.
func read(word, pattern string) intent {
	re := regexp.MustCompile(pattern)
	return intent{verb: "read", value: word, learn: func(text string) string {
		if m := re.FindStringSubmatch(text); m != nil {
			return m[1]
		}
		return ""
	}}
}

// plans are what a person does for each task, in the order in which they do it.
var plans = map[string][]intent{
	"shop": {click(button("Reject all")), fill(into("Search products", "sencha")), follow(button("Search")), follow(link("Sencha green tea")),
		fill(into("Quantity", "2")), click(button("Add to cart")), see("2 × Sencha green tea added")},
	"checkout": {follow(link("Proceed to checkout")),
		fill(into("Full name", "Ada Byron"), into("Street", "12 High Street"), into("City", "Graz"), into("Country", "Austria"), radio("Express (1 day)"), box("Wrap as a gift")),
		follow(button("Place order")), see("Order 1001 is confirmed")},
	"cheapest": {least("per 100 g", `([A-Z][a-zA-Z ]+)\s+€ ([\d.]+) per 100 g\s+In stock`), click(buttonAt("Add to cart", "$it")), see("Linden flowers added")},
	"event": {click(button("Next week")), click(button("Next week")), click(button("New event")),
		fill(into("Title", "Tea tasting"), into("Day", "Thu"), into("Starts at", "15:30"), into("Room", "Hall"), box("Remind me")), click(button("Save")), see("Tea tasting is in the calendar")},
	"move": {drag(button("Review"), of("gridcell|cell", "Thu 14:00")), see("Review is now on Thu 14:00")},
	"sort": {changing(click(button("Amount"))), changing(click(button("Amount"))), click(button("Approve")), see("approved")},
	"filter": {changing(fill(into("Filter", "Nora Berg"))), see("4 tickets"), changing(choose("Status", "Open")), see("2 tickets"),
		{verb: "make", value: "Select T-", make: func(text string) []intent {
			var boxes []field
			had := map[string]bool{}
			for _, id := range regexp.MustCompile(`Select (T-\d+)`).FindAllStringSubmatch(text, -1) {
				if !had[id[1]] && len(boxes) < 2 {
					boxes = append(boxes, box("Select "+id[1]))
				}
				had[id[1]] = true
			}
			if len(boxes) < 2 {
				return nil
			}
			return []intent{fill(boxes...)}
		}}, click(button("Close selected")), see("Closed T-500")},
	"paging":     {until(buttonAt("Invite", "Ruth Adler"), follow(link("Next page"))), click(buttonAt("Invite", "Ruth Adler")), see("Ruth Adler is invited")},
	"cells":      {{verb: "double", at: target{texts, "4.60", "Flat white"}}, fill(into("Flat white, large", "4.80")), press("Enter", of(fields, "Flat white, large")), see("Flat white, large: 4.80")},
	"contact":    {fill(into("Your name", "Ada"), into("Topic", "Orders"), into("Message", "Where is order 1001?"), radio("Phone")), click(button("Send")), see("your message is on its way")},
	"delivery":   {fill(radio("Wednesday, 12 to 16")), click(button("Reserve")), see("Reserved: Wednesday"), click(button("Confirm delivery")), see("Your kettle comes Wednesday")},
	"reference":  {read("17 June", `17 June 2026: reference (\w+)`), fill(into("Booking reference", "$it"), into("Last name", "Byron")), click(button("Check in")), see("You are checked in")},
	"newsletter": {fill(into("First name", "Ada"), into("Email", "ada@example.org")), click(of("checkbox", "Weekly digest")), click(button("Subscribe")), see("Welcome, Ada")},
	"settings":   {click(of("switch", "Weekly report")), fill(radio("Dark")), click(button("Save settings")), see("Settings saved")},
	"feed":       {until(buttonAt("Like", "Lighthouse keeper wanted"), intent{verb: "scroll", value: "end"}), click(buttonAt("Like", "Lighthouse keeper wanted")), see("You like Lighthouse")},
	"contacts":   {until(buttonAt("Call", "Berg, Mira"), intent{verb: "scroll", at: of("list", "Contacts")}), click(buttonAt("Call", "Berg, Mira")), see("Calling Berg, Mira")},
	"editor":     {fill(into("Note", "Meeting moved to noon")), press("Control+a", of(fields, "Note")), click(button("Bold")), click(button("Save note")), see("Note saved")},
	"board":      {drag(of(texts, "Book the hall"), of("list|region", "Done")), see("Book the hall is in Done")},
	"thermostat": {press("ArrowRight", of("slider", "Target temperature")), press("ArrowRight", of("slider", "Target temperature")), press("ArrowRight", of("slider", "Target temperature")),
		fill(into("Fan speed", "60")), click(button("Apply")), see("21 degrees, fan at 60 %")},
	"report": {choose("Quarter", "Q3"), upload(of("button|field", "Report (CSV)..."), "report.csv"), follow(button("Send report")), see("Your report has arrived")},
	"photo":  {fill(into("Display name", "Ada Byron")), upload(button("Choose a photo"), "photo.png"), click(button("Save profile")), see("Profile saved")},
	"trash":  {fill(box("Select budget 2024.xlsx"), box("Select budget 2025.xlsx")), answered(button("Delete selected"), true, ""), see("2 files deleted")},
	"rename": {{verb: "right", at: button("letter.txt")}, answered(of("menuitem", "Rename"), true, "offer.txt"), see("letter.txt is now offer.txt")},
	"wizard": {fill(radio("Water"), into("When", "2026-03-20")), click(button("Next")), fill(into("Description", "Washing machine leaked"), into("Estimated cost in euros", "450")), click(button("Next")),
		fill(box("All of this is true")), click(button("Submit claim")), see("Claim C-2041 is submitted")},
	"dates": {click(of(fields, "Check-in")), click(button("Next month")), changing(click(button("Next month"))), click(button("12 August 2026")), click(of(fields, "Check-out")), click(button("15 August 2026")),
		choose("Guests", "2"), click(button("Book")), see("Your room is booked")},
	"country": {fill(into("Country", "Port")), click(of("option", "Portugal")), click(of("combobox|button", "Language...")), click(of("option", "Português")), click(button("Save region")), see("Region saved")},
	"tabs":    {click(of("tab", "Billing")), click(button("More actions")), click(of("menuitem", "Export as CSV")), see("Payments exported as csv")},
	"undo":    {click(buttonAt("Archive", "Quarterly numbers")), click(button("Undo")), see("Quarterly numbers is back")},
	"menu":    {hover(of("menuitem", "Products")), hover(of("menuitem", "Services")), follow(of("menuitem|link", "Support plans")), click(buttonAt("Request a call", "Premium")), see("We call you back")},
	"flights": {fill(into("To", "lisb")), click(of("option", "Lisbon, Portugal")), click(button("Search flights")), see("TP 1273"), least("€", `([A-Z]{2} \d+)\s+\d\d:\d\d\s+€ (\d+)`),
		click(buttonAt("Select", "$it")), see("TP 1273 is yours")},
}
