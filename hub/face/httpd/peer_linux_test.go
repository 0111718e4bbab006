package httpd

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"testing"
)

// A page's connection is looked up by asking the kernel for it alone: the tables of all connections
// take long where there are many. They stand in where the kernel cannot be asked.
func TestOwnerOfASocket(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	at, to := conn.LocalAddr().(*net.TCPAddr).AddrPort(), conn.RemoteAddr().(*net.TCPAddr).AddrPort()
	ways := map[string]func(at, to netip.AddrPort) (int, error){"the kernel": askKernel, "the tables": readTables}
	for way, owner := range ways {
		if uid, err := owner(at, to); err != nil || uid != os.Geteuid() {
			t.Errorf("%s: %d, %v, want %d", way, uid, err, os.Geteuid())
		}
	}
	conn.Close()
	for way, owner := range ways {
		if uid, err := owner(at, to); !errors.Is(err, errNoSocket) {
			t.Errorf("%s, after its end: %d, %v", way, uid, err)
		}
	}
}
