package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport/extension"
)

const (
	listedOrigin  = "chrome-extension://" + proxyExtensionID
	allowedOrigin = "https://app.example.com"
)

// registerAs is what a browser says to offer a tool of the bank.
func registerAs(browser string) []string {
	return []string{
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"browser/hello","params":{"protocolVersion":"tabhub.v1","browserId":%q,"session":"s"}}`, browser),
		registerFrame,
	}
}

const registerFrame = `{"jsonrpc":"2.0","id":2,"tabId":1,"method":"browser/registerTools","params":{"tools":` + transferTool + `,"tabUrl":"` + bank + `/","title":"Bank"}}`

// companionVisits are those of a program that says that it is the companion extension.
func (p *place) companionVisits(copied pairingText) []visit {
	zeros := strings.Repeat("A", 43)
	hello := registerAs("forged")
	proved := strings.Replace(hello[0], `"session"`, `"proof":"`+zeros+`","session"`, 1)
	// A pairing's id is no secret: who has the hub's port is told it.
	pair := fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"browser/pair","params":{"protocolVersion":"tabhub.v1","pairing":%q,"nonce":%q}}`, copied.Pairing, zeros)
	var visits []visit
	for _, frames := range [][]string{
		hello, {proved, registerFrame}, {registerFrame},
		{strings.Replace(hello[0], "tabhub.v1", "tabhub.v0", 1), registerFrame},
		{`{"type":"register-tools","tools":` + transferTool + `}`},
		{pair, hello[0], registerFrame}, {pair, proved, registerFrame}, {pair, pair, proved}, {pair, registerFrame},
	} {
		visits = append(visits, visit{URL: "ws://" + p.listen + "/tabs", Origin: extension.Origin, Subprotocols: []string{spec.Subprotocol}, Frames: frames, Stay: "nothing"})
	}
	return append(visits,
		visit{URL: "ws://" + p.listen + "/extension", Origin: extension.Origin, Stay: "authenticated"},
		visit{URL: "ws://" + p.listen + "/relay", Origin: extension.Origin, Stay: "authenticated"},
		visit{URL: "ws://" + p.listen + "/", Origin: extension.Origin, Subprotocols: []string{"webmcp.v1"}, Stay: "server-hello"})
}

// originVisits are those of a program that says that it is what the hub believes by its
// origin: a listed extension, and, on a hub that asks for a token, the pages that need none.
func (p *place) originVisits(auth string) []visit {
	pages := []string{"http://localhost:5173", "http://" + p.listen, allowedOrigin}
	if auth == "none" {
		pages = nil // everybody is let in
	}
	var visits []visit
	for _, host := range []string{p.listen, strings.Replace(p.listen, "127.0.0.1", "[::ffff:127.0.0.1]", 1)} {
		for i, origin := range append([]string{listedOrigin}, pages...) {
			visits = append(visits, visit{URL: "ws://" + host + "/tabs", Origin: origin, Subprotocols: []string{spec.Subprotocol}, Frames: registerAs(fmt.Sprint("forged-", i)), Stay: "nothing"})
		}
		for _, origin := range pages {
			visits = append(visits, visit{URL: "ws://" + host + "/", Origin: origin, Subprotocols: []string{"webmcp.v1"}, Stay: "server-hello"})
		}
		visits = append(visits,
			visit{URL: "ws://" + host + "/extension", Origin: listedOrigin, Stay: `"authenticated"`},
			visit{URL: "ws://" + host + "/relay", Origin: listedOrigin, Frames: []string{`{"method":"extension_handshake","params":{"name":"Chrome 141"}}`}})
	}
	return visits
}

// tabReport is what the admin API tells of a tab.
type tabReport struct {
	URL, BrowserID string
	Attested       bool
}

func (p *place) tabs() (list []tabReport) {
	p.t.Helper()
	stdout, stderr, exit := p.run("tabs", "--json")
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || exit != 0 {
		p.t.Fatalf("tabs: %s%s", stdout, stderr)
	}
	return list
}

// The Origin header is a browser's word only where a browser has sent it: a program sends
// what it likes. It must not become a tab of the user's bank, nor fill the log.
func TestForgedOrigin(t *testing.T) {
	t.Parallel()
	for _, auth := range []string{"token", "none"} {
		t.Run("auth "+auth, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			hub := p.serve("--auth", auth, "--extension-id", proxyExtensionID, "--allow-origin", allowedOrigin)
			_, copied := p.writeExtension()
			real := p.companion(copied, "real", bank+"/", transferTool)
			c := p.stdio()
			list := c.awaitTools("the bank's tool is listed", func(l tools) bool { return len(l.names()) == 1 })
			stillReal := func(what string) {
				t.Helper()
				if now := c.tools().names(); !slices.Equal(now, list.names()) {
					t.Errorf("after %s the tools are %q, were %q", what, now, list.names())
				}
				before := real.calls.Load()
				if a := c.call(list.named("_transfer"), `{}`); a.outcome() != "ok" || real.calls.Load() != before+1 {
					t.Errorf("after %s a call does not get to the real tab: %s", what, a.outcome())
				}
				for _, x := range p.tabs() {
					if x.BrowserID != "real" {
						t.Errorf("after %s there is the tab %+v", what, x)
					}
				}
			}
			visits := p.companionVisits(copied)
			check := func(what string, outcomes []outcome) {
				t.Helper()
				for i, o := range outcomes {
					if !o.refused() {
						t.Errorf("%s: %+v: %+v, want a refusal", what, visits[i], o)
					}
				}
				stillReal(what)
			}
			check("visits of the user's own program", makeVisits(visits))
			if os.Geteuid() == 0 {
				check("visits of another user", play[[]outcome](t, asOther(t, "visit"), visits))
				visits = p.originVisits(auth)
				check("visits of another user that name what is allowed", play[[]outcome](t, asOther(t, "visit"), visits))
			}
			for _, line := range []string{`"connection refused".* origin=` + extension.Origin, `"connection refused".* origin=` + listedOrigin, `"extension refused"`} {
				if n := len(regexp.MustCompile(line).FindAllString(hub.Stderr.String(), -1)); n > 1 {
					t.Errorf("within a minute the log has %d lines %s", n, line)
				}
			}

			// What the user has allowed is open to the user's own programs: nothing tells them
			// from a browser. (PROTOCOL.md, "Connections")
			own := p.originVisits(auth)[0]
			own.Stay = ""
			if o := own.make(); len(o.Frames) != 2 || !strings.Contains(o.Frames[1], `"rejected":[]`) {
				t.Errorf("the user's own program is refused: %+v", o)
			}
			if !slices.ContainsFunc(p.tabs(), func(x tabReport) bool { return x.BrowserID == "forged-0" && x.Attested }) {
				t.Errorf("the tabs are %+v", p.tabs())
			}
		})
	}
	needsOther(t) // for a part of it
}
