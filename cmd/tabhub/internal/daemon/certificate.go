package daemon

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"os"
	"sync"
	"time"

	"tabhub/storage/private"
)

// certificate is a certificate in files, which are read again when they change: it is
// renewed every few weeks, and a hub runs for longer.
type certificate struct {
	certFile, keyFile string

	mu      sync.Mutex
	loaded  *tls.Certificate
	changed [2]time.Time // of the files, when they were read
}

// get is for tls.Config.GetCertificate. While the new files do not fit together, as
// when one of them has yet to be written, it returns what it had.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var changed [2]time.Time
	for i, name := range []string{c.certFile, c.keyFile} {
		if fi, err := os.Stat(name); err == nil {
			changed[i] = fi.ModTime()
		}
	}
	if c.loaded != nil && changed == c.changed {
		return c.loaded, nil
	}
	pair, err := loadCertificate(c.certFile, c.keyFile)
	switch {
	case err == nil:
		c.loaded, c.changed = &pair, changed
	case c.loaded == nil:
		return nil, err
	}
	return c.loaded, nil
}

// loadCertificate reads a certificate and its key. It refuses a key that others may read,
// with which they could be this hub to browsers and clients.
func loadCertificate(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := os.ReadFile(certFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := private.ReadSecret(keyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}

// keyHash returns the SHA-256 of a certificate's public key, in base64.
func keyHash(certFile, keyFile string) (string, error) {
	pair, err := loadCertificate(certFile, keyFile)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(pair.Leaf.RawSubjectPublicKeyInfo)
	return base64.StdEncoding.EncodeToString(sum[:]), nil
}
