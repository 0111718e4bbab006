package httpd

import (
	"errors"
	"net/http/httptest"
	"testing"

	"tabhub/spec"
)

// A browser that the hub has started has no token, whatever the hub asks of others.
func TestAdmitStarted(t *testing.T) {
	proxied := GuardOptions{Verifier: NewToken(secret), Extensions: []string{extensionID}, BehindProxy: true}
	accounts := proxied
	accounts.Accounts = true
	const listed = "chrome-extension://" + extensionID
	for _, c := range []struct {
		o              GuardOptions
		target, origin string
		want           int
	}{
		{proxied, "/tabs ws", listed, 200},
		{proxied, "/tabs ws", "-", 401},
		{proxied, "/tabs ws", "http://127.0.0.1:3300", 401},
		{accounts, "/tabs ws", listed, 401},
	} {
		g := newGuard(t, c.o)
		r, err := g.check(ask(c.target, "127.0.0.1:3300", c.origin))
		if err != nil {
			t.Fatal(err)
		}
		a, err := g.AdmitStarted(r)
		if status(err) != c.want || err == nil && (a.User != spec.LocalUser || !a.Attested || a.Anonymous) {
			t.Errorf("%s, accounts %t, Origin %s: %+v, %v; want %d", c.target, c.o.Accounts, c.origin, a, err, c.want)
		}
	}
	if _, err := newGuard(t, proxied).AdmitStarted(httptest.NewRequest("GET", "/tabs", nil)); !errors.Is(err, ErrNoRequest) {
		t.Errorf("a request that nobody has looked at was admitted: %v", err)
	}
}
