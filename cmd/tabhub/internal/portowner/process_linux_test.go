package portowner

import (
	"net"
	"os"
	"strings"
	"testing"
)

// A process chooses its name, and must not steer the terminal that shows it.
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
