package daemon

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/daemon/node"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// An open dashboard is use: the hub behind it is not closed as idle.
func TestDashboardKeepsTheHubOpen(t *testing.T) {
	p, _ := serve(t, io.Discard, "--demo=false")
	user, err := p.Tenants.Get(t.Context(), spec.LocalUser)
	if err != nil {
		t.Fatal(err)
	}
	if node.IsUsed(user, p.server.Streams(user.User)) {
		t.Error("it is used before the dashboard opens")
	}
	r := command.Remote{Hub: home.Hub{}, HTTP: p.Dir.Client()}
	for _, err := range r.Events(t.Context(), http.MethodGet, "/api/watch", nil) {
		if err != nil || !node.IsUsed(user, p.server.Streams(user.User)) {
			t.Errorf("an open dashboard does not count: %v", err)
		}
		break
	}
}

// A hub whose store another one has taken over ends, and the next request is served by a
// new one: the process need not be started again.
func TestHubThatLostItsStoreIsReplaced(t *testing.T) {
	p, _ := serve(t, io.Discard)
	first, err := p.Tenants.Get(t.Context(), spec.LocalUser)
	if err != nil {
		t.Fatal(err)
	}
	other, err := hub.Open(t.Context(), hub.Options{User: spec.LocalUser, Transport: tabtransport.NewPeers(), Store: p.store})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Hub.SetSite(storage.Site{Domain: "example.com"}); err != nil {
		t.Fatal(err)
	}
	<-first.Hub.Core.Done()
	r := command.Remote{Hub: home.Hub{}, HTTP: p.Dir.Client()}
	b, err := r.Do(t.Context(), http.MethodGet, "/api/tabs", nil)
	if err != nil || !strings.Contains(string(b), "demo.tabhub") {
		t.Errorf("the next request: %s, %v; want the demo's tab", b, err)
	}
	if err := other.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A closed hub leaves the memory of its process.
func TestClosedHubsAreFreed(t *testing.T) {
	p, _ := serve(t, io.Discard, "--demo=false")
	var hubs []weak.Pointer[hub.Hub]
	for i := range 10 {
		user := spec.UserID(fmt.Sprint("user", i))
		opened, err := p.Tenants.Get(t.Context(), user)
		if err != nil {
			t.Fatal(err)
		}
		hubs = append(hubs, weak.Make(opened.Hub))
		if err := p.Tenants.LetGo(t.Context(), user); err != nil {
			t.Fatal(err)
		}
	}
	for late := time.Now().Add(20 * time.Second); ; runtime.Gosched() { // goroutines that end hold them for a moment
		runtime.GC()
		left := 0
		for _, h := range hubs {
			if h.Value() != nil {
				left++
			}
		}
		if left == 0 {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("%d of %d closed hubs are in memory still", left, len(hubs))
		}
	}
}
