package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/spec"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/tabtest/chromium"
	"tabhub/tabtransport/wsserver/wstest"
)

// pairCommand is `tabhub pair` while it waits for a browser.
type pairCommand struct {
	*rig.Process
	stdout     *rig.Output
	link, code string
}

// invitationLink matches what `tabhub pair` prints.
var invitationLink = regexp.MustCompile(`(http://\S+/pair#(browser\.[a-z0-9]+)\.([\w-]+)\.\d+)\s(?s:.*) this code:  (\d{3} \d{3})`)

// startPairing runs `tabhub pair` until it waits.
func (p *place) startPairing() *pairCommand {
	p.t.Helper()
	cmd := p.command("pair", "--print")
	c := &pairCommand{stdout: rig.NewOutput()}
	cmd.Stdout = c.stdout
	c.Process = rig.Start(p.t, cmd)
	p.t.Cleanup(c.Stop)
	c.stdout.Await(p.t, "this code:")
	m := invitationLink.FindStringSubmatch(c.stdout.String())
	if m == nil {
		p.t.Fatalf("tabhub pair prints %s", c.stdout)
	}
	c.link, c.code = m[1], m[4]
	return c
}

// invited returns the pairing and the key that the link holds.
func (c *pairCommand) invited() (spec.PairingID, pairing.Key) {
	c.T.Helper()
	m := invitationLink.FindStringSubmatch(c.stdout.String())
	key, err := pairing.ParseKey(m[3])
	if err != nil {
		c.T.Fatal(err)
	}
	return spec.PairingID(m[2]), key
}

// awaitPaired waits for the end of the command.
func (c *pairCommand) awaitPaired(browser string) {
	c.T.Helper()
	c.AwaitEnd()
	if got := c.stdout.String(); c.Cmd.ProcessState.ExitCode() != 0 || !strings.Contains(got, "Paired with "+browser) {
		c.T.Errorf("tabhub pair ended with %d: %s%s", c.Cmd.ProcessState.ExitCode(), got, c.Stderr)
	}
}

// The extension that somebody has from elsewhere, here from another hub, is introduced by
// its user, works, and is cut off when they say so.
func TestPair(t *testing.T) {
	t.Parallel()
	p, elsewhere := newPlace(t), newPlace(t)
	p.serve()
	dir, _ := elsewhere.writeExtension()
	b := chromium.Start(t, chromium.Options{Extension: dir, WebMCP: true})
	b.Open(website(t) + "/?1")
	command := p.startPairing()
	page := b.Open(command.link)
	window := b.Window("invite.html")
	window.WaitFor(fmt.Sprintf("document.querySelector('#code').textContent === %q", command.code))
	window.ClickLast("#accept")
	command.awaitPaired("Chrom")
	page.WaitFor("location.hash === '#accepted'")
	c := p.stdio()
	list := c.awaitTools("the shop's tools are listed", func(l tools) bool { return len(l.names()) == 4 })
	if a := c.call(list.named("_buy"), `{"n":1}`); a.outcome() != "ok" {
		t.Errorf("buy: %s", a.outcome())
	}

	stdout, stderr, exit := p.run("pair", "--list")
	id := regexp.MustCompile(`browser\.[a-z0-9]+`).FindString(stdout)
	if exit != 0 || id == "" || strings.Count(stdout, "\n") != 2 || !strings.Contains(stdout, "Chrom") || !strings.Contains(stdout, "by tabhub pair") {
		t.Fatalf("the pairings are %s%s", stdout, stderr)
	}
	if _, stderr, exit := p.run("pair", "--forget", id); exit != 0 {
		t.Fatal(stderr)
	}
	popup := b.Open("chrome-extension://" + b.ExtensionID + "/popup.html")
	popup.WaitFor("!['Connected', 'Connecting'].some(word => document.querySelector('#headline').textContent.startsWith(word))")
	popup.Eval("chrome.runtime.sendMessage({ask: 'reconnect'})")
	popup.WaitFor("document.querySelector('#headline').textContent.includes('Not paired')")
	var browsers []struct{ Connected bool }
	p.api("/api/browsers", &browsers)
	for _, x := range browsers {
		if x.Connected {
			t.Errorf("the browser is still connected: %+v", browsers)
		}
	}
	if stdout, _, _ := p.run("pair", "--list"); strings.Contains(stdout, id) {
		t.Errorf("the pairings are %s", stdout)
	}
	// The address is good once.
	again, key := command.invited()
	if _, err := p.pair(again, key, "late"); err == nil {
		t.Error("the address can be used twice")
	}
}

// Where each user has a hub of their own, a browser is paired into that of who has asked,
// and nobody else sees it, can have it forgotten, or calls its tools.
func TestPairWithAccounts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("0123456789abcdef", 4)), 0o600); err != nil {
		t.Fatal(err)
	}
	p.serve("--auth", "jwt", "--jwt-secret", secret)
	if _, stderr, exit := p.run("pair", "--print"); exit != 1 || !strings.Contains(stderr, "TABHUB_TOKEN") {
		t.Errorf("nobody pairs a browser: %d %s", exit, stderr)
	}
	if p.nodes == nil { // whose nodes make none
		// A copy of `tabhub extension` is nobody's.
		_, copied := p.writeExtension()
		key, err := pairing.ParseKey(copied.Key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.pair(spec.PairingID(copied.Pairing), key, "nobody's"); err == nil || !strings.Contains(err.Error(), "tabhub pair") {
			t.Errorf("a browser of nobody is let in: %v", err)
		}
	}

	env := p.env
	as := func(user string) string {
		token := signed(t, secret, map[string]any{"user_id": user, "exp": time.Now().Add(time.Hour).Unix()})
		p.env = append(env[:len(env):len(env)], "TABHUB_TOKEN="+token)
		return token
	}
	alice, bob := as("alice"), as("bob")
	as("alice")
	command := p.startPairing()
	id, key := command.invited()
	x, err := p.pair(id, key, "hers")
	if err != nil {
		t.Fatal(err)
	}
	x.offer(bank+"/", transferTool)
	command.awaitPaired("Browser hers")
	if names := listTools(t, p.httpAs(alice)).names(); len(names) != 1 {
		t.Errorf("Alice has the tools %q", names)
	}
	if names := listTools(t, p.httpAs(bob)).names(); len(names) != 0 {
		t.Errorf("Bob has the tools %q", names)
	}
	as("bob")
	if stdout, _, _ := p.run("pair", "--list"); strings.Contains(stdout, string(id)) {
		t.Errorf("Bob sees %s", stdout)
	}
	for _, what := range []string{string(id), "all"} {
		if _, _, exit := p.run("pair", "--forget", what); exit == 0 {
			t.Errorf("Bob has %s forgotten", what)
		}
	}
	if a := p.httpAs(alice).ask("tools/call", fmt.Sprintf(`{"name":%q}`, listTools(t, p.httpAs(alice)).names()[0])); a.outcome() != "ok" {
		t.Errorf("Alice's call: %s", a.outcome())
	}
	as("alice")
	if _, stderr, exit := p.run("pair", "--forget", "all"); exit != 0 {
		t.Error(stderr)
	}
	select {
	case <-x.ended:
	case <-time.After(timeout):
		t.Fatal("a browser that was forgotten stays")
	}
	if wstest.CloseCode(x.err) != spec.CloseRefused || !strings.Contains(x.err.Error(), "the pairing was forgotten") {
		t.Errorf("a browser that was forgotten is told %v", x.err)
	}
	if _, err := p.pair(id, x.next, "hers"); err == nil {
		t.Error("a browser that was forgotten is let in again")
	}
}
