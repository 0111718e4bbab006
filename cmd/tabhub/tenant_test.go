package main

import (
	"net/http"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// Who has no more than the dashboard open is not signed out of it as one who is idle.
func TestDashboardKeepsTheHubOpen(t *testing.T) {
	p, _ := serveTest(t, "--demo=false")
	user, err := p.tenants.Get(t.Context(), spec.LocalUser)
	if err != nil {
		t.Fatal(err)
	}
	if p.isUsed(user) {
		t.Error("it is used before anybody comes")
	}
	r := remote{hub: home.Hub{}, http: p.dir.Client()}
	for _, err := range r.events(t.Context(), http.MethodGet, "/api/watch", nil) {
		if err != nil || !p.isUsed(user) {
			t.Errorf("who watches does not count: %v", err)
		}
		break
	}
}

// A hub whose store another one has taken over ends, and the next request is served by a
// new one: the process need not be started again.
func TestHubThatLostItsStoreIsReplaced(t *testing.T) {
	p, _ := serveTest(t)
	first, err := p.tenants.Get(t.Context(), spec.LocalUser)
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
	<-first.Hub.Done()
	r := remote{hub: home.Hub{}, http: p.dir.Client()}
	b, err := r.do(t.Context(), http.MethodGet, "/api/tabs", nil)
	if err != nil || !strings.Contains(string(b), "demo.tabhub") {
		t.Errorf("the next request: %s, %v; want the demo's tab", b, err)
	}
	if err := other.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
