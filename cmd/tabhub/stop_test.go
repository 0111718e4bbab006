package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"tabhub/cmd/tabhub/internal/home"
)

// A hub takes the lock before it says where it is, and keeps it a little longer. Who
// stops it then has to wait, not to be told that there is none.
func TestStopOfAHubThatComesOrGoes(t *testing.T) {
	for name, next := range map[string]func(dir home.Dir, addr string, end func()){
		"goes": func(_ home.Dir, _ string, end func()) { end() },
		"comes": func(dir home.Dir, addr string, _ func()) {
			if err := dir.WriteHub(home.Hub{PID: os.Getpid(), Addr: addr}); err != nil {
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
			hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusAccepted)
				lock.Unlock()
			}))
			defer hub.Close()
			look = func() {
				if looks++; looks == 3 {
					next(dir, hub.Listener.Addr().String(), lock.Unlock)
				}
			}
			a := &app{env: env}
			if err := a.stop(t.Context(), dir, time.Minute, time.Minute); err != nil || looks < 3 {
				t.Errorf("after %d looks: %v", looks, err)
			}
		})
	}
}
