package httpd

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/face/admin"
	"tabhub/hub/tenant"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/storage/private"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/tabtest"
)

const (
	companionID = "ponmlkjihgfedcbaponmlkjihgfedcba"
	companion   = "chrome-extension://" + companionID
)

// take accepts an invitation as a browser does that has dialed the hub at an address.
func take(t *testing.T, ring *pairing.Ring, id spec.PairingID, secret pairing.Key) pairing.Credential {
	t.Helper()
	const at = "ws://127.0.0.1:3300"
	m := &spec.Pair{ProtocolVersion: spec.ProtocolVersion, Pairing: id, Nonce: pairing.NewNonce()}
	ex, err := ring.Begin(m, at)
	if err != nil {
		t.Fatal(err)
	}
	r := ex.Result()
	proof := pairing.Transcript{Pairing: id, Hub: r.Hub, Address: at, BrowserNonce: m.Nonce, HubNonce: r.Nonce}.BrowserProof(secret)
	grant, err := ex.Accept(proof, "Chromium 156")
	if err != nil {
		t.Fatal(err)
	}
	return grant
}

// What the hub proves is that it is at an address. A program at another port could be taken
// for it if a header could name that.
func TestPairingAddress(t *testing.T) {
	local := GuardOptions{Verifier: auth.NewToken(secret), Companion: companionID, Extensions: []string{extensionID}, AllowHosts: []string{"hub.example.com", "box:8080"}}
	proxied, public, plain, near := local, local, local, local
	proxied.BehindProxy = true
	public.PublicURL = "https://hub.example.com"
	plain.PublicURL = "http://box:8080"
	near.PublicURL = "https://localhost:8443"
	at := func(ip string, port int) *net.TCPAddr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: port} }
	for _, c := range []struct {
		o       GuardOptions
		local   *net.TCPAddr
		host    string
		tls     bool
		proto   string
		address string
	}{
		{local, at("127.0.0.1", 3300), "127.0.0.1:3300", false, "", "ws://127.0.0.1:3300"},
		{local, at("127.0.0.1", 80), "localhost", false, "", "ws://127.0.0.1"},
		{local, at("::1", 3300), "[::1]:3300", false, "", "ws://[::1]:3300"},
		{local, at("::ffff:127.0.0.1", 3300), "127.0.0.1:3300", false, "", "ws://127.0.0.1:3300"},
		{local, at("127.0.0.1", 8080), "127.0.0.1:8080", false, "", "ws://127.0.0.1:8080"},
		// Names that are let in, but that nothing proves.
		{local, at("127.0.0.1", 3300), "LOCALHOST:3300", false, "", "ws://127.0.0.1:3300"},
		{local, at("127.0.0.1", 3300), "127.0.0.9:3300", false, "", "ws://127.0.0.1:3300"},
		{local, at("127.0.0.1", 3300), "hub.example.com", false, "", "ws://127.0.0.1:3300"},
		{local, at("127.0.0.1", 3300), "hub.example.com", false, "https", "ws://127.0.0.1:3300"},
		{plain, at("127.0.0.1", 3300), "box:8080", false, "", "ws://127.0.0.1:3300"},
		{near, at("127.0.0.1", 3300), "localhost:8443", false, "", "ws://127.0.0.1:3300"},
		// Those that a certificate proves.
		{local, at("192.0.2.1", 443), "HUB.example.com:443", true, "", "wss://hub.example.com"},
		{local, at("192.0.2.1", 3300), "hub.example.com:3300", true, "", "wss://hub.example.com:3300"},
		{proxied, at("127.0.0.1", 3300), "hub.example.com", false, "https", "wss://hub.example.com"},
		{proxied, at("127.0.0.1", 3300), "hub.example.com", false, "http", "ws://127.0.0.1:3300"},
		{public, at("127.0.0.1", 3300), "hub.example.com", false, "", "wss://hub.example.com"},
	} {
		r := ask("/tabs ws", c.host, companion)
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, c.local))
		if c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		if c.proto != "" {
			r.Header.Set("X-Forwarded-Proto", c.proto)
		}
		g := newGuard(t, c.o)
		r, err := g.check(r)
		if err != nil {
			t.Errorf("%s: %v", c.host, err)
			continue
		}
		if got, err := g.PairingAddress(r); err != nil || got != c.address {
			t.Errorf("Host %s at %s, TLS %t, forwarded %q: %q, %v; want %q", c.host, c.local, c.tls, c.proto, got, err, c.address)
		}
	}
	g := newGuard(t, local)
	for _, origin := range []string{"-", "http://127.0.0.1:3300", "http://localhost:5173"} {
		r, err := g.check(ask("/tabs ws", "127.0.0.1:3300", origin))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.PairingAddress(r); err == nil {
			t.Errorf("the origin %s begins a handshake", origin)
		}
	}
}

// The companion's Origin is worth nothing, also beside a token or on a hub that asks for
// none: only a proof is.
func TestCompanionMustBePaired(t *testing.T) {
	for _, o := range []GuardOptions{
		{Companion: companionID, Verifier: auth.NewToken(secret)}, {Companion: companionID}, {Companion: companionID, Verifier: auth.NewToken(secret), AllowOrigins: []string{"*", companion}},
	} {
		for _, token := range []string{"", secret} {
			g := newGuard(t, o)
			r, err := g.check(ask("/tabs ws", "127.0.0.1:3300", companion))
			if err != nil {
				t.Fatal(err)
			}
			a, err := g.Admit(r, token)
			if coded, ok := errors.AsType[*spec.Error](err); !ok || coded.Code != spec.CodeUnpaired {
				t.Errorf("token %q: %+v, %v", token, a, err)
			}
		}
	}
}

// A pairing is of a user of this hub as it is now, or of its one owner.
func TestAdmitPaired(t *testing.T) {
	for _, c := range []struct {
		accounts   bool
		user, want spec.UserID // "": refused
	}{
		{false, "", spec.LocalUser}, {true, "ann", "ann"}, {true, "", ""},
		{false, "ann", ""}, // of when the hub had accounts: she is not its owner
	} {
		g := newGuard(t, GuardOptions{Verifier: auth.NewToken(secret), Accounts: c.accounts, Companion: companionID})
		r, err := g.check(ask("/tabs ws", "127.0.0.1:3300", companion))
		if err != nil {
			t.Fatal(err)
		}
		expires := time.Now().Add(time.Hour)
		a, err := g.AdmitPaired(r, pairing.Credential{Pairing: "p", User: c.user, Expires: expires, Revoked: t.Context()})
		if c.want == "" {
			if coded, ok := errors.AsType[*spec.Error](err); !ok || coded.Code != spec.CodeUnpaired {
				t.Errorf("accounts %t, user %q: %+v, %v", c.accounts, c.user, a, err)
			}
		} else if err != nil || a.User != c.want || !a.Attested || a.Pairing != "p" || a.Anonymous || a.Expires != expires || a.Revoked != t.Context() {
			t.Errorf("accounts %t, user %q: %+v, %v", c.accounts, c.user, a, err)
		}
	}
}

// openPairing is a hub with accounts that pairs browsers.
func openPairing(t *testing.T) *testServer {
	t.Helper()
	ring := tabtest.NewPairings(t).Ring
	d := open(t, func(g *GuardOptions, o *Options) {
		g.Accounts = true
		g.Verifier = users{"token-of-ann": {User: "ann", Expires: time.Now().Add(time.Hour)}, "token-of-bob": {User: "bob", Expires: time.Now().Add(time.Hour)}}
		o.API.Ring = ring
	})
	d.server.o.API.URL = "http://" + d.addr
	d.server.api = admin.New(d.server.o.API)
	return d
}

// of asks as a user and decodes the answer.
func (d *testServer) of(user, method, path string, answer any) int {
	d.t.Helper()
	status, body, _ := d.ask(method, path, "", "Authorization", "Bearer token-of-"+user)
	if status == http.StatusOK {
		if err := json.Unmarshal([]byte(body), answer); err != nil {
			d.t.Fatal(body, err)
		}
	}
	return status
}

// invite makes an invitation as `tabhub browser pair` does, and returns its secret, too.
func (d *testServer) invite(user string) (spec.PairingID, pairing.Key) {
	d.t.Helper()
	var o admin.PairingInvitation
	if status := d.of(user, "POST", "/api/pair", &o); status != http.StatusOK {
		d.t.Fatal(status)
	}
	text, ok := strings.CutPrefix(o.Link, "http://"+d.addr+"/pair#"+string(o.Pairing)+".")
	secret, err := pairing.ParseKey(strings.Split(text, ".")[0])
	if !ok || err != nil {
		d.t.Fatal(o.Link, err)
	}
	return o.Pairing, secret
}

// Each user's browsers are private: no other user sees them, forgets them or uses up
// their invitations.
func TestPairingsOfUsers(t *testing.T) {
	d := openPairing(t)
	ring := d.server.o.API.Ring
	id, secret := d.invite("ann")
	for range 20 {
		d.invite("bob")
	}
	grant := take(t, ring, id, secret)
	if grant.User != "ann" || time.Until(grant.Expires) > time.Hour {
		t.Errorf("%+v", grant)
	}
	var list []pairing.Pairing
	if status := d.of("bob", "GET", "/api/pair", &list); status != http.StatusOK || len(list) != 0 {
		t.Errorf("bob sees %d %+v", status, list)
	}
	named := "/api/pair?id=" + url.QueryEscape(string(id))
	for _, path := range []string{named, "/api/pair?id=all"} {
		if status := d.of("bob", "DELETE", path, nil); status != http.StatusNotFound {
			t.Errorf("bob, DELETE %s: %d", path, status)
		}
	}
	if status := d.of("bob", "GET", "/api/pair/wait?id="+string(id), nil); status != http.StatusGone {
		t.Errorf("bob waits for ann's: %d", status)
	}
	// Her command asks a moment after the browser was faster.
	var p pairing.Pairing
	if status := d.of("ann", "GET", "/api/pair/wait?id="+string(id), &p); status != http.StatusOK || p.ID != id {
		t.Errorf("ann waits for what is there: %d %+v", status, p)
	}
	if status := d.of("ann", "DELETE", named, new(struct{})); status != http.StatusOK || grant.Revoked.Err() == nil {
		t.Errorf("ann forgets it: %d, cut off: %v", status, grant.Revoked.Err())
	}
	var recorded []string
	lines, err := d.tenant.Record.Read(t.Context(), record.Query{Event: record.Pairing})
	for _, l := range lines {
		recorded = append(recorded, l.Outcome+" "+l.Reason)
	}
	if want := []string{"paired " + string(id) + " Chromium 156", "forgotten " + string(id) + " Chromium 156"}; err != nil || !slices.Equal(recorded, want) {
		t.Errorf("the record has %q, %v; want %q", recorded, err, want)
	}
	for _, path := range []string{"/api/pair", "/api/pair/wait?id=x"} {
		if status, body := d.askOwner("GET", path, ""); status != http.StatusUnauthorized {
			t.Errorf("whoever runs the hub, %s: %d %s", path, status, body)
		}
	}
}

// A copy of the extension would belong to no user of a hub with accounts.
func TestCopyWithAccounts(t *testing.T) {
	d := openPairing(t)
	if status, body := d.askOwner("POST", "/api/extension", `{"address":"ws://127.0.0.1:1/tabs"}`, "Authorization", "Bearer token-of-ann"); status != http.StatusConflict || !strings.Contains(body, "tabhub browser pair") {
		t.Errorf("%d %s", status, body)
	}
}

// A command that waits for a browser while the hub moves to another node hears that, and not that none
// has come in time.
func TestMoveEndsTheWaitForABrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ring := pairing.New("hub", pairing.NewKey(), nil)
		if err := ring.Load("", private.Document{Save: func([]byte, bool) error { return nil }}); err != nil {
			t.Fatal(err)
		}
		d := newTestServer(t, func(_ *GuardOptions, o *Options) { o.API.Ring = ring })
		invitation, err := ring.Invite("", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		r := ask("/api/pair/wait?id="+string(invitation.Pairing), "127.0.0.1:3300", "-")
		r.Header.Set("Authorization", "Bearer "+secret)
		w := httptest.NewRecorder()
		var asking sync.WaitGroup
		asking.Go(func() { d.server.ServeHTTP(w, r) })
		synctest.Wait()
		ring.Unload("")
		asking.Wait()
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "another node has your hub") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

// A hub that ends does not wait until a browser accepts an invitation.
func TestShutdownEndsTheWaitForABrowser(t *testing.T) {
	d := openPairing(t)
	id, _ := d.invite("ann")
	status := make(chan int, 1)
	begun := make(chan struct{})
	d.server.o.Tenants = tenant.New(func(context.Context, spec.UserID) (*tenant.Tenant, error) {
		close(begun)
		return d.tenant, nil
	}, slog.New(slog.DiscardHandler))
	go func() {
		defer close(status)
		status <- d.of("ann", "GET", "/api/pair/wait?id="+string(id), nil)
	}()
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := d.server.Shutdown(ctx, "stop"); err != nil {
		t.Errorf("the hub waits: %v", err)
	}
	if got := <-status; got != http.StatusServiceUnavailable {
		t.Errorf("the waiting browser gets %d", got)
	}
}
