//go:build !linux

package porttest

import (
	"net"
	"testing"
)

// Free returns a loopback address on which nobody listens now.
func Free(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}
