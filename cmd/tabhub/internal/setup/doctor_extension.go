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

// ExtensionCan are the capabilities of this version's extension in every browser. Where there is
// a window, it can ask the user, too.
var ExtensionCan = []spec.Capability{
	spec.CapOpenTab, spec.CapActivateTab, spec.CapCloseTab, spec.CapListTabs,
	spec.CapNavigate, spec.CapScreenshot, spec.CapText, spec.CapRest, spec.CapResume, spec.CapRoom, spec.CapHold, spec.CapPacks, spec.CapLook,
}

// Reload tells the user how a browser takes up an extension that was written again.
const Reload = "then reload it in chrome://extensions"

// extension checks the browsers that are paired with the hub, and the extensions that
// `tabhub extension` has written.
func (d *Doctor) extension(ctx context.Context) {
	switch {
	case d.silent:
		return
	case d.Status == nil:
		d.Copies("")
		return
	case d.Status.User == "":
		d.note("extension", "set TABHUB_TOKEN to the token of one", "each user of this hub has browsers of their own")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	d.browsers(ctx)
	d.Copies(hubAddress(d.Dir))
}

func (d *Doctor) browsers(ctx context.Context) {
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
	d.Refused(d.Status.Refused, browsers)
}

// Browsers checks that the browsers' extensions are of this version, and lists the paired
// browsers that are not connected.
func (d *Doctor) Browsers(browsers []state.BrowserInfo, paired []pairing.Pairing) {
	seen := false
	for _, b := range browsers {
		name := cmp.Or(terminal.OneLine(b.Name, 60), "a browser")
		if !hasExtension(b) {
			continue
		}
		seen = true
		d.Joined = append(d.Joined, b.Pairing)
		if lacks := Missing(b.Capabilities); len(lacks) > 0 {
			d.bad("extension", "`"+d.command("extension", "DIR")+"` with the directory that it was loaded from, "+Reload, "that of %s is older than this tabhub: it cannot do %s", name, strings.Join(lacks, ", "))
		} else {
			d.fine("extension", "%s is connected; tabs: %d%s%s", name, b.Tabs, webMCPOf(b), trustedInputOf(b))
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
		d.note("extension", "", "paired, but not connected: %s", list)
	case len(away) > 0:
		d.note("extension", "", "no browser is connected; paired: %s", list)
	case !seen:
		fix := "`" + d.command("extension", "DIR") + "` writes it out; pages with /tab.js need none"
		if dirs, _ := d.Dir.Extensions(); len(dirs) > 0 {
			fix = "load " + dirs[len(dirs)-1] + " in chrome://extensions; pages with /tab.js need none"
		}
		d.note("extension", fix, "%s, and no browser is connected", command.Unpaired)
	}
}

// hasExtension reports whether a browser is connected with the extension.
func hasExtension(b state.BrowserInfo) bool { return b.Connected && b.Attested && !b.Single }

// webMCPOf says whether a browser's pages have WebMCP from the browser or from the extension.
func webMCPOf(b state.BrowserInfo) string {
	switch b.WebMCP {
	case "browser":
		return "; WebMCP is the browser's own"
	case "extension":
		return "; WebMCP is the extension's, as the browser has none"
	}
	return "" // no page has shown it yet
}

// trustedInputOf says whether clients act in a browser with input that pages cannot tell from its user's.
func trustedInputOf(b state.BrowserInfo) string {
	if slices.Contains(b.Capabilities, spec.CapTrustedInput) {
		return "; clients act there with trusted input, which pages cannot tell from yours"
	}
	return ""
}

func Missing(has []spec.Capability) (lacks []string) {
	for _, c := range ExtensionCan {
		if !slices.Contains(has, c) {
			lacks = append(lacks, string(c))
		}
	}
	return lacks
}

// Refused lists the extensions that the hub refused.
func (d *Doctor) Refused(refused []admin.Refusal, browsers []state.BrowserInfo) {
	for _, no := range refused {
		when := "at " + no.Last.Local().Format(time.DateTime)
		if no.Times > 1 {
			when += fmt.Sprintf(", the last of %d times", no.Times)
		}
		if !no.Own {
			d.note("extension", "", "another user or machine said that it is the extension, and was refused %s: %s", when, no.Reason)
			continue
		}
		fix := "`" + d.command("extension", "DIR") + "` with the directory that it was loaded from, " + Reload + "; `" + d.command("browser", "pair") + "` for one from elsewhere"
		// A browser that has connected since may be the one that was refused.
		if slices.ContainsFunc(browsers, func(b state.BrowserInfo) bool { return b.Pairing != "" && b.ConnectedAt.After(no.Last) }) {
			d.note("extension", fix, "one was refused %s: %s", when, no.Reason)
		} else {
			d.bad("extension", fix, "one was refused %s: %s", when, no.Reason)
		}
	}
}

// Copies checks the extensions that `tabhub extension` has written. at is where an extension finds
// the hub that runs, "" if none does.
func (d *Doctor) Copies(at string) {
	dirs, err := d.Dir.Extensions()
	if err != nil {
		d.note("extension", "", "%v", err)
		return
	}
	for _, dir := range dirs {
		l, err := extension.Read(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // it was deleted
		case err != nil:
			d.note("extension", "", "%s: %v", dir, err)
			continue
		case !l.Current || l.Pairing == "":
			d.note("extension", d.rewrite(dir, l)+"; "+Reload, "the copy in %s is not of this version", dir)
		}
		if l.Pairing != "" && !slices.Contains(d.Joined, l.Pairing) {
			d.looksFor(dir, l, at)
		}
	}
}

// rewrite is the command that writes the copy in dir again, as the build that it is.
func (d *Doctor) rewrite(dir string, l extension.Loadable) string {
	if l.TrustedInput {
		return d.command("extension", dir, "--trusted-input")
	}
	return d.command("extension", dir)
}

// looksFor checks that the extension in dir finds the hub at the address that it has.
func (d *Doctor) looksFor(dir string, l extension.Loadable, at string) {
	u, err := url.Parse(l.Address)
	if err != nil || !settings.IsLoopback(u.Hostname()) || u.Port() == "" {
		return // a name that this machine may not be able to resolve
	}
	host := u.Hostname()
	if host == "localhost" {
		host = "127.0.0.1" // as the extension does
	}
	addr := net.JoinHostPort(host, u.Port())
	held := taken(addr)
	switch {
	case at == "" && (!held || slices.Contains(d.wanted(), addr)): // the next hub is there, or the check of the ports names the process
		return
	case at != "" && slices.Contains(d.Addrs, addr) && strings.HasPrefix(at, u.Scheme+":"):
		return
	}
	where := "where nothing listens"
	if held {
		where = "which is in use by " + portowner.Describe(addr)
	}
	fix := d.rewrite(dir, l) + "; " + Reload
	switch {
	case at == "":
		fix, at = "end that; or `"+d.command("serve", "--listen", "127.0.0.1:0")+"` and "+fix, "nowhere yet"
	case held && d.auto():
		fix = "end that, then " + d.restart()
	}
	d.bad("extension", fix, "the copy in %s looks for the hub at %s, %s; it tells nothing to what is not the hub, which is at %s", dir, l.Address, where, at)
}
