package state

import (
	"testing"
	"time"

	"tabhub/hub/agents"
	"tabhub/spec"
	"tabhub/tabtransport"
)

func browserConn(id, secret string) tabtransport.Conn {
	return tabtransport.Conn{
		Origin: "chrome-extension://x", Attested: true, Dialect: spec.Subprotocol,
		Hello: &spec.Hello{BrowserID: spec.BrowserID(id), Session: "s1", BrowserSecret: secret, BrowserName: "Chrome"},
	}
}

func (f *fixture) secretOf(conn tabtransport.Conn) (secret string, err error) {
	f.t.Helper()
	f.change(func(tx *Tx) { _, secret, err = tx.Connect(conn, fresh) })
	return secret, err
}

func TestBrowserSecret(t *testing.T) {
	f := newFixture(t)
	first, err := f.secretOf(browserConn("b1", ""))
	if err != nil || first == "" {
		t.Fatalf("first hello: %q, %v", first, err)
	}
	// The answer was lost: the browser asks again, without a secret.
	second, err := f.secretOf(browserConn("b1", ""))
	if err != nil || second == "" || second == first {
		t.Fatalf("second hello: %q, %v", second, err)
	}
	if again, err := f.secretOf(browserConn("b1", second)); err != nil || again != "" {
		t.Fatalf("hello with the secret: %q, %v", again, err)
	}
	for range 2 {
		for _, wrong := range []string{"", first, "x"} {
			if _, err := f.secretOf(browserConn("b1", wrong)); err == nil {
				t.Errorf("secret %q was taken", wrong)
			}
		}
		f.restart()
	}
}

// A browser that has said anything after hello has its secret; nobody may take its
// place without it, though it has not come back yet.
func TestBrowserSecretCountsFromTheFirstMessage(t *testing.T) {
	f := newFixture(t)
	secret, err := f.secretOf(browserConn("b1", ""))
	if err != nil {
		t.Fatal(err)
	}
	f.tabState(spec.TabAddr{Peer: "browser:b1", Tab: 1}, &spec.TabState{Active: new(true)})
	for _, wrong := range []string{"", "x"} {
		if _, err := f.secretOf(browserConn("b1", wrong)); err == nil {
			t.Errorf("secret %q was taken", wrong)
		}
	}
	if _, err := f.secretOf(browserConn("b1", secret)); err != nil {
		t.Error(err)
	}
}

// A page is one tab, whatever it says: only the extension, and programs of the user,
// are browsers, which the hub asks to open tabs and to let the user confirm.
func TestPageIsNoBrowser(t *testing.T) {
	f := newFixture(t)
	c := browserConn("b1", "")
	c.Origin, c.Attested = "https://evil.com", false
	if _, err := f.secretOf(c); err == nil {
		t.Error("a page was taken for a browser")
	}
}

// A browser's name is told to models that list tabs.
func TestTextOfBrowserNames(t *testing.T) {
	f := newFixture(t)
	c := browserConn("b1", "")
	c.Hello.BrowserName = "Chro\u202eme\U000e0041\x1b"
	f.connect(c)
	if got := f.Browsers(agents.By{}, f.now)[0].Name; got != "Chrome" {
		t.Errorf("the browser is called %+q", got)
	}
}

// A timer is not stopped when it is of no use any more: one that runs out late must not
// cost a peer that has come back its tabs.
func TestOvertakenTimer(t *testing.T) {
	f := newFixture(t)
	b := f.chrome("b1", "s1", 1)
	f.tools(b, "https://e.com/", "x")
	f.disconnect(b)
	f.pass(spec.BrowserGrace - time.Second)
	f.chrome("b1", "s1", 1)
	f.tools(b, "https://e.com/", "x")
	f.pass(time.Second) // the first grace would be over
	f.disconnect(b)
	f.pass(spec.BrowserGrace - time.Second) // so would be the time to confirm
	f.wantTools("e_com_x")
	f.pass(time.Second)
	f.wantTools("")
	if len(f.peers) != 0 || len(f.gone) != 1 || f.gone[0].Code != 0 {
		t.Errorf("%d peers are left; gone: %+v", len(f.peers), f.gone)
	}
}

// What a connection said before it was replaced counts no more: the new one may belong
// to another document.
func TestRegistrationOfAReplacedConnection(t *testing.T) {
	f := newFixture(t)
	p := f.page("https://e.com", "a")
	m := &spec.Register{Kind: spec.KindTool}
	var r *Registration
	f.change(func(tx *Tx) { r = tx.BeginRegistration(p, m) })
	f.page("https://e.com", "a")
	f.change(func(tx *Tx) {
		if _, err := tx.Register(r, m, nil, nil); err != ErrReplaced {
			t.Errorf("registered, %v", err)
		}
	})
	if len(f.reading) != 0 {
		t.Error("the registration is remembered")
	}
}

// An update names no URL: it belongs where the tab is.
func TestUpdateWithoutURL(t *testing.T) {
	f := newFixture(t)
	program := spec.TabAddr{Peer: f.connect(tabtransport.Conn{Dialect: spec.Subprotocol})}
	b := f.chrome("b1", "s1", 1)
	f.tools(b, "https://e.com/", "x")
	f.tools(program, "https://p.com/", "x")
	f.tools(b, "", "y")
	f.tools(program, "", "y")
	f.wantTools("e_com_y unverified_p_com_y")
}

// What nobody vouches for never shares a domain with what somebody does.
func TestClaimedOriginIsUnverified(t *testing.T) {
	f := newFixture(t)
	bank := f.page("https://bank.com", "a")
	f.tools(bank, "https://bank.com/", "pay")
	f.tools(f.page("https://evil.com", "a"), "https://bank.com/", "pay")
	liar := f.connect(tabtransport.Conn{Origin: "https://evil.com", ClaimedOrigin: "https://bank.com", Dialect: "webmcp.v1", Hello: &spec.Hello{TabKey: "t"}})
	f.tools(spec.TabAddr{Peer: liar}, "https://bank.com/", "pay")
	program := f.connect(tabtransport.Conn{Dialect: spec.Subprotocol})
	f.tools(spec.TabAddr{Peer: program}, "https://bank.com/", "pay")
	f.tools(f.page("https://evil.com", "b"), "", `pay:"origin":"https://bank.com"`)
	f.wantTarget("bank_com_pay", bank, "pay")
	for _, l := range f.List(nil, agents.By{}, "bank.com", spec.KindTool, false) {
		if l.Tab != 0 && !l.Alone {
			t.Errorf("%s shares the bank's domain", l.Public)
		}
	}
	if u := f.Tabs(agents.By{}); len(u) != 5 {
		t.Errorf("%d tabs", len(u))
	}
}

// A new title shows, also when it comes with the same tools.
func TestTitleOfARegistration(t *testing.T) {
	f := newFixture(t)
	p := f.page("https://e.com", "a")
	f.tools(p, "https://e.com/", "x")
	before := f.Generation()
	m := &spec.Register{Kind: spec.KindTool, TabURL: "https://e.com/", Title: "Checkout"}
	f.change(func(tx *Tx) {
		if out, err := tx.Register(tx.BeginRegistration(p, m), m, f.tabs[p].items[spec.KindTool], nil); err != nil || out.Changed {
			t.Errorf("registered %+v, %v", out, err)
		}
	})
	if l, _ := f.Find(agents.By{}, spec.KindTool, "website_tool_e_com_tab1_x"); l.Place.Title != "Checkout" || f.Generation() == before {
		t.Errorf("listed as %+v", l.Place)
	}
}
