package main

import (
	"context"
	"net"
	"os"
	"regexp"
	"runtime"
	"syscall"
	"testing"

	"github.com/gorilla/websocket"
)

// A program of another user of the machine that says that it is the extension is told
// from the owner's own extension, which `tabhub doctor` would call a problem.
func TestExtensionOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		const reason = "needs root, to be another user"
		if os.Getenv("CI") == "true" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	p, _ := serveTest(t)
	asNobody := websocket.Dialer{NetDialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := syscall.Setfsuid(65534); err != nil { // of this thread only: whose the socket is
			return nil, err
		}
		defer syscall.Setfsuid(0)
		return new(net.Dialer).DialContext(ctx, network, addr)
	}}
	sayAsExtension(t, asNobody, p.info.Addrs[0], oldHello(""))
	if list := p.inform().Refused; len(list) != 1 || list[0].Own {
		t.Errorf("the hub remembers %+v", list)
	}
	if _, out, _ := runIn(t, string(p.dir), "doctor"); !regexp.MustCompile(`note +extension +another user or machine said that it is the extension`).MatchString(out) {
		t.Errorf("doctor: %s", out)
	}
}
