package portowner

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A process chooses its name, and must not write to the terminal of whoever asks.
func TestDescribeCleansTheName(t *testing.T) {
	const comm = "/proc/self/comm"
	was, err := os.ReadFile(comm)
	if err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(comm, []byte("a\x1b[2J\x07\nb"), 0); err != nil {
		t.Skip(err)
	}
	defer os.WriteFile(comm, was, 0)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	got := Describe(ln.Addr().String())
	if !strings.HasPrefix(got, "a") || strings.ContainsAny(got, "\x1b\x07\n") {
		t.Errorf("it is called %q", got)
	}
}

// Of another user's program, which a user cannot look into, the user is named.
func TestDescribeOtherUser(t *testing.T) {
	if os.Getenv("TEST_DESCRIBE") != "" {
		io.WriteString(os.Stdout, Describe(os.Getenv("TEST_DESCRIBE"))+"\n")
		return
	}
	if os.Geteuid() != 0 {
		const reason = "needs root, to run a program as another user"
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	dir, err := os.MkdirTemp("", "tabhub-portowner-") // t.TempDir is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	text, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "test")
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run", "^TestDescribeOtherUser$")
	cmd.Dir = dir
	cmd.Env = []string{"TEST_DESCRIBE=" + ln.Addr().String()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, _, _ := strings.Cut(string(out), "\n"); got != "a program of the user root" {
		t.Errorf("it is called %q", got)
	}
}
