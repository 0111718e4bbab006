package bridge

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub/face/httpd"
)

// fakeHub is what a bridge sees of a hub: the lock, hub.json, hub.sock with /attach and
// /api/stop.
type fakeHub struct {
	t      *testing.T
	dir    home.Dir
	lock   *home.Lock
	ln     net.Listener
	name   string // by which it greets, after the session that it is shown
	token  string // that bridges must show, "" if none
	stops  atomic.Int32
	busy   atomic.Bool
	ends   atomic.Bool // by itself, when it is asked
	hub    home.Hub
	closed sync.Once
}

func startFake(t *testing.T, dir home.Dir, h home.Hub) *fakeHub {
	t.Helper()
	return startFakeFor(t, dir, h, "")
}

func startFakeFor(t *testing.T, dir home.Dir, h home.Hub, token string) *fakeHub {
	t.Helper()
	lock, err := dir.Lock(t.Context(), home.HubLock)
	if err != nil {
		t.Error(err)
		return nil
	}
	if err := dir.RemoveHub(); err != nil {
		t.Error(err)
	}
	ln, err := dir.Listen(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Error(err)
		return nil
	}
	f := &fakeHub{t: t, dir: dir, lock: lock, ln: ln, name: rand.Text(), token: token}
	h.Addr, h.Socket, h.PID = "127.0.0.1:1", dir.Socket(), os.Getpid()
	if err := dir.WriteHub(h); err != nil {
		t.Error(err)
	}
	f.hub = h
	go http.Serve(ln, f)
	t.Cleanup(f.close)
	return f
}

func (f *fakeHub) close() {
	f.closed.Do(func() {
		f.ln.Close()
		f.lock.Unlock()
	})
}

func (f *fakeHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	want := ""
	if f.token != "" {
		want = "Bearer " + f.token
	}
	if r.Header.Get("Authorization") != want {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":"the token is wrong"}`)
		return
	}
	switch r.URL.Path {
	case "/attach":
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			f.t.Error(err)
			return
		}
		// The first line comes in the same segment as the answer.
		fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\nhello %s since %s from %s\n",
			httpd.AttachProtocol, r.Header.Get(httpd.SessionHeader), r.Header.Get(httpd.BeganHeader), f.name)
	case "/api/stop":
		body, _ := io.ReadAll(r.Body)
		if string(body) != `{"reason":"upgrade"}` {
			f.t.Errorf("asked to stop with %s", body)
		}
		if !f.dir.Held(home.StartLock) {
			f.t.Error("an older bridge that loses this hub now may start one of its version")
		}
		if f.busy.Load() {
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, `{"error":"calls are under way"}`)
			return
		}
		f.stops.Add(1)
		if f.ends.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			go f.close()
			return
		}
		if f.hub.HandsOver { // and is the new program from now on
			f.hub.Version, f.hub.Started = "v1.2.0", time.Now()
			if err := f.dir.WriteHub(f.hub); err != nil {
				f.t.Error(err)
			}
			return
		}
		go f.close()
	}
}

func newDir(t *testing.T) home.Dir {
	t.Helper()
	dir := home.Dir(filepath.Join(t.TempDir(), "data"))
	if err := dir.Make(); err != nil {
		t.Fatal(err)
	}
	if _, err := dir.MakeToken(); err != nil { // nothing here sends it
		t.Fatal(err)
	}
	return dir
}

// connector returns a Connector whose Start runs start and counts.
func connector(dir home.Dir, start func(context.Context) error) (*Connector, *atomic.Int32) {
	n := new(atomic.Int32)
	began := time.Date(2026, 11, 22, 20, 0, 0, 5e8, time.UTC)
	return &Connector{Dir: dir, Version: "v1.2.0", Session: strings.Repeat("0a", 16), Began: began, Log: slog.New(slog.DiscardHandler), Start: func(ctx context.Context) error {
		n.Add(1)
		return start(ctx)
	}}, n
}

// greeting checks that conn leads to a fake hub and returns what it says.
func greeting(t *testing.T, conn net.Conn, err error) string {
	t.Helper()
	if err != nil {
		t.Error(err)
		return ""
	}
	defer conn.Close()
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "hello") {
		t.Errorf("%q, %v", line, err)
	}
	return line
}

func TestAttachToTheRunningHub(t *testing.T) {
	dir := newDir(t)
	startFake(t, dir, home.Hub{Version: "v1.0.0"}) // started by hand: it stays, whatever its version
	c, starts := connector(dir, nil)
	conn, err := c.Connect(t.Context())
	line := greeting(t, conn, err)
	if !strings.HasPrefix(line, "hello "+strings.Repeat("0a", 16)+" since 2026-11-22T20:00:00.5Z ") {
		t.Errorf("the bridge has shown another session: %s", line)
	}
	if starts.Load() != 0 {
		t.Error("a second hub was started")
	}
}

// A host starts a probe, a session and a pool of processes at once.
func TestManyBridgesStartOneHub(t *testing.T) {
	dir := newDir(t)
	c, starts := connector(dir, func(context.Context) error {
		startFake(t, dir, home.Hub{Version: "v1.2.0", Auto: true})
		return nil
	})
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			conn, err := c.Connect(t.Context())
			greeting(t, conn, err)
		})
	}
	wg.Wait()
	if n := starts.Load(); n != 1 {
		t.Errorf("%d hubs were started", n)
	}
}

// A hub that was killed leaves hub.json behind; its port may be another program's
// now, which must not be sent the token.
func TestLeftoverHubFile(t *testing.T) {
	addr := otherProgram(t)
	for name, leave := range map[string]func(home.Dir){
		"of a killed hub": func(d home.Dir) { d.WriteHub(home.Hub{Addr: addr, PID: 1, Version: "v1"}) },
		"half-written":    func(d home.Dir) { os.WriteFile(d.HubFile(), []byte(`{"pid":1,"addr":"127.0.`), 0o600) },
		"empty":           func(d home.Dir) { os.WriteFile(d.HubFile(), nil, 0o600) },
		"unreadable":      func(d home.Dir) { os.Mkdir(d.HubFile(), 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			leave(dir)
			c, starts := connector(dir, func(context.Context) error {
				startFake(t, dir, home.Hub{Version: "v1.2.0", Auto: true})
				return nil
			})
			conn, err := c.Connect(t.Context())
			greeting(t, conn, err)
			if starts.Load() != 1 {
				t.Errorf("%d starts", starts.Load())
			}
		})
	}
}

// otherProgram is a program that has taken the port of a hub that is dead. A bridge
// that connects to it would show it the token.
func otherProgram(t *testing.T) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
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
			conn.Close()
			t.Error("the bridge spoke to a program that is no hub")
		}
	}()
	t.Cleanup(func() {
		ln.Close()
		<-done
	})
	return ln.Addr().String()
}

// A hub has the lock before it has deleted what a killed one left behind. A bridge that
// comes just then waits for it.
func TestLeftoverHubFileOfAHubThatStarts(t *testing.T) {
	addr := otherProgram(t)
	for name, left := range map[string]home.Hub{
		"of this version": {Addr: addr, PID: 1 << 30, Version: "v1.2.0", Auto: true, Socket: "/run/hub.sock"},
		"to be replaced":  {Addr: addr, PID: 1 << 30, Version: "v1.1.0", Auto: true, Socket: "/run/hub.sock"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			lock, err := dir.TryLock(home.HubLock)
			if err != nil {
				t.Fatal(err)
			}
			if err := dir.WriteHub(left); err != nil {
				t.Fatal(err)
			}
			c, _ := connector(dir, func(context.Context) error {
				startFake(t, dir, home.Hub{Version: "v1.2.0", Auto: true})
				return nil
			})
			// The lock is freed when the bridge has been at it.
			looked := make(chan struct{})
			c.Log = slog.New(slog.NewTextHandler(writer(sync.OnceFunc(func() { close(looked) })), &slog.HandlerOptions{Level: slog.LevelDebug}))
			go func() {
				<-looked
				lock.Unlock()
			}()
			conn, err := c.Connect(t.Context())
			greeting(t, conn, err)
		})
	}
}

// writer calls itself at each write.
type writer func()

func (w writer) Write(b []byte) (int, error) {
	w()
	return len(b), nil
}

// After an update of the program the hub must not stay the old one.
func TestNewerBridgeReplacesOlderHub(t *testing.T) {
	for _, ends := range []bool{false, true} {
		dir := newDir(t)
		old := startFake(t, dir, home.Hub{Version: "v1.1.9", Auto: true})
		old.ends.Store(ends)
		c, starts := connector(dir, func(context.Context) error {
			startFake(t, dir, home.Hub{Version: "v1.2.0", Auto: true})
			return nil
		})
		conn, err := c.Connect(t.Context())
		if line := greeting(t, conn, err); strings.Contains(line, old.name) {
			t.Errorf("still attached to the old hub: %s", line)
		}
		if old.stops.Load() == 0 || starts.Load() != 1 {
			t.Errorf("%d stops, %d starts", old.stops.Load(), starts.Load())
		}
	}
}

// Two bridges must never take turns in replacing each other's hub, whatever they are builds
// of: if one supersedes a hub of the other, the other does not supersede its hub.
func TestSupersedes(t *testing.T) {
	here, other := filepath.Join(t.TempDir(), "tabhub"), filepath.Join(t.TempDir(), "tabhub")
	link := here + "-link"
	for _, err := range []error{os.WriteFile(here, nil, 0o700), os.WriteFile(other, nil, 0o700), os.Symlink(here, link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	old, now := time.Unix(1, 0), time.Unix(2, 0)
	type build struct {
		version, program string
		built            time.Time
	}
	write := func(path string, at time.Time) {
		if err := os.Chtimes(path, at, at); err != nil && path != "" {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		bridge, hub build
		want        bool
	}{
		"newer release":            {build{"v1.2.0", here, old}, build{"v1.1.9", other, now}, true},
		"same release":             {build{"v1.2.0", here, now}, build{"v1.2.0", other, old}, false},
		"older release":            {build{"v1.2.0", here, now}, build{"v1.10.0", here, old}, false},
		"newer commit":             {build{"v0.0.0-20261120100000-abcdefabcdef", here, old}, build{"v0.0.0-20261119100000-ffffffffffff", here, now}, true},
		"same commit, built again": {build{"v1.2.0", here, now}, build{"v1.2.0+dirty", link, old}, true},
		"no version, built again":  {build{"dev", here, now}, build{"dev", link, old}, true},
		"no version, as it was":    {build{"dev", here, now}, build{"dev", here, now}, false},
		"before an update":         {build{"dev", here, old}, build{"dev", here, now}, false},
		"no version, elsewhere":    {build{"dev", here, now}, build{"dev", other, old}, false},
		"deleted when it ends":     {build{"dev", "", now}, build{"dev", "", old}, false},
		"a hub that does not say":  {build{"dev", here, now}, build{"dev", "", time.Time{}}, false},
	} {
		supersedes := func(b, h build) bool {
			c := &Connector{Version: b.version, Program: b.program, Built: b.built}
			return c.supersedes(home.Hub{Version: h.version, Program: h.program, Built: h.built})
		}
		write(c.hub.program, c.hub.built)
		write(c.bridge.program, c.bridge.built)
		if got := supersedes(c.bridge, c.hub); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if supersedes(c.bridge, c.hub) && supersedes(c.hub, c.bridge) {
			t.Errorf("%s: they take turns", name)
		}
		write(c.bridge.program, now.Add(time.Hour))
		if c.bridge.program != "" && supersedes(c.bridge, c.hub) {
			t.Errorf("%s: a hub of the file's next content is superseded again and again", name)
		}
	}
}

// A hub that the user has started lives on as the new program only where it was started
// from that; else it stays, and the user is told.
func TestNewerBridgeAndAHubByHand(t *testing.T) {
	program := filepath.Join(t.TempDir(), "tabhub")
	built := time.Unix(1, 0)
	for _, err := range []error{os.WriteFile(program, nil, 0o700), os.Chtimes(program, built, built)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		hub   home.Hub
		built time.Time // when the bridge's program was written
		busy  bool
		want  string // of the hub's version
		warn  string
	}{
		"of the same program":  {home.Hub{Program: program, HandsOver: true}, built, false, "v1.2.0", ""},
		"that is busy":         {home.Hub{Program: program, HandsOver: true}, built, true, "v1.1.0", "calls are under way"},
		"of another program":   {home.Hub{Program: os.Args[0], HandsOver: true}, built, false, "v1.1.0", "until you start it anew"},
		"that cannot":          {home.Hub{Program: program}, built, false, "v1.1.0", "until you start it anew"},
		"put back by its user": {home.Hub{Program: program, HandsOver: true}, built.Add(-time.Hour), false, "v1.1.0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			c.hub.Version = "v1.1.0"
			f := startFake(t, dir, c.hub)
			f.busy.Store(c.busy)
			by, _ := connector(dir, nil)
			by.Program, by.Built = program, c.built
			var log strings.Builder
			by.Log = slog.New(slog.NewTextHandler(&log, nil))
			for range 2 {
				conn, err := by.Connect(t.Context())
				greeting(t, conn, err)
			}
			if h, err := dir.ReadHub(); err != nil || h.Version != c.want {
				t.Errorf("the hub is of %s, want %s; %v", h.Version, c.want, err)
			}
			if n := strings.Count(log.String(), "level=WARN"); (c.warn != "") != (n == 1) || !strings.Contains(log.String(), c.warn) {
				t.Errorf("the user is told %d times: %s", n, log.String())
			}
		})
	}
}

// A hub that the operating system starts takes the place of one that a client has started,
// and waits for one that the user has.
func TestTakeOver(t *testing.T) {
	for name, h := range map[string]home.Hub{
		"of a client": {Version: "v9.0.0", Auto: true},
		"by hand":     {Version: "v1.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			f := startFake(t, dir, h)
			c, _ := connector(dir, nil)
			waits := make(chan struct{})
			c.Log = slog.New(slog.NewTextHandler(writer(sync.OnceFunc(func() { close(waits) })), &slog.HandlerOptions{Level: slog.LevelWarn}))
			if !h.Auto {
				go func() {
					<-waits
					f.close()
				}()
			}
			lock, err := c.TakeOver(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			lock.Unlock()
			if asked := f.stops.Load() == 1; asked != h.Auto {
				t.Errorf("the hub was asked to end %d times", f.stops.Load())
			}
		})
	}
	gone, cancel := context.WithCancel(t.Context())
	dir := newDir(t)
	startFake(t, dir, home.Hub{})
	c, _ := connector(dir, nil)
	cancel()
	if lock, err := c.TakeOver(gone); lock != nil || err == nil {
		t.Error("the lock was taken from a hub that runs")
	}
	c.Dir = home.Dir(filepath.Join(string(dir), "nowhere"))
	if _, err := c.TakeOver(t.Context()); err == nil {
		t.Error("a directory that is not there was waited for")
	}
}

func TestHubThatDoesNotStart(t *testing.T) {
	c, starts := connector(newDir(t), func(context.Context) error { return errors.New("store is damaged; move it away") })
	_, err := c.Connect(t.Context())
	if err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("the user is told %v", err)
	}
	if starts.Load() != attempts {
		t.Errorf("%d starts", starts.Load())
	}
}

func TestHubThatRefusesTheToken(t *testing.T) {
	dir := newDir(t)
	const token = "the token of an account"
	startFakeFor(t, dir, home.Hub{}, token)
	c, _ := connector(dir, nil)
	if _, err := c.Connect(t.Context()); err == nil || !strings.Contains(err.Error(), "the token is wrong") || strings.Contains(err.Error(), "tabhub stop") {
		t.Errorf("%v", err)
	}
	c.Token = token
	conn, err := c.Connect(t.Context())
	greeting(t, conn, err)
}

func TestDetachedHubThatCannotReport(t *testing.T) {
	dir := newDir(t)
	if _, err := Detached(t.Context(), dir, "/nonexistent", nil, nil); err == nil {
		t.Error("a program that does not exist was started")
	}
	if _, err := Detached(t.Context(), dir, os.Args[0], []string{"-test.run", "^$", "-test.v=false"}, nil); err == nil || !strings.Contains(err.Error(), "hub.log") {
		t.Errorf("a program that is no hub: %v", err)
	}
	if _, err := Detached(t.Context(), "/nonexistent", os.Args[0], nil, nil); err == nil {
		t.Error("no log and no error")
	}
}
