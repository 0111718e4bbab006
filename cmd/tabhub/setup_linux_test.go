package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal/ptytest"
	"tabhub/tabtransport/tabtest/chromium"
)

// typist is a user of `tabhub setup` at a terminal.
type typist struct {
	t    *testing.T
	home string
	env  []string
	tty  *os.File // what the user sees and types on
	cmd  *exec.Cmd
	seen strings.Builder
	more chan string
}

// newHome returns a home directory with clients, and the environment of a program there.
func newHome(t *testing.T) (home string, env []string) {
	home = t.TempDir()
	for _, dir := range []string{".cursor", ".gemini"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "TABHUB_") && !strings.HasPrefix(name, "XDG_") && name != "HOME" {
			env = append(env, v)
		}
	}
	env = append(env, "HOME="+home, "TABHUB_LISTEN=127.0.0.1:0", "GORACE=atexit_sleep_ms=0", "TERM=xterm")
	t.Cleanup(func() {
		stop := exec.Command("tabhub", "stop")
		stop.Env = env
		stop.Run() // there may be none
	})
	return home, env
}

// sitDown starts `tabhub setup ARG…` on a terminal.
func sitDown(t *testing.T, home string, env []string, args ...string) *typist {
	t.Helper()
	screen, tty := ptytest.Open(t, 100)
	u := &typist{t: t, home: home, env: env, tty: screen, more: make(chan string)}
	u.cmd = exec.CommandContext(t.Context(), "tabhub", append([]string{"setup"}, args...)...)
	u.cmd.Env, u.cmd.Dir = env, home
	u.cmd.Stdin, u.cmd.Stdout, u.cmd.Stderr = tty, tty, tty
	u.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := u.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	go func() {
		defer close(u.more)
		buf := make([]byte, 4096)
		for {
			n, err := screen.Read(buf)
			if err != nil {
				return // the terminal is closed
			}
			u.more <- string(buf[:n])
		}
	}()
	return u
}

// see waits until the screen shows words that it did not show before.
func (u *typist) see(words string) {
	u.t.Helper()
	deadline := time.After(time.Minute)
	for !strings.Contains(u.seen.String(), words) {
		select {
		case s, ok := <-u.more:
			if !ok {
				u.t.Fatalf("it ended before it showed %q:\n%s", words, u.seen.String())
			}
			u.seen.WriteString(s)
		case <-deadline:
			u.t.Fatalf("it does not show %q:\n%s", words, u.seen.String())
		}
	}
	_, after, _ := strings.Cut(u.seen.String(), words)
	u.seen.Reset()
	u.seen.WriteString(after)
}

func (u *typist) enter(keys string) {
	u.t.Helper()
	if _, err := u.tty.WriteString(keys); err != nil {
		u.t.Fatal(err)
	}
}

// leaves returns how the command ends, and what it has shown last.
func (u *typist) leaves() (code int, last string) {
	for s := range u.more {
		u.seen.WriteString(s)
	}
	u.cmd.Wait()
	return u.cmd.ProcessState.ExitCode(), u.seen.String()
}

// A new user is led from the program to a client that reaches the hub, by answering questions, with
// a real browser and the configurations of two clients; and finds the second time that all is there.
func TestSetupOnATerminal(t *testing.T) {
	chromium.Require(t)
	home, env := newHome(t)
	os.WriteFile(filepath.Join(home, ".cursor", "mcp.json"), []byte("{\n  // mine\n  \"mcpServers\": {}\n}\n"), 0o600)

	u := sitDown(t, home, env)
	u.see("Write it to " + home + "/tabhub-extension? [y/N]")
	u.enter("y\n")
	u.see("The extension is in ")
	b := chromium.Start(t, chromium.Options{Extension: filepath.Join(home, "tabhub-extension")})
	u.see("Press Enter when that is done")
	u.enter("\n")
	u.see("is connected")
	u.see("Cursor: put tabhub into its configuration? [y/N, s shows the change]")
	u.enter("s\n")
	u.see(`+    "tabhub": {`)
	u.see("[y/N, s shows the change]")
	u.enter("y\n")
	u.see("Cursor can use tabhub now")
	u.see("Gemini CLI: put tabhub into its configuration? [y/N")
	u.enter("\n")
	u.see("Gemini CLI is left as it is.")
	u.see("Cursor: it lists ")
	if code, last := u.leaves(); code != command.ExitOK || !strings.Contains(last, "puzzle piece") || !strings.Contains(last, "your client: which tabs are open") || strings.Contains(last, "Gemini") {
		t.Errorf("%d, %s", code, last)
	}
	entry, _ := os.ReadFile(filepath.Join(home, ".cursor", "mcp.json"))
	if !strings.Contains(string(entry), "entries/cursor-") || !strings.Contains(string(entry), "// mine") {
		t.Errorf("Cursor has %s", entry)
	}
	if files, _ := os.ReadDir(filepath.Join(home, ".gemini")); len(files) != 0 {
		t.Errorf("Gemini CLI has %v", files)
	}

	u = sitDown(t, home, env, "--client", "cursor")
	if code, all := u.leaves(); code != command.ExitOK || strings.Contains(all, "[y/N]") || !strings.Contains(all, "is connected") || !strings.Contains(all, "Cursor has it already") {
		t.Errorf("the second time: %d, %s", code, all)
	}
	if again, _ := os.ReadFile(filepath.Join(home, ".cursor", "mcp.json")); !bytes.Equal(again, entry) {
		t.Errorf("the second time made %s", again)
	}
	b.Close()
}

// Ctrl-C leaves nothing half done, and says how to go on.
func TestSetupIsStopped(t *testing.T) {
	home, env := newHome(t)
	u := sitDown(t, home, env)
	u.see("Write it to ")
	u.enter("n\n")
	u.see("Cursor: put tabhub into its configuration? [y/N")
	u.enter("\x03")
	if code, last := u.leaves(); code != command.ExitError || !strings.Contains(last, "stopped; what is done stays, and `tabhub setup` goes on from here") {
		t.Fatalf("%d, %q", code, last)
	}
	for _, dir := range []string{".cursor", ".gemini"} {
		if files, _ := os.ReadDir(filepath.Join(home, dir)); len(files) != 0 {
			t.Errorf("%s has %v", dir, files)
		}
	}
	out := exec.Command("tabhub", "token", "list")
	out.Env = env
	if said, _ := out.CombinedOutput(); !strings.Contains(string(said), "no client has a credential") {
		t.Errorf("a token is left over: %s", said)
	}
}
