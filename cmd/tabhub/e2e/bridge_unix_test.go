//go:build unix

package e2e

import (
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// A client that crashes cannot close the bridge's pipe if other processes have it open, too:
// the bridge must end all the same.
func TestBridgeEndsWithItsHost(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "TABHUB_IDLE_EXIT=100ms")
	in, hold, err := os.Pipe() // hold stays open
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	said, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	bridge := p.command("stdio", "--listen", p.listen)
	host := exec.Command("/bin/sh", append([]string{"-c", `"$@" <&3 & wait`, "sh"}, bridge.Args...)...)
	host.Env, host.ExtraFiles, host.Stdout = p.env, []*os.File{in}, out
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	out.Close()
	if _, err := io.WriteString(hold, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+initializeParams+"}\n"); err != nil {
		t.Fatal(err)
	}
	said.SetReadDeadline(time.Now().Add(timeout))
	if _, err := said.Read(make([]byte, 1)); err != nil {
		t.Fatalf("no answer from the bridge: %v", err)
	}
	host.Process.Kill()
	host.Wait()
	// The last holder of the other end is the bridge.
	if _, err := io.Copy(io.Discard, said); err != nil {
		t.Errorf("the bridge lives on without its host: %v", err)
	}
	p.awaitNoHub()
	if left := p.processes(); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
}
