package daemon

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func issueCertificate(t *testing.T, serial int64) (cert, key []byte) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
	if cert, err = x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k); err != nil {
		t.Fatal(err)
	}
	if key, err = x509.MarshalPKCS8PrivateKey(k); err != nil {
		t.Fatal(err)
	}
	return cert, key
}

func writePEM(t *testing.T, name, kind string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A renewed certificate must be served without a restart, and a half-written one must
// not take the hub off the network.
func TestCertificateIsRenewed(t *testing.T) {
	dir := t.TempDir()
	c := &certificate{certFile: filepath.Join(dir, "cert.pem"), keyFile: filepath.Join(dir, "key.pem")}
	if _, err := c.get(nil); err == nil {
		t.Error("a certificate without files")
	}
	write := func(name, kind string, b []byte, age time.Duration) {
		t.Helper()
		writePEM(t, name, kind, b)
		when := time.Now().Add(-age)
		if err := os.Chtimes(name, when, when); err != nil {
			t.Fatal(err)
		}
	}
	serves := func(serial int64) {
		t.Helper()
		pair, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil || leaf.SerialNumber.Int64() != serial {
			t.Errorf("certificate %v is served, want %d; %v", leaf.SerialNumber, serial, err)
		}
	}
	cert, key := issueCertificate(t, 1)
	write(c.certFile, "CERTIFICATE", cert, time.Hour)
	write(c.keyFile, "PRIVATE KEY", key, time.Hour)
	serves(1)
	cert, key = issueCertificate(t, 2)
	write(c.certFile, "CERTIFICATE", cert, time.Minute)
	serves(1)
	write(c.keyFile, "PRIVATE KEY", key, time.Minute)
	serves(2)
	os.Remove(c.keyFile)
	serves(2)
}
