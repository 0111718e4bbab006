package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"tabhub/cmd/tabhub/internal/holder"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub"
	"tabhub/hub/httpd"
	"tabhub/spec"
)

// answerTime is how long the hub may take to answer a question.
const answerTime = 5 * time.Second

// hub looks at the hub that runs, or at what would keep one from running.
func (d *doctor) hub(ctx context.Context) {
	if !d.dir.Held(home.HubLock) {
		text := "none runs; the first client starts one"
		if _, err := os.Stat(d.dir.HubFile()); err == nil {
			text += " (a hub that was killed left " + d.dir.HubFile() + ", which does no harm)"
		}
		d.note("hub", "", "%s", text)
		d.store()
		d.ports(false)
		return
	}
	h, err := d.dir.ReadHub()
	if err != nil {
		who := "a process holds " + string(d.dir) + ", but "
		if errors.Is(err, fs.ErrNotExist) {
			d.bad("hub", "it may be about to start or to end; if this is so in a minute, end it", "%sdoes not say where it listens", who)
		} else {
			d.bad("hub", d.restart()+"; if that does not help, end the process", "%s%v", who, err)
		}
		return
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var status httpd.StatusReport
	err = ask(ctx, d.app, "/api/status", &status)
	if no, ok := errors.AsType[*apiError](err); ok && no.status == http.StatusUnauthorized {
		d.bad("hub", "set TABHUB_TOKEN to nothing, or, for a hub with accounts, to a token that `tabhub token mint` makes", "the one at %s (process %d) does not know TABHUB_TOKEN: %v", h.URL(), h.PID, err)
		return
	}
	if err != nil {
		d.bad("hub", d.restart(), "process %d: %v", h.PID, err)
		return
	}
	d.own = status.Addrs
	d.running(h, status, version())
	d.fine("socket", "%s", status.Socket)
	d.ports(status.Auto)
	if status.User == "" {
		d.note("extension", "set TABHUB_TOKEN to the token of one", "each user of this hub has browsers of their own")
		return
	}
	if status.User == spec.LocalUser {
		d.token(ctx, h)
	}
	d.extension(ctx)
}

// token looks whether the hub knows the token that the directory has for clients over
// HTTP.
func (d *doctor) token(ctx context.Context, h home.Hub) {
	token, err := d.dir.Token()
	if err != nil {
		return // a hub that asks for none may have none, and what else is wrong was said
	}
	r := remote{hub: h, token: token, http: d.dir.Client()}
	_, err = r.do(ctx, http.MethodGet, "/api/browsers", nil)
	if no, ok := errors.AsType[*apiError](err); ok && no.status == http.StatusUnauthorized {
		d.bad("token", d.restart(), "the hub (process %d) does not know the token in %s, which clients over HTTP send", h.PID, d.dir.TokenFile())
	}
}

// ask gets an object from the hub.
func ask(ctx context.Context, a *app, path string, v any) error {
	r, err := a.remote()
	if err != nil {
		return err
	}
	b, err := r.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// running judges the hub that runs; own is the version of this program.
func (d *doctor) running(h home.Hub, status httpd.StatusReport, own string) {
	switch {
	case differ(status.Version, own):
		d.bad("hub", d.restart()+", of version "+own, "the one at %s (process %d) is of version %s, this program of %s", h.URL(), h.PID, status.Version, own)
	case status.Hub.StoreError != "":
		d.bad("hub", "make room in "+string(d.dir)+", or make it writable", "what it learns is not kept: %s", status.Hub.StoreError)
	default:
		d.fine("hub", "%s (process %d, version %s)", h.URL(), h.PID, status.Version)
	}
}

// differ compares versions. A build that has none, such as that of go run, may be any.
func differ(a, b string) bool {
	return a != b && a != noVersion && b != noVersion
}

// wanted is where pages, extensions and clients look for the hub.
func (d *doctor) wanted() []string {
	if len(d.listen) > 0 {
		return d.listen
	}
	return []string{defaultListen, relayListen}
}

// ports looks who has the ports where the hub is looked for. auto says that a client
// has started the one that runs.
func (d *doctor) ports(auto bool) {
	for _, addr := range d.wanted() {
		_, port, err := net.SplitHostPort(addr)
		switch {
		case err != nil || port == "0":
		case slices.Contains(d.own, addr):
			d.fine("port "+port, "the hub listens on %s", addr)
		case !taken(addr) && d.own == nil:
			d.fine("port "+port, "free for the hub")
		case !taken(addr):
			fix := ""
			if auto {
				fix = d.restart()
			}
			d.note("port "+port, fix, "nobody listens on %s; the hub is at %s", addr, strings.Join(d.own, ", "))
		case addr == relayListen:
			d.note("port "+port, "end it and start the hub again, if you need those", "%s is in use by %s; pages with the webmcp.v1 widget find that, not the hub", addr, holder.Describe(addr))
		case d.own != nil && !auto:
			d.note("port "+port, "", "%s is in use by %s; the hub was started for %s", addr, holder.Describe(addr), strings.Join(d.own, ", "))
		default:
			d.bad("port "+port, "end it, and `"+d.command("stop")+"` if a hub runs; or name the hub's address in the extension's options", "%s is in use by %s; pages and the extension look for the hub there", addr, holder.Describe(addr))
		}
	}
}

// taken reports whether somebody listens.
func taken(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, 500*time.Millisecond)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// extensionCan is what the extension of this version does for the hub.
var extensionCan = []spec.Capability{
	spec.CapOpenTab, spec.CapActivateTab, spec.CapCloseTab, spec.CapListTabs,
	spec.CapNavigate, spec.CapScreenshot, spec.CapText, spec.CapElicit, spec.CapResume,
}

// extension looks whether browsers have joined.
func (d *doctor) extension(ctx context.Context) {
	var browsers []hub.BrowserInfo
	if err := ask(ctx, d.app, "/api/browsers", &browsers); err != nil {
		d.bad("extension", d.restart(), "the hub cannot be asked for browsers: %v", err)
		return
	}
	d.browsers(browsers)
}

// browsers looks whether the extensions of browsers are those of this version.
func (d *doctor) browsers(browsers []hub.BrowserInfo) {
	seen := false
	for _, b := range browsers {
		if b.Single || !b.Attested || !b.Connected {
			continue
		}
		seen = true
		name := cmp.Or(clip(b.Name, 60), "a browser")
		if lacks := missing(b.Capabilities); len(lacks) > 0 {
			d.bad("extension", "`tabhub extension DIR` with the directory that it was loaded from, then reload it in chrome://extensions", "that of %s is older than this tabhub: it cannot do %s", name, strings.Join(lacks, ", "))
		} else {
			d.fine("extension", "%s is connected; tabs: %d", name, b.Tabs)
		}
	}
	if !seen {
		d.note("extension", "`tabhub extension DIR` writes it out; pages with /tab.js need none", "no browser is connected")
	}
}

func missing(has []spec.Capability) (lacks []string) {
	for _, c := range extensionCan {
		if !slices.Contains(has, c) {
			lacks = append(lacks, string(c))
		}
	}
	return lacks
}
