package home

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// listen makes hub.sock in a directory and answers each HTTP request.
func listen(t *testing.T, d Dir) {
	t.Helper()
	ln, err := d.Listen(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.URL.Path) })}
	go s.Serve(ln)
	t.Cleanup(func() { s.Close() })
}

func TestSocket(t *testing.T) {
	d := Dir(t.TempDir())
	if _, err := d.Dial(t.Context()); err == nil {
		t.Error("connected to a hub that is not there")
	}
	listen(t, d)
	resp, err := d.Client().Get(SocketURL + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "/healthz" {
		t.Errorf("%s, %v", body, err)
	}
	if left, err := filepath.Glob(string(d) + "/.*"); err != nil || len(left) > 0 {
		t.Errorf("files are left: %q, %v", left, err)
	}
}

// A hub that was killed leaves the file behind, and one that was killed at a bad moment
// another, too.
func TestSocketOfAKilledHub(t *testing.T) {
	for _, name := range []string{socketName, "." + socketName} {
		d := Dir(t.TempDir())
		left, err := net.ListenUnix("unix", &net.UnixAddr{Name: d.path(name)})
		if err != nil {
			t.Skip(err)
		}
		left.SetUnlinkOnClose(false)
		left.Close()
		if _, err := d.Dial(t.Context()); err == nil {
			t.Errorf("%s: connected to a hub that is dead", name)
		}
		listen(t, d)
		conn, err := d.Dial(t.Context())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		conn.Close()
	}
}

// The address of a socket has room for about 100 bytes, which is less than the paths
// that people have.
func TestSocketInALongDirectory(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), strings.Repeat("long/", 50)))
	if err := d.Make(); err != nil {
		t.Fatal(err)
	}
	if len(d.Socket()) <= maxAddress {
		t.Fatalf("%d bytes are not long", len(d.Socket()))
	}
	ln, err := d.Listen(slog.New(slog.DiscardHandler))
	if err != nil {
		if !strings.Contains(err.Error(), "pass a shorter --data-dir") {
			t.Errorf("the user is told %v", err)
		}
		t.Skip("this system has no way around that")
	}
	ln.Close()
	listen(t, d)
	conn, err := d.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if fi, err := os.Lstat(d.Socket()); err != nil || fi.Mode().Type() != os.ModeSocket {
		t.Errorf("%v, %v", fi, err)
	}
	if err := d.RemoveHub(); err != nil {
		t.Error(err)
	}
}
