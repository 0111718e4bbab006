package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/portowner"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/face/admin"
	"tabhub/hub/state"
	"tabhub/spec"
	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/pairing"
)

// ExtensionCan is what the extension of this version does for the hub in every browser;
// it asks the user where there is a window, too.
var ExtensionCan = []spec.Capability{
	spec.CapOpenTab, spec.CapActivateTab, spec.CapCloseTab, spec.CapListTabs,
	spec.CapNavigate, spec.CapScreenshot, spec.CapText, spec.CapRest, spec.CapResume, spec.CapRoom, spec.CapHold,
}

// Reload is what has a browser use an extension that was written anew.
const Reload = "then reload it in chrome://extensions"

// extension looks which browsers are paired with the hub that runs, and whether they
// have joined.
func (d *Doctor) extension(ctx context.Context, refused []admin.Refusal) {
	var browsers []state.BrowserInfo
	var paired []pairing.Pairing
	err := command.Ask(ctx, d.App, "/api/browsers", &browsers)
	if err == nil {
		err = command.Ask(ctx, d.App, "/api/pair", &paired)
	}
	if err != nil {
		d.bad("extension", d.restart(), "the hub cannot be asked for browsers: %v", err)
		return
	}
	d.Browsers(browsers, paired)
	d.Refused(refused, browsers)
}

// Browsers looks whether the extensions of browsers are those of this version, and which
// browsers are away.
func (d *Doctor) Browsers(browsers []state.BrowserInfo, paired []pairing.Pairing) {
	seen := false
	for _, b := range browsers {
		name := browserName(b)
		if b.Single || !b.Attested || !b.Connected {
			continue
		}
		seen = true
		d.Joined = append(d.Joined, b.Pairing)
		if lacks := Missing(b.Capabilities); len(lacks) > 0 {
			d.bad("extension", "`"+d.command("extension", "DIR")+"` with the directory that it was loaded from, "+Reload, "that of %s is older than this tabhub: it cannot do %s", name, strings.Join(lacks, ", "))
		} else {
			d.fine("extension", "%s is connected; tabs: %d%s", name, b.Tabs, webMCPOf(b))
		}
	}
	var away []string
	for _, p := range paired {
		if !slices.Contains(d.Joined, p.ID) {
			away = append(away, terminal.OneLine(command.NameOf(p), 60)+" of "+p.Since.Local().Format(time.DateOnly))
		}
	}
	const most = 5
	list := strings.Join(away[:min(most, len(away))], ", ")
	if more := len(away) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	switch {
	case len(away) > 0 && seen:
		d.Note("extension", "", "paired, but not connected: %s", list)
	case len(away) > 0:
		d.Note("extension", "", "no browser is connected; paired: %s", list)
	case !seen:
		d.Note("extension", "`"+d.command("extension", "DIR")+"` writes it out; pages with /tab.js need none", "no browser is connected or paired")
	}
}

func browserName(b state.BrowserInfo) string {
	return cmp.Or(terminal.OneLine(b.Name, 60), "a browser")
}

// webMCPOf says who gives a browser's pages WebMCP.
func webMCPOf(b state.BrowserInfo) string {
	switch b.WebMCP {
	case "browser":
		return "; WebMCP is the browser's own"
	case "extension":
		return "; WebMCP is the extension's, as the browser has none"
	}
	return "" // it has seen no page that could tell
}

func Missing(has []spec.Capability) (lacks []string) {
	for _, c := range ExtensionCan {
		if !slices.Contains(has, c) {
			lacks = append(lacks, string(c))
		}
	}
	return lacks
}

// Refused says which extensions the hub did not let in.
func (d *Doctor) Refused(refused []admin.Refusal, browsers []state.BrowserInfo) {
	for _, no := range refused {
		when := "at " + no.Last.Local().Format(time.DateTime)
		if no.Times > 1 {
			when += fmt.Sprintf(", the last of %d times", no.Times)
		}
		if !no.Own {
			d.Note("extension", "", "another user or machine said that it is the extension, and was refused %s: %s", when, no.Reason)
			continue
		}
		fix := "`" + d.command("extension", "DIR") + "` with the directory that it was loaded from, " + Reload + "; `" + d.command("browser", "pair") + "` for one from elsewhere"
		// Who has joined since may be the one that was refused.
		if slices.ContainsFunc(browsers, func(b state.BrowserInfo) bool { return b.Pairing != "" && b.ConnectedAt.After(no.Last) }) {
			d.Note("extension", fix, "one was refused %s: %s", when, no.Reason)
		} else {
			d.bad("extension", fix, "one was refused %s: %s", when, no.Reason)
		}
	}
}

// Copies looks at what `tabhub extension` has written. at is where an extension finds the
// hub that runs, "" if none does; auto says that a client has started it.
func (d *Doctor) Copies(at string, auto bool) {
	dirs, err := d.Dir.Extensions()
	if err != nil {
		d.Note("extension", "", "%v", err)
		return
	}
	for _, dir := range dirs {
		l, err := extension.Read(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // it was deleted
		case err != nil:
			d.Note("extension", "", "%s: %v", dir, err)
			continue
		case !l.Current || l.Pairing == "":
			d.Note("extension", d.command("extension", dir)+"; "+Reload, "the copy in %s is not of this version", dir)
		}
		if l.Pairing != "" && !slices.Contains(d.Joined, l.Pairing) {
			d.looksFor(dir, l.Address, at, auto)
		}
	}
}

// looksFor looks whether the copy of the extension in dir finds the hub where it looks
// for it.
func (d *Doctor) looksFor(dir, address, at string, auto bool) {
	u, err := url.Parse(address)
	if err != nil || !settings.IsLoopback(u.Hostname()) || u.Port() == "" {
		return // by a name, of which this machine need not know
	}
	host := u.Hostname()
	if host == "localhost" {
		host = "127.0.0.1" // as the extension takes it
	}
	addr := net.JoinHostPort(host, u.Port())
	held := taken(addr)
	switch {
	case at == "" && (!held || slices.Contains(d.wanted(), addr)): // the next hub is there, or who has it was said
		return
	case at != "" && slices.Contains(d.Addrs, addr) && strings.HasPrefix(at, u.Scheme+":"):
		return
	}
	where := "where nobody listens"
	if held {
		where = "which " + portowner.Describe(addr) + " has"
	}
	fix := d.command("extension", dir) + "; " + Reload
	switch {
	case at == "":
		fix, at = "end that; or `"+d.command("serve", "--listen", "127.0.0.1:0")+"` and "+fix, "nowhere yet"
	case held && auto:
		fix = "end that, then " + d.restart()
	}
	d.bad("extension", fix, "the copy in %s looks for the hub at %s, %s; it tells nothing to what is not the hub, which is at %s", dir, address, where, at)
}
