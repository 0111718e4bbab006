package e2e

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/home"
)

// squat listens on an address that was a hub's. The hub may ask it only what it is, to tell
// the user which program has the port.
func squat(t *testing.T, addr string) (at string) {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			req, err := http.ReadRequest(bufio.NewReader(conn))
			conn.Close()
			if err != nil || req.URL.String() != "/healthz" || len(req.Header["Authorization"]) > 0 || req.ContentLength != 0 {
				t.Errorf("another program on the hub's port was sent %+v, %v", req, err)
			}
		}
	}()
	t.Cleanup(func() {
		ln.Close()
		<-done
	})
	return ln.Addr().String()
}

// A hub is killed, and somebody else takes its port.
func TestPortOfAKilledHub(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first := p.stdio()
	left := p.hub()
	first.close()
	p.killHere()
	p.awaitNoHub()
	for _, path := range []string{p.dir.HubFile(), p.dir.Socket()} {
		if _, err := os.Lstat(path); err != nil {
			t.Fatalf("a killed hub leaves nothing to be misled by: %v", err)
		}
	}
	squat(t, p.listen)
	for _, command := range [][]string{{"status"}, {"tabs"}, {"call", "x"}, {"stop"}} {
		p.run(command...)
	}
	// A hub that starts has the lock before it deletes what is left.
	lock, err := p.dir.TryLock(home.HubLock)
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"status"}, {"tabs"}, {"call", "x"}, {"token", "rotate"}, {"stop"}} {
		if _, stderr, exit := p.run(command...); exit != 1 {
			t.Errorf("%s ended with %d: %s", command, exit, stderr)
		}
	}
	lock.Unlock()
	p.stdio().tools()
	now := p.hub()
	if now.PID == left.PID || now.Addr == p.listen || now.Addr == "" {
		t.Errorf("the hub was %+v and is %+v", left, now)
	}
	if log, err := os.ReadFile(p.dir.LogFile()); err != nil || !strings.Contains(string(log), p.listen+" is in use by") {
		t.Errorf("the log does not tell of the port: %s %v", log, err)
	}
	if out, stderr, exit := p.run("status"); exit != 0 || !strings.Contains(out, p.dir.Socket()) {
		t.Errorf("status: %s%s", out, stderr)
	}
}

// The commands work beside a client that has the hub in its own process.
func TestCommandsBesideStandalone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := p.stdio("--standalone", "--demo")
	c.tools()
	if out, stderr, exit := p.run("tabs"); exit != 0 || !strings.Contains(out, "demo.tabhub") {
		t.Errorf("tabs ended with %d: %s%s", exit, out, stderr)
	}
	out, stderr, exit := p.run("status", "--json")
	var status struct {
		PID    int
		Socket string
	}
	if err := json.Unmarshal([]byte(out), &status); err != nil || exit != 0 || status.PID != c.process.Cmd.Process.Pid || status.Socket != p.dir.Socket() {
		t.Errorf("status ended with %d: %s%s", exit, out, stderr)
	}
	c.close()
	c.process.AwaitEnd()
	if left, err := filepath.Glob(filepath.Join(string(p.dir), "hub.s*")); err != nil || len(left) > 0 {
		t.Errorf("the hub has left %q, %v", left, err)
	}
}
