package httpd

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"tabhub/spec"
)

// users is the Verifier of a hub with accounts: each token stands for a user.
type users map[string]Identity

func (u users) Verify(token string) (Identity, error) {
	if id, ok := u[token]; ok {
		return id, nil
	}
	return Identity{}, errors.New("no such user")
}

// Other servers on the host of a hub with accounts see its cookies: they must not hold
// a token, which opens more than the dashboard, nor be of use when that has expired.
func TestCookieOfAccounts(t *testing.T) {
	known := users{
		"token-of-ann": {User: "ann", Expires: time.Now().Add(time.Hour)},
		"token-of-bob": {User: "bob", Expires: time.Now().Add(-time.Second)},
	}
	g := newGuard(t, GuardOptions{Verifier: known, Accounts: true})
	cookie := func(token string) string {
		id := known[token]
		return g.cookieFor(&id)
	}
	other := newGuard(t, GuardOptions{Verifier: known, Accounts: true})
	ann := cookie("token-of-ann")
	if strings.Contains(ann, "token-of-ann") {
		t.Errorf("the cookie %s holds the token", ann)
	}
	body, mac, _ := strings.Cut(ann, ".")
	for _, c := range []struct {
		what, value string
		user        spec.UserID
	}{
		{"her own", ann, "ann"},
		{"an expired one", cookie("token-of-bob"), ""},
		{"the token", "token-of-ann", ""},
		{"none", "", ""},
		{"without a signature", body, ""},
		{"another's under her signature", strings.Replace(cookie("token-of-bob"), ".", "x.", 1), ""},
		{"a longer one", body + "YQ." + mac, ""},
		{"another hub's", other.cookieFor(&Identity{User: "ann"}), ""},
	} {
		r := ask("/api/tabs", "127.0.0.1:3300", "-")
		r.AddCookie(&http.Cookie{Name: "tabhub-3300", Value: c.value})
		r, err := g.check(r)
		switch {
		case c.user == "" && status(err) != http.StatusUnauthorized:
			t.Errorf("%s: %v, want 401", c.what, err)
		case c.user != "" && (err != nil || passOf(r.Context()).identity.User != c.user):
			t.Errorf("%s: %v", c.what, err)
		}
	}
	if _, err := g.check(func() *http.Request {
		r := ask("/mcp", "127.0.0.1:3300", "-")
		r.Header.Set("Authorization", "Bearer "+ann)
		return r
	}()); status(err) != http.StatusUnauthorized {
		t.Errorf("the cookie passes for a token: %v", err)
	}
}

// A user of a shared hub learns nothing of its process and of the others.
func TestStatusOfAccounts(t *testing.T) {
	d := open(t, func(g *GuardOptions, o *Options) {
		g.Accounts = true
		o.Info = func() Info {
			return Info{Version: "v1", PID: 4711, DataDir: "/srv/tabhub", Addrs: []string{"10.0.0.7:3300"}, Sockets: map[string]int{"connections": 987654}}
		}
	})
	code, body, _ := d.ask("GET", "/api/status", "")
	if code != http.StatusOK || !strings.Contains(body, `"v1"`) {
		t.Fatalf("%d %s", code, body)
	}
	for _, secret := range []string{"4711", "/srv/tabhub", "10.0.0.7", "987654"} {
		if strings.Contains(body, secret) {
			t.Errorf("the status tells %s: %s", secret, body)
		}
	}
}
