package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/e2e/rig"
)

// Without systemd, as where these tests run, the desktop starts the hub. That hub takes the
// place of one that a client has started, and the client notices nothing.
func TestAutostart(t *testing.T) {
	t.Parallel()
	if exec.Command("systemctl", "--user", "show-environment").Run() == nil {
		t.Skip("this user's systemd would start a hub")
	}
	home := t.TempDir()
	p := newPlace(t, "HOME="+home, "XDG_CONFIG_HOME=", "XDG_CURRENT_DESKTOP=", "DISPLAY=", "WAYLAND_DISPLAY=")
	p.update(program)
	if _, said, exit := p.run("autostart", "on"); exit != 1 || !strings.Contains(said, "no systemd of yours answers") {
		t.Errorf("without a desktop: %s", said)
	}
	p.env = append(p.env, "XDG_CURRENT_DESKTOP=XFCE")
	if _, said, exit := p.run("autostart", "on", "--listen", "nowhere"); exit != 2 {
		t.Errorf("with a wrong flag: %s", said)
	}
	if _, said, exit := p.run("autostart", "on", "--listen", p.listen); exit != 0 || !strings.Contains(said, "at the next login") {
		t.Fatalf("autostart on: %s", said)
	}
	entry := filepath.Join(home, ".config", "autostart", "tabhub.desktop")
	out, _, _ := p.run("autostart", "--json")
	var state struct {
		On, Running   bool
		File, Program string
		Args          []string
	}
	if err := json.Unmarshal([]byte(out), &state); err != nil || !state.On || state.Running || state.File != entry {
		t.Fatalf("%v: %s", err, out)
	}
	if out, _, _ := p.run("doctor"); !strings.Contains(out, "is to run the hub, but none runs") || !strings.Contains(out, "tabhub autostart on --listen="+p.listen) {
		t.Errorf("the doctor does not say what starts it:\n%s", out)
	}

	c := p.stdio()
	p.open(&tab{key: "one", tools: countingTools, run: func(_ string, args json.RawMessage) string { return echo(args) }})
	buy := c.awaitTools("the tab's tools are listed", func(l tools) bool { return l.named("_buy") != "" }).named("_buy")
	cmd := exec.Command(state.Program, state.Args...)
	cmd.Env = p.env
	service := rig.Start(t, cmd)
	t.Cleanup(service.Stop)
	for calls, taken := 0, false; !taken; calls++ {
		if got := c.call(buy, `{"n":1}`).outcome(); got != "ok" {
			t.Fatalf("call %d: %s", calls, got)
		}
		select {
		case <-service.Done:
			t.Fatalf("the service has ended: %s", service.Stderr)
		default:
		}
		h, err := p.dir.ReadHub()
		taken = err == nil && h.PID == cmd.Process.Pid
	}
	if got := c.call(buy, `{"n":2}`).outcome(); got != "ok" {
		t.Errorf("a call of the service's hub: %s", got)
	}
	out, _, _ = p.run("status")
	for _, want := range []string{"by the system", p.dir.LogFile()} {
		if !strings.Contains(out, want) {
			t.Errorf("no word of %s in\n%s", want, out)
		}
	}
	if out, _, _ := p.run("doctor"); !strings.Contains(out, "the desktop starts the hub at login") {
		t.Errorf("the doctor says:\n%s", out)
	}
	if log := service.Stderr.String(); log != "" {
		t.Errorf("the service does not log to the journal: %s", log)
	}

	if err := os.Remove(p.program); err != nil {
		t.Fatal(err)
	}
	p.program = program
	if out, _, _ := p.run("doctor"); !strings.Contains(out, "starts a program that is gone") {
		t.Errorf("the doctor says:\n%s", out)
	}
	for _, want := range []string{"no longer starts the hub", "nothing to do"} {
		if _, said, exit := p.run("autostart", "off"); exit != 0 || !strings.Contains(said, want) {
			t.Errorf("autostart off: %s", said)
		}
	}
	if left, err := filepath.Glob(filepath.Join(home, ".config", "autostart", "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}
