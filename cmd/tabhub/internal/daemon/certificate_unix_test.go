//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/settings"
)

// With a key that others can read they can be this hub.
func TestKeyOfOthers(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	cert, key := issueCertificate(t, 1)
	writePEM(t, certFile, "CERTIFICATE", cert)
	writePEM(t, keyFile, "PRIVATE KEY", key)
	if _, err := loadCertificate(certFile, keyFile); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(keyFile, 0o644); err != nil {
		t.Fatal(err)
	}
	c := &settings.Config{TlsCert: certFile, TlsKey: keyFile}
	if _, err := tlsConfig(c); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key for all: %v", err)
	}
}
