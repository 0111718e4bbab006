package auth

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"tabhub/spec"
)

var secret = []byte("0123456789abcdef0123456789abcdef")

func sign(t *testing.T, m jwt.SigningMethod, key any, claims jwt.MapClaims, kid string) string {
	t.Helper()
	tok := jwt.NewWithClaims(m, claims)
	if kid != "" {
		tok.Header["kid"] = kid
	}
	s, err := tok.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func in(d time.Duration) int64 { return time.Now().Add(d).Unix() }

// A token that is not exactly right must admit no user, and the refusal must not
// repeat the token into logs and screens.
func TestVerifyRefuses(t *testing.T) {
	v, err := NewJWT(Options{Secret: secret, Endpoints: []string{"https://hub.example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	good := func() jwt.MapClaims { return jwt.MapClaims{"user_id": "u1", "exp": in(time.Hour)} }
	with := func(k string, val any) jwt.MapClaims { c := good(); c[k] = val; return c }
	without := func(k string) jwt.MapClaims { c := good(); delete(c, k); return c }
	hs := func(c jwt.MapClaims) string { return sign(t, jwt.SigningMethodHS256, secret, c, "") }
	_, edKey, _ := ed25519.GenerateKey(rand.Reader)
	parts := strings.Split(hs(good()), ".")
	otherUser := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"user_id":"u2","exp":%d}`, in(time.Hour)))

	for name, c := range map[string]struct{ token, want string }{
		"none given":           {"", "required"},
		"not a token":          {"hello", "not a JSON Web Token"},
		"too long":             {strings.Repeat("a", MaxToken+1), "too long"},
		"alg none":             {sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good(), ""), "signature"},
		"unsigned":             {parts[0] + "." + parts[1] + ".", "signature"},
		"other claims":         {parts[0] + "." + otherUser + "." + parts[2], "signature"},
		"wrong key":            {sign(t, jwt.SigningMethodHS256, []byte(strings.Repeat("x", 32)), good(), ""), "signature"},
		"other HMAC":           {sign(t, jwt.SigningMethodHS512, secret, good(), ""), "HS256"},
		"asymmetric":           {sign(t, jwt.SigningMethodEdDSA, edKey, good(), ""), "signature"},
		"expired":              {hs(with("exp", in(-time.Minute))), "expired"},
		"no exp":               {hs(without("exp")), "exp"},
		"exp not a number":     {hs(with("exp", "tomorrow")), "claims"},
		"exp beyond all time":  {hs(with("exp", 1e300)), "expired"},
		"not yet":              {hs(with("nbf", in(time.Minute))), "nbf"},
		"no user":              {hs(without("user_id")), "user_id"},
		"user in other case":   {hs(jwt.MapClaims{"USER_ID": "u1", "exp": in(time.Hour)}), "user_id"},
		"user not a string":    {hs(with("user_id", 7)), "user_id"},
		"user with a slash":    {hs(with("user_id", "../u1")), "user_id"},
		"user local":           {hs(with("user_id", "local")), "reserved"},
		"user too long":        {hs(with("user_id", strings.Repeat("u", 129))), "longer"},
		"other host":           {hs(with("connection_url", "wss://evil.example/mcp")), "another endpoint"},
		"host with a suffix":   {hs(with("connection_url", "wss://hub.example.com.evil.example/mcp")), "another endpoint"},
		"other port":           {hs(with("connection_url", "wss://hub.example.com:8443/mcp")), "another endpoint"},
		"no TLS":               {hs(with("connection_url", "ws://hub.example.com:443/mcp")), "another endpoint"},
		"host as the user":     {hs(with("connection_url", "wss://hub.example.com@evil.example/")), "another endpoint"},
		"URL not a string":     {hs(with("connection_url", 1)), "another endpoint"},
		"URL empty":            {hs(with("connection_url", "")), "another endpoint"},
		"second dot, trailing": {hs(good()) + ".x", "not a JSON Web Token"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := v.Verify(c.token)
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q does not say %q", err, c.want)
			}
			for p := range strings.SplitSeq(c.token, ".") {
				if len(p) > 8 && strings.Contains(err.Error(), p) {
					t.Errorf("the error repeats the token: %s", err)
				}
			}
		})
	}
}

// What the issuer says must be understood the hub does not understand. A token that is bound to a
// condition of that kind must not pass as if it had none.
func TestVerifyRefusesExtensions(t *testing.T) {
	v, err := NewJWT(Options{Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	claims := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"user_id":"u1","exp":%d}`, in(time.Hour)))
	for header, good := range map[string]bool{
		`{"alg":"HS256"}`: true,
		`{"alg":"HS256","typ":"JWT","kid":"1","x":{}}`:          true,
		`{"alg":"HS256","crit":["http://example.com/unknown"]}`: false,
		`{"alg":"HS256","crit":["exp"],"exp":1}`:                false,
		`{"alg":"HS256","crit":["alg"]}`:                        false,
		`{"alg":"HS256","crit":[]}`:                             false,
		`{"alg":"HS256","crit":null}`:                           false,
		`{"alg":"HS256","crit":"exp"}`:                          false,
		`{"alg":"HS256","crit":[1]}`:                            false,
		`{"alg":"HS256","crit":["x"],"crit":[],"x":1}`:          false,
		`{"alg":"HS256","\u0063rit":["x"]}`:                     false,
		`{"alg":"HS256","b64":false,"crit":["b64"]}`:            false,
		`{"alg":"HS256","b64":false}`:                           false,
		`{"alg":"HS256","b64":true}`:                            false,
	} {
		signed := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + claims
		mac, err := jwt.SigningMethodHS256.Sign(signed, secret)
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.Verify(signed + "." + base64.RawURLEncoding.EncodeToString(mac))
		switch {
		case (err == nil) != good:
			t.Errorf("%s: %v", header, err)
		case !good && !strings.Contains(err.Error(), "crit"):
			t.Errorf("%s: %q does not say why", header, err)
		}
	}
}

func TestVerifyAccepts(t *testing.T) {
	v, err := NewJWT(Options{Secret: secret, Endpoints: []string{"https://hub.example.com", "http://127.0.0.1:3300", "https://host.example/hub/"}})
	if err != nil {
		t.Fatal(err)
	}
	exp := in(time.Hour)
	for _, u := range []string{"", "wss://hub.example.com/mcp", "https://HUB.example.com:443", "ws://127.0.0.1:3300/extension", "ws://localhost:3300/mcp", "wss://host.example/hub/mcp", "wss://host.example/hub"} {
		c := jwt.MapClaims{"user_id": "83898119-db4f-4848-9d27-ea328b73a4df", "exp": exp}
		if u != "" {
			c["connection_url"] = u
		}
		id, err := v.Verify(sign(t, jwt.SigningMethodHS256, secret, c, ""))
		if err != nil {
			t.Errorf("%q: %v", u, err)
			continue
		}
		want := Identity{User: "83898119-db4f-4848-9d27-ea328b73a4df", Expires: time.Unix(exp, 0).Add(Leeway)}
		if id.User != want.User || !id.Expires.Equal(want.Expires) {
			t.Errorf("got %+v, want %+v", id, want)
		}
	}
	if _, err := v.Verify(sign(t, jwt.SigningMethodHS256, secret, jwt.MapClaims{"user_id": "u", "exp": in(-20 * time.Second), "nbf": in(20 * time.Second)}, "")); err != nil {
		t.Errorf("clocks 20 s apart: %v", err)
	}
	if _, err := v.Verify(sign(t, jwt.SigningMethodHS256, secret, jwt.MapClaims{"user_id": "u", "exp": exp, "connection_url": "wss://host.example/hubris"}, "")); err == nil {
		t.Error("a path that only starts like the hub's was accepted")
	}
}

func TestMint(t *testing.T) {
	v, err := NewJWT(Options{Secret: secret, Endpoints: []string{"http://127.0.0.1:3300"}})
	if err != nil {
		t.Fatal(err)
	}
	tok, err := Mint(secret, Claims{User: "ann", ConnectionURL: "ws://127.0.0.1:3300/mcp", Email: "ann@example.com", Life: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	id, err := v.Verify(tok)
	if err != nil || id.User != "ann" || time.Until(id.Expires) > time.Hour+Leeway {
		t.Fatalf("%+v, %v", id, err)
	}
	for name, g := range map[string]Claims{
		"no user":    {},
		"local":      {User: spec.LocalUser},
		"bad URL":    {User: "ann", ConnectionURL: "127.0.0.1:3300"},
		"past":       {User: "ann", Life: -time.Second},
		"ftp":        {User: "ann", ConnectionURL: "ftp://hub/"},
		"bad letter": {User: "a b"},
	} {
		if _, err := Mint(secret, g); err == nil {
			t.Errorf("%s: minted", name)
		}
	}
	if _, err := Mint([]byte("short"), Claims{User: "ann"}); err == nil {
		t.Error("minted with a short secret")
	}
}

func TestReadSecret(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "secret")
	write(t, path, append(secret, '\n'))
	if got, err := ReadSecret(path); err != nil || string(got) != string(secret) {
		t.Errorf("%q, %v", got, err)
	}
	write(t, path, []byte("changeme\n"))
	if _, err := ReadSecret(path); err == nil || !strings.Contains(err.Error(), "openssl") {
		t.Errorf("a short secret: %v", err)
	}
	if _, err := ReadSecret(filepath.Join(dir, "none")); err == nil {
		t.Error("a missing file")
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

const (
	issuerURL = "https://issuer.example"
	audience  = "https://hub.example.com"
)

// fromSet are the options of a hub that takes the tokens of an issuer for itself, which answers
// with the present key set, or not at all if that is nil.
func fromSet(set *atomic.Pointer[[]byte]) Options {
	client := &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
		rec := httptest.NewRecorder()
		if b := set.Load(); b != nil {
			rec.Write(*b)
		} else {
			rec.WriteHeader(http.StatusBadGateway)
		}
		return rec.Result(), nil
	})}
	return Options{JWKS: "https://issuer.example/jwks", Issuer: issuerURL, Audiences: []string{"https://hub.example.com/mcp", audience}, Client: client}
}

// published returns a verifier of an issuer that has published a key set.
func published(t *testing.T, set []byte) *JWT {
	t.Helper()
	var p atomic.Pointer[[]byte]
	p.Store(&set)
	v, err := NewJWT(fromSet(&p))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

type issuer struct {
	kid string
	key ed25519.PrivateKey
}

func newIssuer(kid string) issuer {
	_, k, _ := ed25519.GenerateKey(rand.Reader)
	return issuer{kid, k}
}

func (i issuer) token(t *testing.T) string {
	return sign(t, jwt.SigningMethodEdDSA, i.key, jwt.MapClaims{"user_id": "ann", "exp": in(24 * time.Hour), "iss": issuerURL, "aud": audience}, i.kid)
}

func keySetJSON(is ...issuer) []byte {
	keys := []map[string]string{}
	for _, i := range is {
		keys = append(keys, map[string]string{"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": i.kid,
			"x": base64.RawURLEncoding.EncodeToString(i.key.Public().(ed25519.PublicKey))})
	}
	b, _ := json.Marshal(map[string]any{"keys": keys})
	return b
}

// An issuer serves others than this hub, and signs their tokens with the same keys.
func TestTokensForOthers(t *testing.T) {
	a := newIssuer("a")
	set := published(t, keySetJSON(a))
	own, err := NewJWT(Options{Secret: secret, Issuer: issuerURL, Audiences: []string{audience}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		iss, aud any // nil: none
		want     string
	}{
		"for this hub":         {issuerURL, audience, ""},
		"for others, too":      {issuerURL, []string{"https://mail.example", audience}, ""},
		"of nobody":            {nil, audience, "iss"},
		"of an empty name":     {"", audience, "iss"},
		"of another":           {"https://other.example", audience, "another issuer"},
		"in other case":        {"https://ISSUER.example", audience, "another issuer"},
		"of several":           {[]string{issuerURL}, audience, "claims"},
		"for nobody":           {issuerURL, nil, "aud"},
		"for an empty name":    {issuerURL, "", "aud"},
		"for an empty list":    {issuerURL, []string{}, "aud"},
		"for another":          {issuerURL, "https://mail.example", "another service"},
		"for a part of it":     {issuerURL, "https://hub.example", "another service"},
		"for a number":         {issuerURL, 7, "aud"},
		"for a list in a list": {issuerURL, []any{[]string{audience}}, "claims"},
	} {
		claims := jwt.MapClaims{"user_id": "ann", "exp": in(time.Hour)}
		if c.iss != nil {
			claims["iss"] = c.iss
		}
		if c.aud != nil {
			claims["aud"] = c.aud
		}
		for v, token := range map[*JWT]string{
			set: sign(t, jwt.SigningMethodEdDSA, a.key, claims, a.kid),
			own: sign(t, jwt.SigningMethodHS256, secret, claims, ""),
		} {
			_, err := v.Verify(token)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("%s: %v", name, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%s: %v, want an error with %q", name, err, c.want)
			}
		}
	}
	// The public key as an HMAC secret is the classic confusion of algorithms.
	forged := sign(t, jwt.SigningMethodHS256, []byte(a.key.Public().(ed25519.PublicKey)),
		jwt.MapClaims{"user_id": "ann", "exp": in(time.Hour), "iss": issuerURL, "aud": audience}, a.kid)
	if _, err := set.Verify(forged); err == nil {
		t.Error("a token signed with the public key was accepted")
	}
}

// An issuer's set may hold keys of kinds that this hub does not know.
func TestKeySetWithUnknownKeys(t *testing.T) {
	a := newIssuer("a")
	v := published(t, []byte(strings.Replace(string(keySetJSON(a)), `[`, `[{"kty":"AKP","alg":"ML-DSA-65","kid":"new"},{"kty":"OKP","kid":"half"},`, 1)))
	check(t, v, a, true)
	check(t, v, newIssuer("new"), false)
	for _, set := range []string{`{"keys":[{"kty":"AKP","kid":"new"}]}`, `{"issuer":"https://issuer.example"}`, "half a se"} {
		if _, err := published(t, []byte(set)).Verify(a.token(t)); !errors.Is(err, ErrUnchecked) {
			t.Errorf("%s: %v", set, err)
		}
	}
}

func check(t *testing.T, v *JWT, i issuer, want bool) {
	t.Helper()
	if _, err := v.Verify(i.token(t)); (err == nil) != want {
		t.Errorf("key %s: accepted %v, want %v: %v", i.kid, err == nil, want, err)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Users must not be locked out when their issuer rotates its keys, nor while the
// issuer is down, and tokens with made-up key ids must not hammer it.
func TestKeySetURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newIssuer("a"), newIssuer("b")
		var body atomic.Pointer[[]byte]
		var fetches atomic.Int64
		o := fromSet(&body)
		answer := o.Client.Transport
		o.Client.Transport = transport(func(r *http.Request) (*http.Response, error) {
			fetches.Add(1)
			return answer.RoundTrip(r)
		})
		v, err := NewJWT(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Verify(a.token(t)); !errors.Is(err, ErrUnchecked) || !strings.Contains(err.Error(), "later") {
			t.Errorf("without keys: %v", err)
		}
		set := keySetJSON(a)
		body.Store(&set)
		time.Sleep(keySetGap + time.Second)
		check(t, v, a, true)

		time.Sleep(keySetGap + time.Second)
		both := keySetJSON(a, b)
		body.Store(&both)
		check(t, v, b, true)

		before := fetches.Load()
		for i := range 100 {
			check(t, v, newIssuer(fmt.Sprint("made up ", i)), false)
		}
		if n := fetches.Load() - before; n > 1 {
			t.Errorf("%d fetches for made-up keys", n)
		}

		body.Store(nil)
		time.Sleep(2 * keySetLife)
		check(t, v, a, true)
		only := keySetJSON(b)
		body.Store(&only)
		time.Sleep(2 * keySetLife)
		check(t, v, a, false)
		check(t, v, b, true)
	})
}

// A key set may be a file, for a hub without a network. It must be there, and is read again.
func TestKeySetInAFile(t *testing.T) {
	a, b := newIssuer("a"), newIssuer("b")
	o := Options{JWKS: filepath.Join(t.TempDir(), "keys.json"), Issuer: issuerURL, Audiences: []string{audience}}
	if _, err := NewJWT(o); err == nil || !strings.Contains(err.Error(), o.JWKS) {
		t.Errorf("a file that is not there: %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		write(t, o.JWKS, keySetJSON(a))
		v, err := NewJWT(o)
		if err != nil {
			t.Fatal(err)
		}
		check(t, v, a, true)
		write(t, o.JWKS, keySetJSON(b))
		time.Sleep(keySetGap + time.Second)
		check(t, v, b, true)
		check(t, v, a, false)
	})
}

// A machine between could choose the keys after a redirect to plain http.
func TestKeySetStaysWithTLS(t *testing.T) {
	a := newIssuer("a")
	to := "https://keys.example/jwks"
	client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		rec := httptest.NewRecorder()
		if r.URL.Host == "issuer.example" {
			http.Redirect(rec, r, to, http.StatusFound)
		} else {
			rec.Write(keySetJSON(a))
		}
		return rec.Result(), nil
	})}
	for _, c := range []struct {
		to   string
		want bool
	}{
		{"https://keys.example/jwks", true},
		{"http://keys.example/jwks", false},
		{"http://127.0.0.1:8080/jwks", true},
	} {
		to = c.to
		v, err := NewJWT(Options{JWKS: "https://issuer.example/jwks", Issuer: issuerURL, Audiences: []string{audience}, Client: client})
		if err != nil {
			t.Fatal(err)
		}
		check(t, v, a, c.want)
	}
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"no keys":        {},
		"no issuer":      {JWKS: "https://issuer.example/jwks", Audiences: []string{audience}},
		"no audience":    {JWKS: "https://issuer.example/jwks", Issuer: issuerURL},
		"empty audience": {Secret: secret, Audiences: []string{""}},
		"two sources":    {Secret: secret, JWKS: "https://issuer.example/jwks"},
		"short secret":   {Secret: []byte("short")},
		"plain http":     {JWKS: "http://issuer.example/jwks", Issuer: issuerURL, Audiences: []string{audience}},
		"bad endpoint":   {Secret: secret, Endpoints: []string{"hub.example.com"}},
	} {
		if _, err := NewJWT(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
