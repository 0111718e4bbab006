package instance_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tabhub/hub"
	"tabhub/hub/builtin/instance"
	"tabhub/hub/core"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/tabtest"
	"tabhub/tabtransport/wsserver"
)

// fixture is a hub that browsers can join, and its instances.
type fixture struct {
	t         testing.TB
	hub       *hub.Hub
	instances *instance.Instances
	dir       string
	page      string        // the address of an empty page
	visited   chan struct{} // capacity 1; somebody has loaded it
}

func newFixture(t testing.TB, opts instance.Options) *fixture {
	t.Helper()
	return newFixtureOver(t, &storagetest.Memory{}, opts)
}

// newFixtureOver is newFixture for a hub with a past: its store, and Options.Dir.
func newFixtureOver(t testing.TB, store storage.DomainToolStorage, opts instance.Options) *fixture {
	t.Helper()
	pairings := tabtest.NewPairings(t)
	ws := wsserver.New(wsserver.Options{Pair: pairings.Pair, Authenticate: func(_ *http.Request, hello *spec.Hello, ex *pairing.Exchange) (tabtransport.Admission, error) {
		id, err := pairings.Check(hello, ex)
		return tabtransport.Admission{Attested: id != "", Pairing: id}, err
	}})
	h, err := hub.Open(t.Context(), hub.Options{User: spec.LocalUser, Mode: policy.ModeOpen, Transport: ws.Transport(spec.LocalUser), Store: store})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/tabs", ws.Tabs())
	visited := make(chan struct{}, 1)
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		select {
		case visited <- struct{}{}:
		default:
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>empty</title>"))
	})
	server := httptest.NewServer(mux)
	w := &fixture{t: t, hub: h, dir: filepath.Join(t.TempDir(), "browsers"), page: server.URL + "/page", visited: visited}
	if opts.Dir != "" {
		w.dir = opts.Dir
	}
	opts.Hub, opts.Dir, opts.Ring = h, w.dir, pairings.Ring
	opts.HubURL = "ws" + strings.TrimPrefix(server.URL, "http") + "/tabs"
	w.instances = instance.New(opts)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		w.instances.Close()
		_ = h.Close(ctx)
		_ = ws.Close(ctx)
		server.Close()
	})
	return w
}

// fake makes an executable that is a browser as far as its name goes: a shell script
// that does what body says.
func fake(t testing.TB, name, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	script := "#!/bin/sh\n" + body + "\n"
	// A process that is just being started has each open file, too, and what is open to
	// be written cannot be run.
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(script), 0o700)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// wantFailure checks that err is a failure with a code, in words that hold what.
func wantFailure(t testing.TB, err error, code spec.FailureCode, what string) {
	t.Helper()
	f, ok := err.(*core.Failure)
	if !ok || f.Code != code || !strings.Contains(f.Message, what) {
		t.Errorf("got %v, want %s with %q", err, code, what)
	}
}

// processesOf returns the processes that have text in their command line.
func processesOf(t testing.TB, text string) []string {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range lines {
		line, err := os.ReadFile(file) // it may be gone by now
		if err == nil && bytes.Contains(line, []byte(text)) && !strings.HasPrefix(file, "/proc/self") {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}
