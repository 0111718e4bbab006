package cluster

import (
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"tabhub/storage/jetstream/natstest"
)

// hello connects to a node with a client's configuration, and returns the node's greeting.
func hello(to *Node, c *tls.Config) (string, error) {
	conn, err := tls.Dial("tcp", strings.TrimPrefix(to.opts.URL, "https://"), c)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	b, err := io.ReadAll(conn)
	return string(b), err
}

// A node believes its peers what they say of their clients, so only nodes may connect; and a
// forwarded request must reach the node that it is for.
func TestOnlyMembersConnect(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a, b := ready(t, c.Conn(t), "a"), ready(t, c.Conn(t), "b")
	if s, err := hello(b, a.ClientTLS(b.Self())); s != "hello" || err != nil {
		t.Errorf("a at b: %q, %v", s, err)
	}
	// b is so young that a may not know it yet.
	if s, err := hello(a, b.ClientTLS(a.Self())); s != "hello" || err != nil {
		t.Errorf("b at a: %q, %v", s, err)
	}

	refused := func(what string, c *tls.Config) {
		t.Helper()
		before := a.Stats().PeersRefused
		if s, err := hello(a, c); s != "" || err == nil {
			t.Errorf("%s: %q, %v", what, s, err)
		}
		if what != "TLS 1.2" && what != "nobody" && a.Stats().PeersRefused == before {
			t.Errorf("%s is not counted", what)
		}
	}
	with := func(cert *tls.Certificate) *tls.Config {
		c := b.ClientTLS(a.Self())
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return cert, nil }
		return c
	}
	stranger, err := newCertificate("b")
	if err != nil {
		t.Fatal(err)
	}
	refused("a stranger", with(stranger))
	refused("nobody", with(&tls.Certificate{}))
	old := b.ClientTLS(a.Self())
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	refused("TLS 1.2", old)

	// A program that can write to NATS has no secret to sign with.
	before := b.Self()
	forged := record{Member: before}
	forged.Name, forged.Fingerprint = "evil", sha256.Sum256(stranger.Certificate[0])
	if _, err := b.nodes.put(t.Context(), "evil", forged.encode([]byte("a guess")), 0); err != nil {
		t.Fatal(err)
	}
	until(t, a, "the forged record is seen", func() bool { return a.Stats().BadRecords > 0 })
	refused("a forged member", with(stranger))
	if len(a.Members()) != 2 {
		t.Error(a.Members())
	}

	// A former process of a node is no member, nor is a process that listens in its place.
	cert := b.certificate.Load()
	crash(b)
	until(t, a, "a knows", func() bool { return !a.Alive(before.ID()) })
	refused("an old incarnation", with(cert))
	again := ready(t, c.Conn(t), "b")
	refused("an old incarnation whose name is taken", with(cert))
	if _, err := hello(again, a.ClientTLS(before)); err == nil || !strings.Contains(err.Error(), "another process than node b is at") {
		t.Error(err)
	}
	if s, err := hello(again, a.ClientTLS(again.Self())); s != "hello" || err != nil {
		t.Errorf("a at the new b: %q, %v", s, err)
	}
}

// When a lease has been declared ended, connections to its process are refused.
func TestNextLeaseHasAnotherKey(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a := ready(t, c.Conn(t), "a")
	proxy := natstest.NewProxy(t, c.URL(0))
	lost := make(chan error, 1)
	b := ready(t, c.ConnTo(t, proxy.URL()), "b", func(o *Options) { o.Lost = func(err error) { lost <- err } })
	until(t, a, "a knows b", func() bool { return a.Alive(b.ID()) })
	before, id := b.Self(), b.ID()
	proxy.Cut()
	until(t, a, "a knows that it has ended", func() bool { return !a.Alive(id) })
	proxy.Mend()
	if err := <-lost; !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
	until(t, b, "it has the next lease", func() bool { return b.Lease().Held() })
	until(t, a, "a knows the next b", func() bool { return a.Alive(b.ID()) })
	if b.ID() <= id {
		t.Errorf("%s after %s", b.ID(), id)
	}
	if _, err := hello(b, a.ClientTLS(before)); err == nil {
		t.Error("the next lease accepts a connection to the last one")
	}
	if s, err := hello(b, a.ClientTLS(b.Self())); s != "hello" || err != nil {
		t.Errorf("%q, %v", s, err)
	}
	if s, err := hello(a, b.ClientTLS(a.Self())); s != "hello" || err != nil {
		t.Errorf("%q, %v", s, err)
	}
}
