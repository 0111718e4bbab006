package taskpages

import "strings"

// Task is something that a person wants done on a page.
type Task struct {
	Name  string // and the path of its page, below the server's URL
	Title string // of the page
	Goal  string // what a person asks for
	// Want is what is done then, as Server.Done gives it. In it, and in Args of calls, $REFERENCE stands for
	// what only the page says.
	Want []string
	// Tools are calls of the page's own tools that do it, and Pack of those of the pack.
	Tools, Pack []Call
}

// Call is a call of a tool with arguments.
type Call struct{ Tool, Args string }

// Files are those that tasks upload, by their names.
var Files = map[string]string{"report.csv": "month,sum\nJuly,120\n", "photo.png": "a picture"}

// Reference replaces what only the page says. A client must have read it there before it calls a tool with it.
func (s *Server) Reference(text string) string {
	return strings.ReplaceAll(text, "$REFERENCE", s.reference)
}

// Tasks are all tasks.
var Tasks = []Task{
	{
		"shop", "Tea shop", "put two Sencha green teas into the cart",
		[]string{`{"did":"cart","id":"sencha","quantity":2}`},
		[]Call{{"find_products", `{"query":"sencha"}`}, {"add_to_cart", `{"id":"sencha","quantity":2}`}},
		[]Call{{"shop", `{"id":"sencha","quantity":2}`}},
	},
	{
		"checkout", "Cart", "order the cart for Ada Byron, 12 High Street, Graz, Austria, by express, as a gift",
		[]string{`{"city":"Graz","country":"AT","delivery":"express","did":"order","gift":"on","name":"Ada Byron","street":"12 High Street"}`},
		[]Call{{"order", `{"name":"Ada Byron","street":"12 High Street","city":"Graz","country":"Austria","delivery":"express","gift":true}`}},
		[]Call{{"checkout", `{"name":"Ada Byron","street":"12 High Street","city":"Graz","country":"Austria","express":true,"gift":true}`}},
	},
	{
		"cheapest", "Teas of the week", "put the cheapest tea that is in stock into the cart",
		[]string{`{"did":"cart","id":"linden"}`},
		[]Call{{"list_offers", `{}`}, {"add_offer", `{"id":"linden"}`}},
		[]Call{{"cheapest_offers", `{}`}, {"cheapest", `{"name":"Linden flowers"}`}},
	},
	{
		"event", "Calendar", "put Tea tasting into the calendar: week 32, Thursday at 15:30, room Hall, with a reminder",
		[]string{`{"day":"Thu","did":"event","remind":true,"room":"Hall","time":"15:30","title":"Tea tasting","week":32}`},
		[]Call{{"create_event", `{"week":32,"title":"Tea tasting","day":"Thu","time":"15:30","room":"Hall","remind":true}`}},
		[]Call{{"event", `{"week":32,"title":"Tea tasting","day":"Thu","time":"15:30","room":"Hall","remind":true}`}},
	},
	{
		"move", "Week plan", "move the Review from Monday to Thursday at 14:00",
		[]string{`{"did":"moved","event":"Review","to":"Thu 14:00"}`},
		[]Call{{"move_event", `{"event":"Review","to":"Thu 14:00"}`}},
		[]Call{{"move", `{"event":"Review","to":"Thu 14:00"}`}},
	},
	{
		"sort", "Invoices", "approve the invoice with the highest amount",
		[]string{`{"did":"approve","number":"INV-1002"}`},
		[]Call{{"list_invoices", `{"most":1}`}, {"approve_invoice", `{"number":"INV-1002"}`}},
		[]Call{{"sort", `{}`}},
	},
	{
		"filter", "Tickets", "close the open tickets of Nora Berg",
		[]string{`{"did":"close","tickets":["T-500","T-512"]}`},
		[]Call{{"find_tickets", `{"query":"Nora Berg","status":"Open"}`}, {"close_tickets", `{"tickets":["T-500","T-512"]}`}},
		[]Call{{"filter", `{"customer":"Nora Berg"}`}},
	},
	{
		"paging", "Members", "invite Ruth Adler, without a letter after her name",
		[]string{`{"did":"invite","name":"Ruth Adler"}`},
		[]Call{{"invite_member", `{"name":"Ruth Adler"}`}},
		[]Call{{"paging", `{"name":"Ruth Adler"}`}},
	},
	{
		"cells", "Price list", "change the price of a large Flat white to 4.80",
		[]string{`{"did":"price","drink":"Flat white","price":4.8,"size":"large"}`},
		[]Call{{"set_price", `{"drink":"Flat white","size":"large","price":4.8}`}},
		[]Call{{"cells", `{"drink":"Flat white","size":"large","price":4.8}`}},
	},
	{
		"contact", "Contact us", "ask customer care where order 1001 is, as Ada, and to answer by phone",
		[]string{`{"did":"message","message":"Where is order 1001?","name":"Ada","reply":"phone","topic":"Orders"}`},
		[]Call{{"send_message", `{"name":"Ada","topic":"Orders","message":"Where is order 1001?","phone":true}`}},
		[]Call{{"contact", `{"name":"Ada","topic":"Orders","message":"Where is order 1001?","phone":true}`}},
	},
	{
		"delivery", "Delivery", "have the kettle delivered on Wednesday, 12 to 16, and confirm",
		[]string{`{"did":"reserve","window":"Wednesday, 12 to 16"}`, `{"did":"confirm","window":"Wednesday, 12 to 16"}`},
		[]Call{{"deliver", `{"window":"Wednesday, 12 to 16"}`}},
		[]Call{{"delivery", `{"window":"Wednesday, 12 to 16"}`}},
	},
	{
		"reference", "Check-in", "check Byron in for the flight to Oslo",
		[]string{`{"did":"checkin","name":"Byron","reference":"$REFERENCE"}`},
		[]Call{{"bookings", `{}`}, {"check_in", `{"reference":"$REFERENCE","name":"Byron"}`}},
		[]Call{{"reference", `{"to":"Oslo","name":"Byron"}`}},
	},
	{
		"newsletter", "Newsletter", "subscribe Ada, ada@example.org, to the weekly digest only",
		[]string{`{"did":"subscribe","email":"ada@example.org","name":"Ada","products":false,"weekly":true}`},
		[]Call{{"subscribe", `{"name":"Ada","email":"ada@example.org","weekly":true,"products":false}`}},
		[]Call{{"newsletter", `{"name":"Ada","email":"ada@example.org"}`}},
	},
	{
		"settings", "Settings", "switch the weekly report on and choose the dark theme",
		[]string{`{"did":"settings","on":["Weekly report","Security alerts"],"theme":"Dark"}`},
		[]Call{{"save_settings", `{"on":["Weekly report","Security alerts"],"theme":"Dark"}`}},
		[]Call{{"settings", `{"notification":"Weekly report","theme":"Dark"}`}},
	},
	{
		"feed", "Feed", "like the post Lighthouse keeper wanted",
		[]string{`{"did":"like","title":"Lighthouse keeper wanted"}`},
		[]Call{{"like_post", `{"title":"Lighthouse keeper wanted"}`}},
		[]Call{{"feed", `{"title":"Lighthouse keeper wanted"}`}},
	},
	{
		"contacts", "Contacts", "call Mira Berg",
		[]string{`{"did":"call","name":"Berg, Mira"}`},
		[]Call{{"call_contact", `{"name":"Berg, Mira"}`}},
		[]Call{{"contacts", `{"name":"Berg, Mira"}`}},
	},
	{
		"editor", "Note", "write Meeting moved to noon, all in bold",
		[]string{`{"bold":true,"did":"note","text":"Meeting moved to noon"}`},
		[]Call{{"save_note", `{"text":"Meeting moved to noon","bold":true}`}},
		[]Call{{"editor", `{"text":"Meeting moved to noon","bold":true}`}},
	},
	{
		"board", "Party", "move Book the hall to Done",
		[]string{`{"card":"Book the hall","did":"moved","to":"Done"}`},
		[]Call{{"move_card", `{"card":"Book the hall","to":"Done"}`}},
		[]Call{{"board", `{"card":"Book the hall","to":"Done"}`}},
	},
	{
		"thermostat", "Climate", "set 21 degrees, and the fan to 60",
		[]string{`{"did":"climate","fan":60,"temperature":21}`},
		[]Call{{"set_climate", `{"temperature":21,"fan":60}`}},
		[]Call{{"thermostat", `{"temperature":21,"fan":60}`}},
	},
	{
		"report", "Quarterly report", "send report.csv as the report of Q3",
		[]string{`{"did":"report","file":"report.csv: month,sum\nJuly,120\n","quarter":"Q3"}`},
		[]Call{{"send_report", `{"quarter":"Q3","name":"report.csv","csv":"month,sum\nJuly,120\n"}`}},
		[]Call{{"report", `{"quarter":"Q3","name":"report.csv","csv":"month,sum\nJuly,120\n"}`}},
	},
	{
		"photo", "Profile", "take the display name Ada Byron, and photo.png as photo",
		[]string{`{"did":"profile","name":"Ada Byron","photo":"photo.png: a picture"}`},
		[]Call{{"save_profile", `{"name":"Ada Byron","file":"photo.png","data":"YSBwaWN0dXJl"}`}},
		[]Call{{"photo", `{"name":"Ada Byron","file":"photo.png","data":"a picture"}`}},
	},
	{
		"trash", "Files", "delete the two budgets for good",
		[]string{`{"did":"delete","files":["budget 2024.xlsx","budget 2025.xlsx"]}`},
		[]Call{{"delete_files", `{"files":["budget 2024.xlsx","budget 2025.xlsx"]}`}},
		[]Call{{"trash", `{"files":["budget 2024.xlsx","budget 2025.xlsx"]}`}},
	},
	{
		"rename", "Shared files", "rename letter.txt to offer.txt",
		[]string{`{"did":"rename","from":"letter.txt","to":"offer.txt"}`},
		[]Call{{"rename_file", `{"from":"letter.txt","to":"offer.txt"}`}},
		[]Call{{"rename", `{"from":"letter.txt","to":"offer.txt"}`}},
	},
	{
		"wizard", "Claim", "claim water damage of 20 March 2026, about 450 euros: Washing machine leaked",
		[]string{`{"cost":450,"date":"2026-03-20","description":"Washing machine leaked","did":"claim","kind":"water","police":false}`},
		[]Call{{"submit_claim", `{"kind":"water","date":"2026-03-20","description":"Washing machine leaked","cost":450,"police":false}`}},
		[]Call{{"wizard", `{"date":"2026-03-20","description":"Washing machine leaked","cost":450}`}},
	},
	{
		"dates", "Book a room", "book a room for 2 from 12 to 15 August 2026",
		[]string{`{"did":"book","from":"2026-08-12","guests":2,"to":"2026-08-15"}`},
		[]Call{{"book_room", `{"from":"2026-08-12","to":"2026-08-15","guests":2}`}},
		[]Call{{"dates", `{"from":"12 August 2026","to":"15 August 2026","guests":"2"}`}},
	},
	{
		"country", "Region", "save Portugal and Português",
		[]string{`{"country":"Portugal","did":"region","language":"Português"}`},
		[]Call{{"save_region", `{"country":"Portugal","language":"Português"}`}},
		[]Call{{"country", `{"country":"Portugal","language":"Português"}`}},
	},
	{
		"tabs", "Workspace", "export the payments as CSV",
		[]string{`{"as":"csv","did":"export","what":"billing"}`},
		[]Call{{"export_payments", `{"as":"csv"}`}},
		[]Call{{"tabs", `{}`}},
	},
	{
		"undo", "Inbox", "archive the Quarterly numbers, and undo it",
		[]string{`{"did":"archive","subject":"Quarterly numbers"}`, `{"did":"undo","subject":"Quarterly numbers"}`},
		[]Call{{"archive_mail", `{"subject":"Quarterly numbers"}`}, {"undo_archive", `{"subject":"Quarterly numbers"}`}},
		[]Call{{"undo", `{"subject":"Quarterly numbers"}`}},
	},
	{
		"menu", "Shop menu", "ask for a call about the Premium support plan",
		[]string{`{"did":"call","plan":"Premium"}`},
		[]Call{{"request_call", `{"plan":"Premium"}`}},
		[]Call{{"menu", `{"plan":"Premium"}`}},
	},
	{
		"flights", "Flights", "take the cheapest flight to Lisbon",
		[]string{`{"did":"flight","flight":"TP 1273","to":"Lisbon, Portugal"}`},
		[]Call{{"find_flights", `{"city":"lisb"}`}, {"select_flight", `{"flight":"TP 1273"}`}},
		[]Call{{"flights", `{"city":"lisb","flight":"TP 1273"}`}},
	},
}
