package cluster

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"sync/atomic"
	"time"
)

// newCertificate makes the key and the certificate of a lease.
func newCertificate(name string) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: "tabhub node " + name},
		NotBefore:    time.Now().Add(-24 * time.Hour),
		NotAfter:     time.Now().AddDate(100, 0, 0), // nobody looks: the lease is what ends
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("certificate of the node: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// unknownWait is how long a node waits for the lease of an unknown peer, which may be newer than what
// it has read. Meanwhile it reads all leases anew.
const unknownWait = time.Second

// ServerTLS returns the configuration of the listener for nodes: it accepts only members.
func (n *Node) ServerTLS() *tls.Config {
	c := baseTLS(&n.certificate)
	c.ClientAuth = tls.RequireAnyClientCert
	c.VerifyConnection = func(s tls.ConnectionState) error {
		_, err := n.verify(&s)
		return err
	}
	return c
}

// verify returns the member that a connection is from, or refuses it.
func (n *Node) verify(s *tls.ConnectionState) (Member, error) {
	ctx, cancel := context.WithTimeout(n.ctx, unknownWait)
	defer cancel()
	for {
		changed := n.changed.Wait()
		m, known := n.byFingerprint(fingerprint(s))
		if known && m.State.live() {
			return m, nil
		}
		if known { // and will never be a member again
			n.stats.peersRefused.Add(1)
			return Member{}, fmt.Errorf("the lease of node %s has ended", m.Name)
		}
		wake(n.again)
		select {
		case <-changed:
		case <-ctx.Done():
			n.stats.peersRefused.Add(1)
			return Member{}, errors.New("the peer is not a member of this cluster")
		}
	}
}

// ClientTLS returns the configuration of connections to a member. They reach the process that
// has the certificate of its lease, or fail.
func (n *Node) ClientTLS(m Member) *tls.Config {
	c := baseTLS(&n.certificate)
	c.InsecureSkipVerify = true // no name and no authority, but one certificate
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if fingerprint(&s) != m.Fingerprint {
			return fmt.Errorf("another process than node %s is at %s", m.Name, m.URL)
		}
		return nil
	}
	return c
}

// baseTLS returns what both ends have in common; current is the certificate of the present lease.
func baseTLS(current *atomic.Pointer[tls.Certificate]) *tls.Config {
	certificate := func() (*tls.Certificate, error) {
		if c := current.Load(); c != nil {
			return c, nil
		}
		return nil, errors.New("this node has no lease yet")
	}
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		GetCertificate:         func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificate() },
		GetClientCertificate:   func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return certificate() },
		NextProtos:             []string{"http/1.1"},
		SessionTicketsDisabled: true, // each connection is checked against the members of its time
	}
}

// byFingerprint returns the node that has, or had, a certificate.
func (n *Node) byFingerprint(print Fingerprint) (Member, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, e := range n.entries {
		if e.Fingerprint == print && print != (Fingerprint{}) {
			return e.Member, true
		}
	}
	return Member{}, false
}

func fingerprint(s *tls.ConnectionState) Fingerprint {
	if len(s.PeerCertificates) == 0 {
		return Fingerprint{}
	}
	return sha256.Sum256(s.PeerCertificates[0].Raw)
}
