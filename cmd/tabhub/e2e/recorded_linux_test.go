package e2e

import (
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest/packpages"
)

// A person shows twice how a form is sent, and a client then sends it with words of its own.
func TestRecordedPack(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	h := p.host()
	b := p.browse()
	s := packpages.New(t)
	page := b.Open(s.URL + "/forms/contact")
	popup := openPopup(b, s.URL)
	// show has the person send the form while the command waits, and returns what that then says.
	show := func(name, message string, args ...string) string {
		t.Helper()
		page.Reload()
		page.Front()
		said := make(chan string, 1)
		go func() { said <- p.onTerminal("", append([]string{"pack", "record", "contact"}, args...)...) }()
		popup.WaitFor("document.querySelector('#recording')?.textContent.includes('Record what you do?')")
		press := func(id string) {
			t.Helper()
			popup.Front()
			popup.WaitFor("document.querySelector('#recording #" + id + "')")
			popup.Click("#recording #" + id)
		}
		press("record")
		page.Front()
		page.WaitFor("document.documentElement.lastElementChild.style.zIndex === '2147483647'")
		page.Click("[name=name]")
		page.Type(name)
		page.Click("[name=message]")
		page.Type(message)
		page.Click("form button")
		page.WaitFor("document.querySelector('[role=status]').textContent.startsWith('Sent')")
		press("stop")
		press("send")
		return <-said
	}
	if said := show("Ann", "Hello"); !strings.Contains(said, `"Ann"`) || !strings.Contains(said, `clicks button "Send"`) {
		t.Errorf("recorded once: %s", said)
	}
	if said := show("Bob", "Where is my tea?", "--again"); !strings.Contains(said, "takes: {name: string, message: string}") {
		t.Errorf("recorded twice: %s", said)
	}
	if said := p.onTerminal("y\n", "pack", "add", "contact"); !strings.Contains(said, "contact is in use") {
		t.Fatalf("accepted: %s", said)
	}
	page.Reload()
	r := packTool{pack: "contact", tool: "send", input: raw(`{"name":"Cid","message":"Thanks"}`)}
	if a := r.ask(h, r.name(h, s)); a.outcome() != "ok" || !strings.Contains(string(a.result), "Cid") {
		t.Errorf("called: %s", a.result)
	}
	page.WaitFor("document.querySelector('[role=status]').textContent.startsWith('Sent: Cid')")
	if n := s.Acts("contact"); n != 3 {
		t.Errorf("the form was sent %d times", n)
	}
}
