package command

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tabhub/cmd/tabhub/internal/home"
)

// A hub that hangs does not hang the user's terminal, too: the user is told what ends it.
func TestStopOfAHubThatHangs(t *testing.T) {
	dir, _, ln := hubDir(t, false)
	defer ln.Close() // nobody accepts
	a := &App{Env: func(string) string { return "" }, DataDir: string(dir)}
	err := Stop(t.Context(), a, dir, time.Millisecond, time.Millisecond)
	if want := fmt.Sprint(os.Getpid()); err == nil || !strings.Contains(err.Error(), "kill") || !strings.Contains(err.Error(), want) {
		t.Errorf("stop says %v, want how to end process %s", err, want)
	}
}

// A hub takes the lock before it says where it is, and keeps it a little longer. A
// command that stops it then waits, and does not say that there is none.
func TestStopOfAHubThatComesOrGoes(t *testing.T) {
	for name, next := range map[string]func(dir home.Dir, end func()){
		"goes": func(_ home.Dir, end func()) { end() },
		"comes": func(dir home.Dir, _ func()) {
			if err := dir.WriteHub(home.Hub{PID: os.Getpid(), Addr: "127.0.0.1:1", Socket: dir.Socket()}); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			base, looks, look := t.TempDir(), 0, func() {}
			env := func(name string) string {
				if name == "TABHUB_TOKEN" {
					return ""
				}
				look() // each look at the directory begins with where it is
				return base
			}
			dir, err := home.Default(env)
			if err != nil {
				t.Fatal(err)
			}
			if err := dir.Make(); err != nil {
				t.Fatal(err)
			}
			lock, err := dir.TryLock(home.HubLock)
			if err != nil {
				t.Fatal(err)
			}
			ln, err := dir.Listen(slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			hub := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusAccepted)
				lock.Unlock()
			})}
			go hub.Serve(ln)
			defer hub.Close()
			look = func() {
				if looks++; looks == 3 {
					next(dir, lock.Unlock)
				}
			}
			a := &App{Env: env}
			if err := Stop(t.Context(), a, dir, time.Minute, time.Minute); err != nil || looks < 3 {
				t.Errorf("after %d looks: %v", looks, err)
			}
		})
	}
}

// A node of a cluster gives its users to others before it ends. The command that stops it waits for
// that, and does not advise to kill it.
func TestStopOfANode(t *testing.T) {
	var end func()
	hub := http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }),
		ConnState: func(_ net.Conn, s http.ConnState) {
			if s == http.StateIdle || s == http.StateClosed { // it has answered
				end()
			}
		},
	}
	dir, lock := serveAsNode(t, &hub)
	end = sync.OnceFunc(lock.Unlock)
	a := &App{Env: func(string) string { return "" }, DataDir: string(dir)}
	if err := Stop(t.Context(), a, dir, time.Minute, time.Nanosecond); err != nil {
		t.Error(err)
	}
}

// hubDir returns the data directory of a hub that is this process, its lock and its socket.
func hubDir(t *testing.T, node bool) (home.Dir, *home.Lock, net.Listener) {
	t.Helper()
	dir := home.Dir(filepath.Join(t.TempDir(), "data"))
	if err := dir.Make(); err != nil {
		t.Fatal(err)
	}
	lock, err := dir.TryLock(home.HubLock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lock.Unlock)
	ln, err := dir.Listen(slog.New(slog.DiscardHandler))
	if err == nil {
		err = dir.WriteHub(home.Hub{PID: os.Getpid(), Addr: "127.0.0.1:1", Socket: dir.Socket(), Node: node})
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, lock, ln
}

// serveAsNode has a server be the node of a data directory, until the test ends.
func serveAsNode(t *testing.T, hub *http.Server) (home.Dir, *home.Lock) {
	t.Helper()
	dir, lock, ln := hubDir(t, true)
	go hub.Serve(ln)
	t.Cleanup(func() { hub.Close() })
	return dir, lock
}
