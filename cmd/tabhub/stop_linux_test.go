package main

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tabhub/cmd/tabhub/internal/home"
)

// A hub that hangs does not hang the user's terminal, too: its process is told to end,
// and if that does not help the user is told what does.
func TestStopOfAHubThatHangs(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	process := exec.Command("sleep", "1h")
	if err := process.Start(); err != nil {
		t.Skip(err)
	}
	defer process.Process.Kill()
	dir := home.Dir(filepath.Join(t.TempDir(), "data"))
	if err := dir.Make(); err != nil {
		t.Fatal(err)
	}
	lock, err := dir.TryLock(home.HubLock)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if err := dir.WriteHub(home.Hub{PID: process.Process.Pid, Addr: ln.Addr().String()}); err != nil {
		t.Fatal(err)
	}
	a := &app{env: func(string) string { return "" }, config: config{dataDir: string(dir)}}
	err = a.stop(t.Context(), dir, time.Millisecond, time.Millisecond)
	if want := fmt.Sprintf("`kill -9 %d`", process.Process.Pid); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("stop says %v, want %s", err, want)
	}
	if err := process.Wait(); err == nil || !strings.Contains(err.Error(), "interrupt") {
		t.Errorf("the process ended with %v", err)
	}
}
