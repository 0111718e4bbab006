package httpd

import (
	"errors"
	"net"
	"net/netip"
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
		lookups := map[string]func(at, to netip.AddrPort) (int, error){"netlink": askKernel, "/proc": readTables}
		for name, owner := range lookups {
			if uid, err := owner(at, to); err != nil || uid != os.Geteuid() {
				t.Errorf("%s, %s: %d, %v, want %d", address, name, uid, err, os.Geteuid())
			}
		}
		conn.Close()
		for name, owner := range lookups {
			if uid, err := owner(at, to); !errors.Is(err, errNoSocket) {
				t.Errorf("%s, %s, after its end: %d, %v", address, name, uid, err)
			}
		}
	}
}

// Others decide how many sockets there are: looking one up makes no garbage of the rest.
func TestOwnerAmongManySockets(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	var at, to netip.AddrPort
	for range 100 {
		conn, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		at, to = conn.LocalAddr().(*net.TCPAddr).AddrPort(), conn.RemoteAddr().(*net.TCPAddr).AddrPort()
	}
	allocs := testing.AllocsPerRun(5, func() {
		if uid, err := readTables(at, to); err != nil || uid != os.Geteuid() {
			t.Errorf("%d, %v, want %d", uid, err, os.Geteuid())
		}
	})
	if allocs > 50 {
		t.Errorf("%v allocations", allocs)
	}
}
