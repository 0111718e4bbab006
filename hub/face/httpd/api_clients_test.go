package httpd

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"tabhub/hub/face/admin"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/storage/private"
	"tabhub/storage/storagetest"
)

// openWithClients is open for a hub that knows clients.
func openWithClients(t *testing.T) (*testServer, *auth.Clients) {
	t.Helper()
	clients := newClients(t)
	return open(t, func(g *GuardOptions, o *Options) {
		g.Verifier = &auth.Hub{Owner: g.Verifier, Clients: clients}
		o.API.Clients = clients
	}), clients
}

func newClients(t *testing.T) *auth.Clients {
	t.Helper()
	clients, err := auth.OpenClients(filepath.Join(t.TempDir(), "clients.json"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := clients.Close(); err != nil {
			t.Error(err)
		}
	})
	return clients
}

// mint makes a client as `tabhub token mint` does.
func (d *testServer) mint(body string) admin.MintedClient {
	d.t.Helper()
	var made admin.MintedClient
	status, answer := d.askOwner("POST", "/api/clients", body)
	if err := json.Unmarshal([]byte(answer), &made); err != nil || status != http.StatusOK || made.Token == "" {
		d.t.Fatalf("%d %s", status, answer)
	}
	return made
}

// A hub that has lost its user to another says so, and to try again: a caller that hears that a
// client is made, or revoked, would be wrong.
func TestClientsOfAStaleHub(t *testing.T) {
	store, clients := new(storagetest.Memory), auth.NewClients(nil)
	load := func() private.Document { return store.Documents(t, spec.LocalUser)("clients") }
	if err := clients.Load(spec.LocalUser, load()); err != nil {
		t.Fatal(err)
	}
	d := open(t, func(g *GuardOptions, o *Options) {
		g.Verifier = &auth.Hub{Owner: g.Verifier, Clients: clients}
		o.API.Clients = clients
	})
	const notes = `{"name":"notes","kind":"token"}`
	d.mint(notes)
	load()
	for method, path := range map[string]string{"POST": "/api/clients", "DELETE": "/api/clients?client=notes"} {
		if status, body := d.askOwner(method, path, strings.Replace(notes, "notes", "more", 1)); status != http.StatusServiceUnavailable || !strings.Contains(body, "another hub serves this user now") {
			t.Errorf("%s: %d %s", method, status, body)
		}
	}
	clients.Unload(spec.LocalUser)
	if status, body := d.askOwner("POST", "/api/clients", notes); status != http.StatusServiceUnavailable {
		t.Errorf("when the user has left: %d %s", status, body)
	}
}

// A client's token lets it do what it was made for, until its owner takes it back.
func TestClientsOverTheAPI(t *testing.T) {
	d, _ := openWithClients(t)
	made := d.mint(`{"name":"claude","kind":"token","scope":{"sites":["shop.example"],"classes":["read"]}}`)
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	use := func() int {
		status, body, _ := d.ask("POST", "/mcp", list, "Authorization", "Bearer "+made.Token, "Accept", "application/json",
			"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
		if status == http.StatusOK && !strings.Contains(body, `"tools"`) {
			t.Errorf("the client lists %s", body)
		}
		return status
	}
	if status := use(); status != http.StatusOK {
		t.Errorf("the client is answered %d", status)
	}
	status, body := d.askOwner("GET", "/api/clients", "")
	var known []auth.Client
	if err := json.Unmarshal([]byte(body), &known); err != nil || status != http.StatusOK || len(known) != 1 {
		t.Fatalf("%d %s", status, body)
	}
	if c := known[0]; c.ID != made.ID || c.Name != "claude" || c.LastUsed.IsZero() || c.Scope.Sites[0] != "shop.example" || c.Scope.Classes[0] != policy.Read || strings.Contains(body, made.Token) {
		t.Errorf("the hub lists %s", body)
	}
	for body, says := range map[string]string{
		`{"name":"claude","kind":"token"}`:                                    "already",
		`{"name":"owner","kind":"token"}`:                                     "the hub itself",
		`{"name":"x","kind":"oauth"}`:                                         "kind",
		`{"kind":"token"}`:                                                    "name",
		`{"name":"x","kind":"token","scope":{"classes":["all"]}}`:             "class",
		`{"name":"x","kind":"token","scope":{"sites":["not a site"]}}`:        "not a site",
		`{"name":"x","kind":"token","expires":"2001-01-01T00:00:00Z"}`:        "expired",
		`{"name":"x","kind":"token","scope":{"classes":["read"]},"more":true`: "body",
	} {
		if status, answer := d.askOwner("POST", "/api/clients", body); status != http.StatusBadRequest || !strings.Contains(answer, says) {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
	// What is made outlives the hub's token, so that does not make it.
	if status, _, _ := d.ask("POST", "/api/clients", `{"name":"x","kind":"token"}`); status != http.StatusForbidden {
		t.Errorf("a client with the hub's token makes another: %d", status)
	}
	if status, answer := d.askOwner("DELETE", "/api/clients?client=CLAUDE", ""); status != http.StatusOK || !strings.Contains(answer, made.ID) {
		t.Errorf("%d %s", status, answer)
	}
	if status := use(); status != http.StatusUnauthorized {
		t.Errorf("the client goes on: %d", status)
	}
	if status, answer := d.askOwner("DELETE", "/api/clients?client="+made.ID, ""); status != http.StatusNotFound || !strings.Contains(answer, "token list") {
		t.Errorf("%d %s", status, answer)
	}
	lines, err := d.tenant.Record.Read(t.Context(), record.Query{})
	if err != nil {
		t.Fatal(err)
	}
	var recorded []string
	for _, l := range lines {
		if l.Event == record.Client && l.Client == made.ID && l.Name == "claude" {
			recorded = append(recorded, l.Reason)
		}
	}
	if got := strings.Join(recorded, ", "); got != "made, revoked" {
		t.Errorf("recorded is that it was %s", got)
	}
}

// tryAttach is attach for a request that may be refused.
func (d *testServer) tryAttach(token string) (status int, body string) {
	d.t.Helper()
	conn, err := net.Dial("unix", d.socket)
	if err != nil {
		d.t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /attach HTTP/1.1\r\nHost: hub.sock\r\nConnection: Upgrade\r\nUpgrade: %s\r\nAuthorization: Bearer %s\r\n\r\n", AttachProtocol, token)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return resp.StatusCode, ""
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// A bridge whose client was shut out is out. It does not come back as a program of the
// owner, of which nothing is known, although its socket would be credential enough.
func TestRevokedBridge(t *testing.T) {
	d, clients := openWithClients(t)
	made := d.mint(`{"name":"cursor","kind":"entry"}`)
	_, bridge := d.attach("Authorization: Bearer " + made.Token + "\r\n")
	_, other := d.attach("")
	if err := clients.Revoke(spec.LocalUser, made.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, bridge); err != nil {
		t.Error(err)
	}
	for _, token := range []string{made.Token, "tbh_x_y", "", "x"} {
		if status, body := d.tryAttach(token); status != http.StatusUnauthorized {
			t.Errorf("with %q: %d %s", token, status, body)
		}
	}
	if line, err := other.ReadString('\n'); err != nil || !strings.Contains(line, `"id":1,"result"`) {
		t.Errorf("another bridge is out, too: %q, %v", line, err)
	}
}
