package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/spec"
	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/tabtest/chromium"
)

// pairCommand is `tabhub browser pair` while it waits for a browser.
type pairCommand struct {
	*rig.Process
	stdout     *rig.Output
	link, code string
}

// invitationLink matches what `tabhub browser pair` prints.
var invitationLink = regexp.MustCompile(`(http://\S+/pair#(browser\.[a-z0-9]+)\.([\w-]+)\.\d+)\s(?s:.*) this code:  (\d{3} \d{3})`)

// startPairing runs `tabhub browser pair` until it waits.
func (p *place) startPairing() *pairCommand {
	p.t.Helper()
	cmd := p.command("browser", "pair", "--print")
	c := &pairCommand{stdout: rig.NewOutput()}
	cmd.Stdout = c.stdout
	c.Process = rig.Start(p.t, cmd)
	p.t.Cleanup(c.Stop)
	c.stdout.Await(p.t, "this code:")
	m := invitationLink.FindStringSubmatch(c.stdout.String())
	if m == nil {
		p.t.Fatalf("tabhub browser pair prints %s", c.stdout)
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
		c.T.Errorf("tabhub browser pair ended with %d: %s%s", c.Cmd.ProcessState.ExitCode(), got, c.Stderr)
	}
}

// fromStore writes the extension to a directory as a store delivers it, with the store's
// additions to the manifest.
func fromStore(t testing.TB) string {
	t.Helper()
	all, err := extension.ForStore("1.2.0")
	if err != nil {
		t.Fatal(err)
	}
	var manifest, source map[string]any
	text, err := os.ReadFile(filepath.FromSlash("../../../tabtransport/extension/manifest.json"))
	if err := errors.Join(err, json.Unmarshal(all["manifest.json"], &manifest), json.Unmarshal(text, &source)); err != nil {
		t.Fatal(err)
	}
	manifest["key"] = source["key"]
	manifest["update_url"] = "https://clients2.google.com/service/update2/crx"
	if all["manifest.json"], err = json.Marshal(manifest); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range all {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A user who has the extension from a store pairs it once. It works until they say that it is
// to be cut off.
func TestPair(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	b := chromium.Shared(t, chromium.Options{Extension: fromStore(t), WebMCP: true})
	if b.ExtensionID != extension.ID {
		t.Fatalf("its id is %s, not %s, which hubs know", b.ExtensionID, extension.ID)
	}
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

	stdout, stderr, exit := p.run("browser", "forget")
	id := regexp.MustCompile(`browser\.[a-z0-9]+`).FindString(stdout)
	if exit != 0 || id == "" || strings.Count(stdout, "\n") != 2 || !strings.Contains(stdout, "Chrom") || !strings.Contains(stdout, "by tabhub browser pair") {
		t.Fatalf("the pairings are %s%s", stdout, stderr)
	}
	p.succeed("browser", "forget", id)
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
	if stdout := p.succeed("browser", "forget"); strings.Contains(stdout, id) {
		t.Errorf("the pairings are %s", stdout)
	}
	// The address is good once.
	again, key := command.invited()
	if _, err := p.pair(again, key, "late"); err == nil {
		t.Error("the address can be used twice")
	}
}
