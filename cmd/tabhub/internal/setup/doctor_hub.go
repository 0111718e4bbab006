package setup

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"tabhub/cmd/tabhub/internal/build"
	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/portowner"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/hub/face/admin"
	"tabhub/spec"
)

// doctorTimeout is how long the hub may take to answer what a check asks.
const doctorTimeout = 5 * time.Second

// hub checks that the hub that runs answers.
func (d *Doctor) hub(ctx context.Context) {
	if !d.Dir.Held(home.HubLock) {
		text := command.Absent + "; the first client starts it"
		if _, err := os.Stat(d.Dir.HubFile()); err == nil {
			text += " (a hub that was killed left " + d.Dir.HubFile() + ", which does no harm)"
		}
		d.note("hub", "", "%s", text)
		return
	}
	d.silent = true
	h, err := d.Dir.ReadHub()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.bad("hub", "it may be about to start or to end; if this is so in a minute, end it", "a process holds %s, but does not say where it listens", d.Dir)
		return
	case err != nil:
		d.bad("hub", d.restart()+"; if that does not help, end the process", "a process holds %s, but %v", d.Dir, err)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	var status admin.StatusReport
	err = command.Ask(ctx, d.App, "/api/status", &status)
	if command.IsStatus(err, http.StatusUnauthorized) {
		d.bad("hub", "set TABHUB_TOKEN to nothing, or, for a hub with accounts, to a token that `tabhub token mint` makes", "the one at %s (process %d) does not know TABHUB_TOKEN: %v", h.URL(), h.PID, err)
		return
	}
	if err != nil {
		d.bad("hub", d.restart(), "process %d: %v", h.PID, err)
		return
	}
	d.silent, d.Running, d.Status, d.Addrs = false, h, &status, status.Addrs
	d.Version(build.Version())
	d.fine("socket", "%s", status.Socket)
	var p admin.PolicyReport
	if status.User != "" && command.Ask(ctx, d.App, "/api/policy", &p) == nil && p.Paused() {
		d.note("clients", "`"+d.command("resume")+"`", "all are %s", command.Paused)
	}
}

// auto reports whether a client has started the hub that runs.
func (d *Doctor) auto() bool { return d.Status != nil && d.Status.Auto }

// token checks that the hub knows the data directory's token for clients over HTTP.
func (d *Doctor) token(ctx context.Context) {
	if d.Status == nil || d.Status.User != spec.LocalUser {
		return
	}
	token, err := d.Dir.Token()
	if err != nil {
		return // a hub without credentials may have none; the check of the file says what else is wrong
	}
	ctx, cancel := context.WithTimeout(ctx, doctorTimeout)
	defer cancel()
	r := command.Remote{Hub: d.Running, Token: token, HTTP: d.Dir.Client()}
	_, err = r.Do(ctx, http.MethodGet, "/api/browsers", nil)
	if command.IsStatus(err, http.StatusUnauthorized) {
		d.bad("token", d.restart(), "the hub (process %d) does not know the token in %s, which clients over HTTP send", d.Running.PID, d.Dir.TokenFile())
	}
}

// Version judges the hub that runs; own is the version of this program.
func (d *Doctor) Version(own string) {
	h, status := d.Running, d.Status
	switch {
	case build.Differ(status.Version, own):
		d.bad("hub", build.OfOtherVersion(own, &status.Info, d.command("stop")), "the one at %s (process %d) is of version %s, this program of %s", h.URL(), h.PID, status.Version, own)
	case status.Hub.StoreError != "":
		d.bad("hub", "make room in "+string(d.Dir)+", or make it writable", "it cannot store what it learns: %s", status.Hub.StoreError)
	default:
		d.fine("hub", "%s (process %d, version %s)", h.URL(), h.PID, status.Version)
	}
}

// wanted returns where pages, extensions and clients look for the hub.
func (d *Doctor) wanted() []string {
	if len(d.Config.Listen) > 0 {
		return d.Config.Listen
	}
	return []string{settings.DefaultListen, settings.RelayListen}
}

// Ports checks which processes listen where pages, extensions and clients look for the hub.
func (d *Doctor) Ports(context.Context) {
	if d.silent {
		return
	}
	for _, addr := range d.wanted() {
		_, port, err := net.SplitHostPort(addr)
		switch {
		case err != nil || port == "0":
		case slices.Contains(d.Addrs, addr):
			d.fine("port "+port, "the hub listens on %s", addr)
		case !taken(addr) && d.Addrs == nil:
			d.fine("port "+port, "free for the hub")
		case !taken(addr):
			fix := ""
			if d.auto() {
				fix = d.restart()
			}
			d.note("port "+port, fix, "nothing listens on %s; the hub is at %s", addr, strings.Join(d.Addrs, ", "))
		case addr == settings.RelayListen:
			d.note("port "+port, "end it and start the hub again, if you need those", "%s is in use by %s; pages with the webmcp.v1 widget find that, not the hub", addr, portowner.Describe(addr))
		case d.Addrs != nil && !d.auto():
			d.note("port "+port, "", "%s is in use by %s; the hub was started for %s", addr, portowner.Describe(addr), strings.Join(d.Addrs, ", "))
		default:
			fix := "end it"
			if d.Addrs != nil {
				fix += ", then " + d.restart()
			}
			d.bad("port "+port, fix, "%s is in use by %s; pages and the extension look for the hub there, and the extension tells nothing to what is not", addr, portowner.Describe(addr))
		}
	}
}

// taken reports whether a process listens on the address.
func taken(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, 500*time.Millisecond)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
