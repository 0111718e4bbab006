package auth

import (
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
	"sync"
	"sync/atomic"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"

	"tabhub/storage/private"
)

// How often a key set is looked at again.
const (
	keySetLife = time.Hour        // one from a URL
	keySetGap  = 15 * time.Second // between two fetches, whatever tokens name
	maxKeySet  = 1 << 20
)

var errKeysUnavailable = errors.New("no key set could be loaded")

// keySet is an issuer's public keys, which the issuer may rotate. A set that cannot
// be loaded again keeps its last good keys.
type keySet struct {
	// static after construction
	from  string
	load  func() ([]byte, error)
	stale func() bool // asked with loading held
	log   *slog.Logger

	keys atomic.Pointer[keyfunc.Keyfunc] // nil until the first good load

	// loading is held for a load, I/O and all, and guards what follows. Who has
	// keys to check with never waits for it.
	loading sync.Mutex
	tried   time.Time   // the last load, good or not
	file    os.FileInfo // what the file was when it was last looked at
}

func newKeySet(o Options) (*keySet, error) {
	s := &keySet{log: o.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if o.JWKSFile != "" {
		s.from = o.JWKSFile
		s.load = func() ([]byte, error) { return private.Read(o.JWKSFile) }
		s.stale = s.fileChanged
		s.fileChanged()
		return s, s.reload()
	}
	u, err := url.Parse(o.JWKSURL)
	if err != nil || u.Host == "" || !isTrustworthy(u) {
		return nil, errors.New("auth: the JWKS URL must be an https:// address (http:// on loopback only)")
	}
	client := o.Client
	if client == nil {
		client = &http.Client{Timeout: 10 * time.Second}
	}
	client = withoutDowngrade(client)
	s.from = u.Redacted()
	s.load = func() ([]byte, error) { return fetch(client, o.JWKSURL) }
	s.stale = func() bool { return time.Since(s.tried) > keySetLife }
	if err := s.reload(); err != nil {
		s.log.Warn("the issuer's keys are not available yet", "err", err)
	}
	return s, nil
}

// key returns the key that a token must be signed with.
func (s *keySet) key(t *jwt.Token) (any, error) {
	if s.loading.TryLock() {
		if s.stale() {
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
	if err := s.reload(); err != nil {
		s.log.Warn("the issuer's keys could not be loaded again; the old ones stay", "err", err)
	}
}

func (s *keySet) reload() error {
	s.tried = time.Now()
	raw, err := s.load()
	if err != nil {
		return fmt.Errorf("auth: load the key set %s: %w", s.from, err)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(raw, &set); err != nil || set.Keys == nil {
		return fmt.Errorf("auth: %s is not a JSON Web Key Set: it is no JSON object with the member keys", s.from)
	}
	usable, err := s.usable(set.Keys)
	if err != nil {
		return fmt.Errorf("auth: the key set %s holds no key that can be used: %w", s.from, err)
	}
	store, err := usable.ToStorage()
	if err != nil {
		return fmt.Errorf("auth: the key set %s: %w", s.from, err)
	}
	keys, err := keyfunc.New(keyfunc.Options{Storage: store})
	if err != nil {
		return fmt.Errorf("auth: the key set %s: %w", s.from, err)
	}
	s.keys.Store(&keys)
	return nil
}

// usable leaves out keys of kinds that are not understood, as RFC 7517, section 5, asks:
// an issuer may have them for others. It fails if none is left.
func (s *keySet) usable(keys []json.RawMessage) (jwkset.JWKSMarshal, error) {
	var set jwkset.JWKSMarshal
	var last error
	for _, raw := range keys {
		var key jwkset.JWKMarshal
		err := json.Unmarshal(raw, &key)
		if err == nil {
			_, err = jwkset.JWKSMarshal{Keys: []jwkset.JWKMarshal{key}}.ToStorage()
		}
		if err != nil {
			last = err
			s.log.Warn("a key of the issuer's set cannot be used", "kid", key.KID, "err", err)
			continue
		}
		set.Keys = append(set.Keys, key)
	}
	if len(set.Keys) == 0 {
		return set, last
	}
	return set, nil
}

// fileChanged reports whether the file is another than at the last call.
func (s *keySet) fileChanged() bool {
	now, err := os.Stat(s.from)
	if err != nil {
		return false
	}
	was := s.file
	s.file = now
	return was == nil || !os.SameFile(was, now) || was.Size() != now.Size() || !was.ModTime().Equal(now.ModTime())
}

func fetch(client *http.Client, from string) ([]byte, error) {
	res, err := client.Get(from)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answered %s", res.Status)
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, maxKeySet+1))
	if err == nil && len(b) > maxKeySet {
		err = errors.New("it is larger than 1 MiB")
	}
	return b, err
}

// isTrustworthy reports whether nobody on the way can change what a URL gives.
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
