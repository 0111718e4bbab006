package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/cmd/tabhub/internal/holder"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub"
	"tabhub/storage"
)

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Find what is wrong, and say how to mend it; exit code 1 if there is anything",
		Args:  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &doctor{app: a}
			if err := d.examine(cmd.Context()); err != nil {
				return err
			}
			switch d.problems {
			case 0:
				return nil
			case 1:
				return errors.New("there is 1 problem")
			}
			return fmt.Errorf("there are %d problems", d.problems)
		},
	}
}

// doctor prints a line for each thing that it has looked at.
type doctor struct {
	*app
	dir      home.Dir
	problems int
}

func (d *doctor) fine(format string, args ...any) {
	fmt.Fprintf(d.out, "ok    "+format+"\n", args...)
}
func (d *doctor) note(format string, args ...any) {
	fmt.Fprintf(d.out, "note  "+format+"\n", args...)
}

// bad prints a problem and what to do about it.
func (d *doctor) bad(fix, format string, args ...any) {
	d.problems++
	fmt.Fprintf(d.out, "BAD   "+format+"\n      %s\n", append(args, fix)...)
}

func (d *doctor) examine(ctx context.Context) error {
	dir, err := d.app.dir()
	if err != nil {
		return err
	}
	d.dir = dir
	d.clock()
	if d.directory() {
		d.private(dir.TokenFile(), "the token")
		d.private(dir.HubFile(), "the hub's address")
		d.private(dir.Store(), "the store")
		d.hub(ctx)
	}
	d.program()
	d.browser()
	d.clients()
	return nil
}

// clock compares the clock with the time at which the program was built.
func (d *doctor) clock() {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	for _, s := range info.Settings {
		if s.Key != "vcs.time" {
			continue
		}
		built, err := time.Parse(time.RFC3339, s.Value)
		if err == nil && time.Now().Before(built) {
			d.bad("Set the clock: tokens that end, and the log, depend on it.", "the clock says %s, which is before this program was made", time.Now().Format(time.DateTime))
			return
		}
	}
	d.fine("clock")
}

// directory looks at the data directory and reports whether it can be used.
func (d *doctor) directory() bool {
	fi, err := os.Stat(string(d.dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.note("no data directory yet: %s; the first hub makes it", d.dir)
		return false
	case err != nil || !fi.IsDir():
		d.bad("Move it away, or pass --data-dir.", "%s is not a directory that can be used", d.dir)
		return false
	case runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0:
		d.bad("chmod 700 "+string(d.dir), "others can look into the data directory %s", d.dir)
	default:
		d.fine("data directory %s", d.dir)
	}
	probe, err := os.CreateTemp(string(d.dir), ".doctor-*")
	if err != nil {
		d.bad("Make it writable for you, or pass --data-dir.", "the data directory cannot be written: %v", err)
		return false
	}
	probe.Close()
	os.Remove(probe.Name())
	return true
}

// private looks whether others can read a file.
func (d *doctor) private(path, what string) {
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		d.bad("Make it readable for you.", "%s cannot be looked at: %v", what, err)
		return
	}
	if runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0 {
		d.bad("chmod 600 "+path, "others can read %s: %s", what, path)
		return
	}
	d.fine("%s is private", what)
}

// hub looks at the hub that runs, or at what would keep one from running.
func (d *doctor) hub(ctx context.Context) {
	h, err := d.dir.Running()
	if err == nil {
		d.running(ctx, h)
		return
	}
	if d.dir.Held(home.HubLock) {
		d.bad("End the process that has "+string(d.dir)+" open, and try again.", "a hub runs, but does not say where it listens: %v", err)
		return
	}
	d.note("no hub is running; the first client starts one")
	d.store()
	for _, addr := range []string{defaultListen, relayListen} {
		ln, err := net.Listen("tcp", addr)
		if err == nil {
			ln.Close()
			d.fine("port %s is free", addr)
			continue
		}
		d.bad("End it, or start the hub with --listen.", "%s is in use by %s", addr, holder.Describe(addr))
	}
}

// store opens the store of a hub that does not run.
func (d *doctor) store() {
	if _, err := os.Stat(d.dir.Store()); err != nil {
		return
	}
	lock, err := d.dir.TryLock(home.HubLock)
	if err != nil {
		return // a hub has just been started
	}
	defer lock.Unlock()
	s, err := storage.Open(d.dir.Store(), storage.Options{})
	if err != nil {
		d.bad("Move "+d.dir.Store()+" away; the hub begins a new one.", "the store cannot be opened: %v", err)
		return
	}
	s.Close()
	d.fine("store")
}

func (d *doctor) running(ctx context.Context, h home.Hub) {
	r, err := d.app.remote()
	if err != nil {
		d.bad("`tabhub stop`, and let a client start it again.", "the hub cannot be asked: %v", err)
		return
	}
	b, err := r.do(ctx, http.MethodGet, "/api/browsers", nil)
	if err != nil {
		d.bad("`tabhub stop`, and let a client start it again.", "the hub at %s (process %d): %v", h.URL(), h.PID, err)
		return
	}
	d.fine("hub at %s (process %d, version %s)", h.URL(), h.PID, h.Version)
	if h.Version != version() {
		d.note("this program is version %s; `tabhub stop` lets a client start it", version())
	}
	if h.Started.After(time.Now().Add(time.Minute)) {
		d.bad("Set the clock.", "the hub was started in the future: %s", h.Started.Format(time.DateTime))
	}
	if !strings.HasSuffix(h.Addr, ":3300") {
		d.note("the extension and /tab.js look for the hub on port 3300; this one listens on %s", h.Addr)
	}
	var browsers []hub.BrowserInfo
	if err := json.Unmarshal(b, &browsers); err != nil {
		d.bad("`tabhub stop`, and let a client start it again.", "the hub's answer makes no sense: %v", err)
		return
	}
	if slices.ContainsFunc(browsers, func(b hub.BrowserInfo) bool { return b.Connected && !b.Single }) {
		d.fine("a browser is connected through the extension")
	} else {
		d.note("no browser is connected through the extension; `tabhub extension DIR` writes it out")
	}
}

// program looks whether clients can start this program.
func (d *doctor) program() {
	path, err := installed()
	if err != nil {
		d.bad("go install ./cmd/tabhub", "clients cannot start this program: `go run` deletes it when it ends")
		return
	}
	d.fine("clients can start %s", path)
}

// browser looks for a browser that can run the extension.
func (d *doctor) browser() {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "msedge", "microsoft-edge"} {
		if path, err := exec.LookPath(name); err == nil {
			d.fine("browser %s", path)
			return
		}
	}
	apps, _ := filepath.Glob("/Applications/*Chrom*.app")
	for _, base := range []string{"ProgramFiles", "ProgramFiles(x86)", "LocalAppData"} {
		if root := d.env(base); root != "" {
			found, _ := filepath.Glob(filepath.Join(root, "*", "Chrom*", "Application", "chrome.exe"))
			apps = append(apps, found...)
		}
	}
	if len(apps) > 0 {
		d.fine("browser %s", apps[0])
		return
	}
	d.note("no Chromium or Chrome in the usual places; the extension needs one, /tab.js works in any browser")
}

// clients looks at the configurations of MCP clients.
func (d *doctor) clients() {
	configured := false
	for _, c := range clientconf.All {
		path, err := c.Path(d.env)
		if err != nil {
			continue // it is not there
		}
		text, err := clientconf.Read(path)
		if err != nil || len(text) == 0 {
			continue
		}
		command, err := c.Find(text, "tabhub")
		switch {
		case err != nil:
			d.bad("Mend the file; the client cannot read it either.", "%s: %s: %v", c.Title, path, err)
		case command == "":
		case runs(command) != nil:
			configured = true
			d.bad("tabhub install "+c.Name, "%s is to start %s, which cannot be run: %v", c.Title, command, runs(command))
		default:
			configured = true
			d.fine("%s is configured", c.Title)
		}
	}
	if !configured {
		d.note("no client is configured to start tabhub; `tabhub install CLIENT` does that for %s", clientNames())
	}
}

func runs(command string) error {
	_, err := exec.LookPath(command)
	return err
}
