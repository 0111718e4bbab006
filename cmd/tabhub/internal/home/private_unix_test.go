//go:build unix

package home

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where others may write they can leave a token that they know, or a hub.json that
// has the token shown to them.
func TestDirectoryOfOthers(t *testing.T) {
	d := Dir(t.TempDir())
	lock, err := d.TryLock(HubLock)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if err := d.WriteHub(Hub{PID: 7, Addr: "127.0.0.1:3300"}); err != nil {
		t.Fatal(err)
	}
	for mode, refused := range map[os.FileMode]bool{0o700: false, 0o755: false, 0o775: true, 0o770: true, 0o777: true, 0o777 | os.ModeSticky: true, 0o702: true} {
		if err := os.Chmod(string(d), mode); err != nil {
			t.Fatal(err)
		}
		if err := d.Make(); (err != nil) != refused {
			t.Errorf("%v: Make: %v", mode, err)
		}
		if _, err := d.Running(); (err != nil) != refused || errors.Is(err, ErrNoHub) {
			t.Errorf("%v: Running: %v", mode, err)
		}
	}
}

// Where others may write above the directory they can put one of theirs in its place, with a
// token that they know.
func TestDirectoryBelowOneOfOthers(t *testing.T) {
	above := t.TempDir()
	if err := os.Chmod(filepath.Dir(above), 0o755); err != nil { // else nobody gets that far
		t.Fatal(err)
	}
	d := Dir(filepath.Join(above, "new", "data"))
	if err := d.Make(); err != nil {
		t.Fatal(err)
	}
	lock, err := d.TryLock(HubLock)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if err := d.WriteHub(Hub{PID: 7, Addr: "127.0.0.1:3300"}); err != nil {
		t.Fatal(err)
	}
	for mode, refused := range map[os.FileMode]bool{0o700: false, 0o755: false, 0o777: true, 0o772: true, 0o777 | os.ModeSticky: false} {
		if err := os.Chmod(above, mode); err != nil {
			t.Fatal(err)
		}
		for what, check := range map[string]func() error{
			"Make":    d.Make,
			"Running": func() error { _, err := d.Running(); return err },
		} {
			if err := check(); (err != nil) != refused || refused && !strings.Contains(err.Error(), "chmod go-w '"+above+"'") {
				t.Errorf("%v: %s: %v", mode, what, err)
			}
		}
	}
	// A pod's volume is like that, and has no other users.
	if err := os.Chmod(above, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
	if err := d.Make(); err != nil {
		t.Error(err)
	}
}

// A file that others can write, or have left there while they could write in the
// directory, is what they say.
func TestFilesOfOthers(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "data"))
	if err := d.Make(); err != nil {
		t.Fatal(err)
	}
	lock, err := d.TryLock(HubLock)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if _, err := d.MakeToken(); err != nil {
		t.Fatal(err)
	}
	if err := d.WriteHub(Hub{PID: 7, Addr: "127.0.0.1:3300"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.Store(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused := func(what, path string) {
		t.Helper()
		if err := d.Make(); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: Make: %v", what, err)
		}
		if _, err := d.Running(); err == nil || errors.Is(err, ErrNoHub) {
			t.Errorf("%s: Running: %v", what, err)
		}
	}
	modes := map[string][]os.FileMode{
		d.TokenFile(): {0o602, 0o660}, d.HubFile(): {0o602, 0o660}, d.Store(): {0o602, 0o660},
		d.path(HubLock): {0o604, 0o640, 0o660}, // a lock can be held by who can read it
	}
	for path, modes := range modes {
		for _, mode := range modes {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			refused(mode.String(), path)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Make(); err != nil {
		t.Fatal(err)
	}
	needRoot(t)
	if err := os.Chown(d.TokenFile(), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	refused("of another user", d.TokenFile())
	if err := os.Remove(d.TokenFile()); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("token.old", d.TokenFile()); err != nil {
		t.Fatal(err)
	}
	if err := os.Lchown(d.TokenFile(), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	refused("another user's link", d.TokenFile())
}

// Root in a container has the directory of a user of the machine, with that user's files
// in it, and nobody else's.
func TestDirectoryGivenToRoot(t *testing.T) {
	needRoot(t)
	d := Dir(filepath.Join(t.TempDir(), "data"))
	if err := d.Make(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.MakeToken(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{string(d), d.TokenFile()} {
		if err := os.Chown(path, 1000, 1000); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Make(); err != nil {
		t.Error(err)
	}
	if err := os.Chown(d.TokenFile(), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if err := d.Make(); err == nil {
		t.Error("the token of a third user is taken")
	}
}

// needRoot skips a test that gives files to another user.
func needRoot(t *testing.T) {
	t.Helper()
	switch {
	case os.Geteuid() == 0:
	case os.Getenv("CI") == "true":
		t.Fatal("this test gives files to another user, which only root may")
	default:
		t.Skip("this test gives files to another user, which only root may")
	}
}

func TestTokenIsTakenFromOthers(t *testing.T) {
	d := Dir(t.TempDir())
	want, err := d.MakeToken()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(d.TokenFile(), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := d.MakeToken(); err != nil || got != want {
		t.Errorf("%v", err)
	}
	if fi, err := os.Stat(d.TokenFile()); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("others may still read the token: %v %v", fi.Mode(), err)
	}
}
