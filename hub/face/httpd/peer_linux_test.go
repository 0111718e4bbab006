package httpd

import (
	"errors"
	"net"
	"os"
	"testing"
)

// The owner's pages need no token, so the hub must know whose program has connected.
func TestOwnerOfASocket(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		ln, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		conn, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		at, to := conn.LocalAddr().(*net.TCPAddr).AddrPort(), conn.RemoteAddr().(*net.TCPAddr).AddrPort()
		if uid, err := socketOwner(at, to); err != nil || uid != os.Geteuid() {
			t.Errorf("%s: %d, %v, want %d", address, uid, err, os.Geteuid())
		}
		conn.Close()
		if uid, err := socketOwner(at, to); !errors.Is(err, errNoSocket) {
			t.Errorf("%s, after its end: %d, %v", address, uid, err)
		}
	}
}
