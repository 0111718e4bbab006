package setup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"tabhub/cmd/tabhub/internal/build"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/shell"
	"tabhub/hub/builtin/instance"
	"tabhub/storage"
)

// directory checks the data directory and its files.
func (d *Doctor) directory(context.Context) {
	fi, err := os.Stat(string(d.Dir))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(string(d.Dir)); err == nil {
			d.bad("data", "make the directory that it leads to, or pass --data-dir", "%s is a link that leads nowhere", d.Dir)
			return
		}
		d.note("data", "", "there is no %s yet; the first hub makes it", d.Dir)
		return
	case err != nil:
		d.bad("data", "make it readable for you, or pass --data-dir", "%v", err)
		return
	case !fi.IsDir():
		d.bad("data", "move it away, or pass --data-dir", "%s is not a directory", d.Dir)
		return
	}
	open := fi.Mode().Perm() & 0o077
	if runtime.GOOS == "windows" {
		open = 0 // its modes say nothing
	}
	if err := d.probe(); err != nil {
		d.bad("data", "make room in it or make it writable for you, or pass --data-dir", "nothing can be written: %v", err)
	} else if open&0o022 != 0 {
		d.bad("data", shell.Here("chmod", "700", string(d.Dir)), "others can write in %s (mode %04o)", d.Dir, fi.Mode().Perm())
	} else if err := d.Dir.CheckPrivate(); err != nil {
		d.bad("data", "mend that, or pass --data-dir", "%v", err)
	} else if open != 0 {
		d.note("data", shell.Here("chmod", "700", string(d.Dir)), "others can look into %s (mode %04o)", d.Dir, fi.Mode().Perm())
	} else {
		d.fine("data", "%s", d.Dir)
	}
	for _, path := range []string{
		d.Dir.TokenFile(), d.Dir.Pairings(), d.Dir.HubFile(), d.Dir.Store(), d.Dir.LogFile(),
		filepath.Join(string(d.Dir), home.HubLock), filepath.Join(string(d.Dir), home.StartLock),
	} {
		d.private(path)
	}
	d.socket()
}

// socket checks that only the user may connect to the hub.
func (d *Doctor) socket() {
	fi, err := os.Lstat(d.Dir.Socket())
	if err == nil && runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0 {
		d.bad("socket", shell.Here("chmod", "600", d.Dir.Socket()), "others can use %s (mode %04o)", d.Dir.Socket(), fi.Mode().Perm())
	}
}

// probe writes a file.
func (d *Doctor) probe() error {
	f, err := os.CreateTemp(string(d.Dir), ".doctor-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 1<<10))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// private checks that the user, and no other, may use a file.
func (d *Doctor) private(path string) {
	check := filepath.Base(path)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		d.bad(check, "give it back to yourself: was the hub run with sudo?", "you may not use it: %v", err)
		return
	}
	defer f.Close()
	fi, err := f.Stat()
	if err == nil && runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0 {
		fix := shell.Here("chmod", "600", path)
		if path == d.Dir.TokenFile() {
			fix += "; then `" + d.command("token", "rotate") + "`, as others may have read it"
		}
		d.bad(check, fix, "others can use %s (mode %04o)", path, fi.Mode().Perm())
		return
	}
	if path != d.Dir.TokenFile() {
		return
	}
	if _, err := d.Dir.Token(); err != nil {
		d.bad(check, "delete "+path+", then "+d.restart(), "%v", err)
		return
	}
	d.fine(check, "%s", path)
}

// store opens the store, if no hub runs.
func (d *Doctor) store(context.Context) {
	if _, err := os.Stat(d.Dir.Store()); err != nil {
		return // there is none, or the check of the directory says why
	}
	lock, err := d.Dir.TryLock(home.HubLock)
	if err != nil {
		return // a hub has it
	}
	defer lock.Unlock()
	s, err := storage.Open(d.Dir.Store(), storage.Options{})
	if err != nil {
		d.bad("store", "move "+d.Dir.Store()+" away; the hub begins a new one", "it cannot be opened: %v", err)
		return
	}
	s.Close()
	d.fine("store", "%s", d.Dir.Store())
}

// program checks that clients can start this program.
func (d *Doctor) program(context.Context) {
	path, err := build.Installed()
	if err != nil {
		d.note("program", "go install ./cmd/tabhub", "clients cannot start this one: `go run` deletes it when it ends")
		return
	}
	d.fine("program", "%s, version %s", path, build.Version())
}

// Browser looks for a browser that can run the extension.
func (d *Doctor) Browser(context.Context) {
	if named := d.Env("TABHUB_BROWSER_PROGRAM"); named != "" {
		if path, err := exec.LookPath(named); err != nil {
			d.bad("browser", "set it to a browser, or to nothing", "TABHUB_BROWSER_PROGRAM cannot be run: %v", err)
		} else {
			d.fine("browser", "%s", path)
		}
		return
	}
	found := instance.FindInstalled()
	if len(found) == 0 {
		d.note("browser", "", "none based on Chromium is in the usual places; the extension needs one, /tab.js works in any browser")
		return
	}
	var names []string
	for _, b := range found {
		names = append(names, b.Name+" ("+b.Path+")")
	}
	d.fine("browser", "%s; WebMCP of its own needs --enable-features=WebMCP in today's browsers, the extension and /tab.js give it to pages without", strings.Join(names, ", "))
}
