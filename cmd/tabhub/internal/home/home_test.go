package home

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestDefault(t *testing.T) {
	env := map[string]string{"XDG_DATA_HOME": "/data", "HOME": "/home/u"}
	get := func(k string) string { return env[k] }
	if d, err := Default(get); err != nil || d != "/data/tabhub" {
		t.Errorf("%q, %v", d, err)
	}
	env["XDG_DATA_HOME"] = "relative"
	if d, err := Default(get); err != nil || d != "/home/u/.local/share/tabhub" {
		t.Errorf("%q, %v", d, err)
	}
	clear(env)
	if _, err := Default(get); err == nil {
		t.Error("no home directory and no error")
	}
}

func TestToken(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "a", "b"))
	if err := d.Make(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Token(); !errors.Is(err, ErrNoToken) {
		t.Errorf("before the first run: %v", err)
	}
	token, err := d.MakeToken()
	if err != nil || len(token) < 40 {
		t.Fatalf("%q, %v", token, err)
	}
	if again, err := d.MakeToken(); err != nil || again != token {
		t.Errorf("the token changed by itself: %v", err)
	}
	for _, path := range []string{d.TokenFile(), string(d)} {
		if fi, err := os.Stat(path); err != nil || fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("others may read %s: %v, %v", path, fi.Mode(), err)
		}
	}
	if next, err := d.NewToken(); err != nil || next == token {
		t.Errorf("the token was not replaced: %v", err)
	}
	os.WriteFile(d.TokenFile(), []byte("\n"), 0o600)
	if _, err := d.MakeToken(); err == nil || errors.Is(err, ErrNoToken) {
		t.Errorf("an empty token file was taken: %v", err)
	}
}

// Pages may name the hub that they want; the name must not change by itself.
func TestInstance(t *testing.T) {
	d := Dir(t.TempDir())
	id, err := d.Instance()
	if err != nil || len(id) != 36 {
		t.Fatalf("%q, %v", id, err)
	}
	if again, err := d.Instance(); err != nil || again != id {
		t.Errorf("first %q, then %q, %v", id, again, err)
	}
	os.WriteFile(filepath.Join(string(d), "instance"), []byte("half"), 0o600)
	if id, err := d.Instance(); err != nil || len(id) != 36 {
		t.Errorf("after a damage: %q, %v", id, err)
	}
}

func TestHubFile(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "data"))
	if err := d.Make(); err != nil {
		t.Fatal(err)
	}
	want := Hub{PID: 7, Addr: "127.0.0.1:3300", Version: "v1"}
	if err := d.WriteHub(want); err != nil {
		t.Fatal(err)
	}
	if got, err := d.ReadHub(); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.WriteFile(d.Socket(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Running(); !errors.Is(err, ErrNoHub) {
		t.Errorf("a file that a killed hub left behind passes for a hub: %v", err)
	}
	lock, err := d.TryLock(HubLock)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := d.Running(); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, half := range []string{"", "{", `{"pid":7,"ad`, "{}", "[]", "\x00\x00"} {
		os.WriteFile(d.HubFile(), []byte(half), 0o600)
		if _, err := d.ReadHub(); !errors.Is(err, ErrNoHub) {
			t.Errorf("%q: %v", half, err)
		}
	}
	for range 2 {
		if err := d.RemoveHub(); err != nil {
			t.Error(err)
		}
	}
	for _, path := range []string{d.HubFile(), d.Socket()} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
	lock.Unlock()
}

func TestLock(t *testing.T) {
	d := Dir(t.TempDir())
	if d.Held(HubLock) {
		t.Error("held by nobody")
	}
	first, err := d.Lock(t.Context(), HubLock)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.TryLock(HubLock); !errors.Is(err, ErrHeld) || !d.Held(HubLock) {
		t.Errorf("two hold it: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Lock(ctx, HubLock); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	next := make(chan error)
	go func() {
		l, err := d.Lock(t.Context(), HubLock)
		if err == nil {
			l.Unlock()
		}
		next <- err
	}()
	first.Unlock()
	if err := <-next; err != nil {
		t.Errorf("a free lock was not taken: %v", err)
	}
	if _, err := Dir("/nonexistent/x").TryLock(HubLock); err == nil {
		t.Error("no directory and no error")
	}
}

func TestLogIsRotated(t *testing.T) {
	d := Dir(t.TempDir())
	os.WriteFile(d.LogFile(), make([]byte, maxLog+1), 0o600)
	f, err := d.OpenLog()
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if fi, err := os.Stat(d.LogFile()); err != nil || fi.Size() != 0 {
		t.Errorf("the log grows without end: %v, %v", fi, err)
	}
}

// A hub that runs for months must not fill the disk with its log, nor lose what it said last.
func TestLogWriterBeginsANewFile(t *testing.T) {
	d := Dir(t.TempDir())
	for range 2 { // the second begins with the file of the first
		w := d.LogWriter()
		for range 7 {
			if n, err := w.Write(make([]byte, maxLog/5)); err != nil || n != maxLog/5 {
				t.Fatal(n, err)
			}
		}
	}
	for _, file := range []string{d.LogFile(), d.LogFile() + ".1"} {
		if fi, err := os.Stat(file); err != nil || fi.Size() < maxLog/5 || fi.Size() > maxLog+maxLog/5 {
			t.Errorf("%s: %v, %v", file, fi.Size(), err)
		}
	}
}
