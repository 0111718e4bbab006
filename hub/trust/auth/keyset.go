package auth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
)

// How often a key set is fetched again.
const (
	keySetLife = time.Hour
	keySetGap  = 15 * time.Second // between two fetches, whatever tokens name
	maxKeySet  = 1 << 20
)

var errKeysUnavailable = errors.New("no key set could be loaded")

// keySet is an issuer's public keys in a file or at a URL, which the issuer may rotate. A set that
// cannot be loaded again keeps its last good keys.
type keySet struct {
	// static after construction
	open func() (io.ReadCloser, error)
	log  *slog.Logger

	keys atomic.Pointer[keyfunc.Keyfunc] // nil until the first good load

	// loading is held for a load, with its I/O, and guards what follows. A check for which there are keys
	// never waits for it.
	loading sync.Mutex
	tried   time.Time // the last load, good or not
}

func newKeySet(o Options) (*keySet, error) {
	s := &keySet{log: cmp.Or(o.Log, slog.New(slog.DiscardHandler))}
	if !strings.Contains(o.JWKS, "://") {
		s.open = func() (io.ReadCloser, error) { return os.Open(o.JWKS) }
		if err := s.load(); err != nil {
			return nil, fmt.Errorf("auth: the key set %s: %w", o.JWKS, err)
		}
		return s, nil
	}
	u, err := url.Parse(o.JWKS)
	if err != nil || u.Host == "" || !isTrustworthy(u) {
		return nil, errors.New("auth: the JWKS URL must be an https:// address (http:// on loopback only)")
	}
	client := withoutDowngrade(cmp.Or(o.Client, &http.Client{Timeout: 10 * time.Second}))
	s.open = func() (io.ReadCloser, error) { return get(client, o.JWKS) }
	s.refresh()
	return s, nil
}

func get(client *http.Client, url string) (io.ReadCloser, error) {
	res, err := client.Get(url)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		return nil, fmt.Errorf("the server answered %s", res.Status)
	}
	return res.Body, nil
}

// key returns the key that a token must be signed with.
func (s *keySet) key(t *jwt.Token) (any, error) {
	if s.loading.TryLock() {
		if time.Since(s.tried) > keySetLife {
			s.refresh()
		}
		s.loading.Unlock()
	}
	k, err := s.lookup(t)
	if !errors.Is(err, jwkset.ErrKeyNotFound) && !errors.Is(err, errKeysUnavailable) {
		return k, err
	}
	// The issuer may have a key that is newer than the set: wait for a load that is
	// under way, or do one.
	s.loading.Lock()
	defer s.loading.Unlock()
	if time.Since(s.tried) > keySetGap {
		s.refresh()
	}
	return s.lookup(t)
}

func (s *keySet) lookup(t *jwt.Token) (any, error) {
	keys := s.keys.Load()
	if keys == nil {
		return nil, errKeysUnavailable
	}
	return (*keys).Keyfunc(t)
}

func (s *keySet) refresh() {
	if err := s.load(); err != nil {
		s.log.Warn("the issuer's keys could not be loaded; those that were, if any, stay", "err", err)
	}
}

// load reads the set once.
func (s *keySet) load() error {
	s.tried = time.Now()
	store, err := s.read()
	if err != nil {
		return err
	}
	keys, err := keyfunc.New(keyfunc.Options{Storage: store})
	if err == nil {
		s.keys.Store(&keys)
	}
	return err
}

// read returns the keys of the set. It leaves out those that are not understood, as
// RFC 7517, section 5, asks: an issuer may have them for others. It fails if none is left.
func (s *keySet) read() (jwkset.Storage, error) {
	in, err := s.open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var set struct {
		Keys []jwkset.JWKMarshal `json:"keys"`
	}
	if err := json.NewDecoder(io.LimitReader(in, maxKeySet)).Decode(&set); err != nil {
		return nil, fmt.Errorf("it is no JSON Web Key Set: %w", err)
	}
	store, usable := jwkset.NewMemoryStorage(), false
	for _, key := range set.Keys {
		jwk, err := jwkset.NewJWKFromMarshal(key, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
		if err == nil {
			err = store.KeyWrite(context.Background(), jwk)
		}
		if err != nil {
			s.log.Warn("a key of the issuer's set cannot be used", "kid", key.KID, "err", err)
			continue
		}
		usable = true
	}
	if !usable {
		return nil, errors.New("it holds no key that can be used")
	}
	return store, nil
}

// isTrustworthy reports whether no machine between can change what a URL gives.
func isTrustworthy(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname())
}

// maxRedirects is how many redirects a fetch follows, as many as net/http does.
const maxRedirects = 10

// withoutDowngrade returns a client that follows redirects only to trustworthy URLs.
func withoutDowngrade(client *http.Client) *http.Client {
	c := *client
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		switch {
		case !isTrustworthy(r.URL):
			return errors.New("it redirects to an address without TLS")
		case len(via) >= maxRedirects:
			return errors.New("it redirects too often")
		}
		return nil
	}
	return &c
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && net.IP(ip.AsSlice()).IsLoopback()
}
