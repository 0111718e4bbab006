package tabtest

import (
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport/pairing"
)

// Pairings are those of a test's hub. Its methods are what a wsserver.Server asks for.
type Pairings struct{ *pairing.Ring }

// NewPairings returns pairings without any.
func NewPairings(t testing.TB) Pairings {
	t.Helper()
	ring, err := pairing.Open(filepath.Join(t.TempDir(), "pairings"), "hub-of-a-test")
	if err != nil {
		t.Fatal(err)
	}
	return Pairings{ring}
}

// MustInvite makes an invitation of the owner's.
func (p Pairings) MustInvite(t testing.TB) pairing.Invitation {
	t.Helper()
	i, err := p.Invite("", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// Pair begins a handshake at the address in a request.
func (p Pairings) Pair(r *http.Request, m *spec.Pair) (*pairing.Exchange, error) {
	return p.PairAt(m, "ws://"+r.Host)
}

// PairAt begins a handshake at an address.
func (p Pairings) PairAt(m *spec.Pair, address string) (*pairing.Exchange, error) {
	ex, err := p.Begin(m, address)
	if err != nil {
		return nil, spec.Errorf(spec.CodeUnpaired, "%v", err)
	}
	return ex, nil
}

// Check ends a handshake, and returns which pairing was proved; "" if there was none.
func (p Pairings) Check(hello *spec.Hello, ex *pairing.Exchange) (spec.PairingID, error) {
	if ex == nil {
		return "", nil
	}
	grant, err := ex.Accept(hello.Proof, hello.BrowserName)
	if err != nil {
		return "", spec.Errorf(spec.CodeUnpaired, "%v", err)
	}
	return grant.Pairing, nil
}
