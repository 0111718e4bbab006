//go:build linux

package instance_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tabhub/hub/builtin/instance"
	"tabhub/spec"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/tabtest/chromium"
)

func TestLifeOfABrowser(t *testing.T) {
	t.Parallel()
	chromium.Require(t)
	w := newFixture(t, instance.Options{})
	info, err := w.instances.Start(t.Context(), instance.Config{URL: w.page, Headless: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	if info.Browser == nil || !info.Browser.Attested || !info.Loaded || info.Profile != "default" || !info.Headless {
		t.Errorf("started: %+v", info)
	}
	<-w.visited

	// A profile belongs to one browser.
	_, err = w.instances.Start(t.Context(), instance.Config{})
	wantFailure(t, err, spec.FailToolError, "in use by instance "+info.ID)
	other := instance.New(instance.Options{Hub: w.hub, Dir: w.dir, HubURL: "ws://127.0.0.1:1/tabs"})
	_, err = other.Start(t.Context(), instance.Config{})
	wantFailure(t, err, spec.FailToolError, "in use by a running browser (process "+strconv.Itoa(info.PID)+")")
	profiles, err := other.Profiles()
	if err != nil || len(profiles) == 0 || !strings.Contains(profiles[0].InUse, "running browser") {
		t.Errorf("profiles: %+v, %v", profiles, err)
	}
	other.Close()

	// A crash is noticed, by the hub too, and the profile is free again.
	if err := syscall.Kill(info.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	err = w.hub.Core.Await(t.Context(), func() bool { return len(w.instances.List()) == 0 && len(w.hub.Browsers(nil)) == 0 })
	if err != nil {
		t.Fatal(err)
	}
	wantFailure(t, w.instances.Stop(info.ID), spec.FailNoInstance, info.ID)

	again, err := w.instances.Start(t.Context(), instance.Config{Headless: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	if again.Browser == nil || again.Browser.ID != info.Browser.ID {
		t.Errorf("the profile did not keep who it is: %+v, then %+v", info.Browser, again.Browser)
	}
	if list := w.instances.List(); len(list) != 1 || list[0].ID != again.ID || list[0].Browser == nil {
		t.Errorf("list: %+v", list)
	}
	if err := w.instances.Stop(again.ID); err != nil {
		t.Fatal(err)
	}
	if len(w.hub.Browsers(nil)) != 0 {
		t.Errorf("a closed browser is still there: %+v", w.hub.Browsers(nil))
	}
	if left := processesOf(t, w.dir); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	var prefs struct {
		Download struct {
			Dir string `json:"default_directory"`
		} `json:"download"`
	}
	text, err := os.ReadFile(filepath.Join(w.dir, "default", string(info.Mode), "Default", "Preferences"))
	if err != nil || json.Unmarshal(text, &prefs) != nil || prefs.Download.Dir != again.Downloads {
		t.Errorf("the browser saves files to %q, not to %q (%v)", prefs.Download.Dir, again.Downloads, err)
	}
}

// What a browser left in a container of another name must not lock its profile for ever.
func TestLockOfAnotherMachine(t *testing.T) {
	t.Parallel()
	chromium.Require(t)
	w := newFixture(t, instance.Options{})
	info, err := w.instances.Start(t.Context(), instance.Config{Headless: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.instances.Stop(info.ID); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(w.dir, "default", string(info.Mode), "SingletonLock")
	_ = os.Remove(lock) // it may have left one
	if err := os.Symlink("another-host-4711", lock); err != nil {
		t.Fatal(err)
	}
	if list, err := w.instances.Profiles(); err != nil || list[0].InUse != "" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := w.instances.Start(t.Context(), instance.Config{Headless: new(true)}); err != nil {
		t.Error(err)
	}
}

// A hub that has another port today must still get its own browsers back.
func TestHubAtAnotherAddress(t *testing.T) {
	t.Parallel()
	chromium.Require(t)
	store, dir := &storagetest.Memory{}, filepath.Join(t.TempDir(), "browsers")
	var ids []spec.BrowserID
	for i := range 3 {
		w := newFixtureOver(t, store, instance.Options{Dir: dir})
		for range 2 - i/2 { // the second time it has shown its secret
			info, err := w.instances.Start(t.Context(), instance.Config{Headless: new(true)})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, info.Browser.ID)
			if err := w.instances.Stop(info.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	if ids = slices.Compact(ids); len(ids) != 1 {
		t.Errorf("one profile was %d browsers: %q", len(ids), ids)
	}
}

func TestCloseEndsAll(t *testing.T) {
	t.Parallel()
	chromium.Require(t)
	w := newFixture(t, instance.Options{})
	for _, profile := range []string{"one", "two"} {
		if _, err := w.instances.Start(t.Context(), instance.Config{Profile: profile, Headless: new(true)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(w.hub.Browsers(nil)); n != 2 {
		t.Errorf("%d browsers joined", n)
	}
	w.instances.Close()
	w.instances.Close()
	if left := processesOf(t, w.dir); len(left) > 0 || len(w.instances.List()) > 0 {
		t.Errorf("left behind: %q", left)
	}
	_, err := w.instances.Start(t.Context(), instance.Config{Headless: new(true)})
	wantFailure(t, err, spec.FailNotConnected, "shutting down")
}

// TestHelperHub is no test: it is the hub that TestBrowserDiesWithTheHub kills.
func TestHelperHub(t *testing.T) {
	if os.Getenv("TABHUB_TEST_HELPER") == "" {
		t.Skip("it is a part of TestBrowserDiesWithTheHub")
	}
	info, err := newFixture(t, instance.Options{}).instances.Start(t.Context(), instance.Config{Headless: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	os.Stdout.WriteString("pid " + strconv.Itoa(info.PID) + "\n")
	select {}
}

func TestBrowserDiesWithTheHub(t *testing.T) {
	t.Parallel()
	chromium.Require(t)
	// Nothing cleans up after a hub that is killed, and its browser's children may
	// still write while this test ends.
	dir, err := os.MkdirTemp("", "tabhub")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperHub$")
	cmd.Env = append(os.Environ(), "TABHUB_TEST_HELPER=1", "TMPDIR="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	for lines := bufio.NewScanner(out); pid == 0 && lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "pid "); ok {
			pid, _ = strconv.Atoi(rest)
		}
	}
	if pid == 0 {
		t.Fatal("the helper has started no browser")
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	ended := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(ended, 10_000)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Poll(ended, 10_000)
	}
	if n != 1 {
		t.Errorf("the browser outlived its hub (%v)", err)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestBrowserThatDoesNotJoin(t *testing.T) {
	t.Parallel()
	endless := "sleep 1000 & exec sleep 1000"
	for name, test := range map[string]struct {
		body string
		join time.Duration
		code spec.FailureCode
		want string
	}{
		"ends":       {"echo 'no display, no fun' >&2; exit 3", 0, spec.FailToolError, "exit status 3; it said: no display, no fun"},
		"hands over": {"exit 0", 0, spec.FailToolError, "exit status 0; it said: nothing"},
		"is silent":  {endless, 100 * time.Millisecond, spec.FailNotConnected, "did not join the hub within 100ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, instance.Options{Browser: fake(t, "chromium", test.body), Join: test.join})
			_, err := w.instances.Start(t.Context(), instance.Config{Headless: new(true)})
			wantFailure(t, err, test.code, test.want)
			if left := processesOf(t, w.dir); len(left) > 0 || len(w.instances.List()) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
	t.Run("is not awaited any more", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t, instance.Options{Browser: fake(t, "chromium", endless)})
		gone := errors.New("the client is gone")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, gone)
		defer cancel()
		if _, err := w.instances.Start(ctx, instance.Config{Headless: new(true)}); !errors.Is(err, gone) {
			t.Error(err)
		}
		if len(w.instances.List()) > 0 {
			t.Error("it runs on")
		}
	})
	t.Run("while the hub ends", func(t *testing.T) {
		t.Parallel()
		w := newFixture(t, instance.Options{Browser: fake(t, "chromium", endless)})
		time.AfterFunc(100*time.Millisecond, w.instances.Close)
		_, err := w.instances.Start(t.Context(), instance.Config{Headless: new(true)})
		wantFailure(t, err, spec.FailNotConnected, "shutting down")
	})
}

// A browser that does not listen is killed, and so is what it leaves running.
func TestStubbornBrowser(t *testing.T) {
	t.Parallel()
	mark := "1000." + strconv.Itoa(os.Getpid())
	ready := filepath.Join(t.TempDir(), "ready")
	if err := syscall.Mkfifo(ready, 0o600); err != nil {
		t.Fatal(err)
	}
	w := newFixture(t, instance.Options{Browser: fake(t, "google-chrome", "trap '' TERM; sleep "+mark+" & echo >"+ready+"; sleep "+mark)})
	info, err := w.instances.Start(t.Context(), instance.Config{Headless: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(ready); err != nil {
		t.Fatal(err)
	}
	if err := w.instances.Stop(info.ID); err != nil {
		t.Fatal(err)
	}
	if left := processesOf(t, mark); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// Branded Chrome takes no extension from the command line; the user must be told.
func TestBrandedChrome(t *testing.T) {
	t.Parallel()
	w := newFixture(t, instance.Options{Browser: fake(t, "google-chrome", "exec sleep 1000"), Join: 100 * time.Millisecond})
	info, err := w.instances.Start(t.Context(), instance.Config{Headless: new(true), Profile: "work"})
	if err != nil {
		t.Fatal(err)
	}
	if info.Loaded || info.Mode != instance.Chrome || info.Browser != nil {
		t.Errorf("%+v", info)
	}
	if text, err := os.ReadFile(filepath.Join(info.Extension, "pairing.json")); err != nil || !bytes.Contains(text, []byte("ws://127.0.0.1")) {
		t.Errorf("nothing to load by hand: %s, %v", text, err)
	}
	// A profile that has it is waited for, but not taken from the user if it does not
	// join after all.
	if err := w.instances.Stop(info.ID); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(w.dir, "work", "chrome", "Default", "Local Extension Settings", extension.ID), 0o700); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	info, err = w.instances.Start(t.Context(), instance.Config{Headless: new(true), Profile: "work"})
	if err != nil || info.Loaded || len(w.instances.List()) != 1 || time.Since(start) < 100*time.Millisecond {
		t.Errorf("%+v, %v after %v", info, err, time.Since(start))
	}
}
