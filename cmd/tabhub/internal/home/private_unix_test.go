//go:build unix

package home

import (
	"errors"
	"os"
	"testing"
)

// Where others may write they can leave a token that they know, or a hub.json that
// has the token shown to them.
func TestDirectoryOfEverybody(t *testing.T) {
	d := Dir(t.TempDir())
	lock, err := d.TryLock(HubLock)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if err := d.WriteHub(Hub{PID: 7, Addr: "127.0.0.1:3300"}); err != nil {
		t.Fatal(err)
	}
	for mode, refused := range map[os.FileMode]bool{0o700: false, 0o755: false, 0o775: false, 0o777: true, 0o777 | os.ModeSticky: true, 0o702: true} {
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
