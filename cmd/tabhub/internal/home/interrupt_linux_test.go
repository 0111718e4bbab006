package home

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// hub.json of a killed hub may name a process that is another program by now.
func TestInterrupt(t *testing.T) {
	d := Dir(t.TempDir())
	lock, err := d.TryLock(HubLock)
	if err != nil {
		t.Fatal(err)
	}
	start := func(files ...*os.File) *exec.Cmd {
		t.Helper()
		cmd := exec.Command("sleep", "1h")
		cmd.ExtraFiles = files
		if err := cmd.Start(); err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		return cmd
	}
	looking, err := os.Open(d.path(HubLock))
	if err != nil {
		t.Fatal(err)
	}
	defer looking.Close()
	for _, other := range []*exec.Cmd{start(), start(looking)} {
		if err := d.Interrupt(Hub{PID: other.Process.Pid}); !errors.Is(err, ErrNotTheHub) {
			t.Errorf("a process that does not hold the lock: %v", err)
		}
	}
	hub := start(lock.f) // holds it, too
	lock.Unlock()
	if !d.Held(HubLock) {
		t.Fatal("the lock was not passed on")
	}
	if err := d.Interrupt(Hub{PID: hub.Process.Pid}); err != nil {
		t.Error(err)
	}
	if err := hub.Wait(); err == nil || !strings.Contains(err.Error(), "interrupt") {
		t.Errorf("the hub's process ended with %v", err)
	}
	if err := d.Interrupt(Hub{PID: hub.Process.Pid}); !errors.Is(err, ErrNotTheHub) {
		t.Errorf("a process that has ended: %v", err)
	}
}
