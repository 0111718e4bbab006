package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"tabhub/hub"
	"tabhub/hub/face/endpoint"
	"tabhub/hub/hubtest"
	"tabhub/hub/tenant"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
)

// On a hub with accounts a client lasts no longer than what its user has shown.
func TestClientsOfUsersEndWithTheirs(t *testing.T) {
	clients, err := auth.OpenClients(filepath.Join(t.TempDir(), "clients.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer clients.Close()
	api, h := New(Options{Clients: clients}), hubtest.Open(t, hub.Options{})
	soon := time.Now().Add(time.Hour).Round(0)
	for asked, want := range map[time.Time]time.Time{{}: soon, soon.Add(time.Hour): soon, soon.Add(-time.Minute): soon.Add(-time.Minute)} {
		body, err := json.Marshal(ClientRequest{Name: fmt.Sprint("until ", asked.Unix()), Kind: auth.ClientToken, Expires: asked})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("POST", "/api/clients", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		ann := &auth.Identity{User: "ann", Kind: auth.KindOwner, Principal: policy.Token, Expires: soon}
		if err := api.postClient(&endpoint.Request{Request: r, W: w, Identity: ann, Tenant: &tenant.Tenant{Hub: h.Hub}}); err != nil {
			t.Fatal(err)
		}
		var made MintedClient
		if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil || !made.Expires.Equal(want) || made.User != "ann" {
			t.Errorf("asked for until %v: %s, want %v", asked, w.Body, want)
		}
	}
}
