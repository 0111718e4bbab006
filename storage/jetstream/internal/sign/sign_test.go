package sign

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"tabhub/storage"
)

var signer = Signer{Key: []byte("a key"), Headers: []string{"Tabhub-Kind", "Tabhub-Id"}}

func signed(data []byte) *nats.Msg {
	m := nats.NewMsg("a.b")
	m.Data = data
	m.Header.Set(nats.ExpectedLastSubjSeqHdr, "7")
	m.Header.Set("Tabhub-Kind", "flush")
	m.Header.Set("Tabhub-Id", " 7.1")
	signer.Sign(m)
	return m
}

// Everything of a message that a reader goes by is signed.
func TestCheck(t *testing.T) {
	for name, change := range map[string]func(m *nats.Msg){
		"":          func(*nats.Msg) {},
		"subject":   func(m *nats.Msg) { m.Subject = "a.c" },
		"condition": func(m *nats.Msg) { m.Header.Set(nats.ExpectedLastSubjSeqHdr, "8") },
		"header":    func(m *nats.Msg) { m.Header.Set("Tabhub-Kind", "claim") },
		"none":      func(m *nats.Msg) { m.Header.Del("Tabhub-Id") },
		"shifted": func(m *nats.Msg) {
			m.Header.Set("Tabhub-Kind", "flush7")
			m.Header.Set("Tabhub-Id", ".1")
		},
		"data":      func(m *nats.Msg) { m.Data = m.Data[1:] },
		"signature": func(m *nats.Msg) { m.Header.Del(Header) },
		"shorter":   func(m *nats.Msg) { m.Header.Set(Header, m.Header.Get(Header)[:4]) },
	} {
		m := signed([]byte("data"))
		change(m)
		err := signer.Check(m.Subject, 8, m.Header, m.Data)
		if ok := name == ""; ok != (err == nil) || !ok && !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Headers that a server may read in another way than a client are refused.
func TestDecode(t *testing.T) {
	const good = "NATS/1.0\r\nNats-Expected-Last-Subject-Sequence: 7\r\nTabhub-Id: 7.1\r\n\r\n"
	for raw, ok := range map[string]bool{
		good: true,
		"":   false,
		strings.Replace(good, "\r\nNats", "\nNats", 1):     false,
		strings.Replace(good, "\r\nT", "\r\n\nT", 1):       false,
		strings.Replace(good, "\r\nT", "\r\nX: y\r\nT", 1): false,
		strings.Replace(good, ": 7.1", ":7.1", 1):          false,
		strings.Replace(good, ": 7.1", ":  7.1", 1):        false,
		strings.Replace(good, "1.0", "1.0 404", 1):         false,
		strings.Replace(good, "\r\n\r\n", "\r\n", 1):       false,
		good + "x": false,
		strings.Replace(good, "T", "Tabhub-Id: 1\r\nT", 1):            false,
		strings.Replace(good, "Nats-Ex", "Status: 404\r\nNats-Ex", 1): false,
	} {
		if _, err := signer.Decode("a.b", 8, []byte(raw)); ok != (err == nil) {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

func BenchmarkSignAndCheck(b *testing.B) {
	for _, size := range []int{100, 4 << 10, 512 << 10} {
		b.Run(fmt.Sprint("bytes=", size), func(b *testing.B) {
			m := signed(make([]byte, size))
			for b.Loop() {
				signer.Sign(m)
				if err := signer.Check(m.Subject, 8, m.Header, m.Data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
