// Package sign proves of messages in streams that a node of the cluster has written them, and
// where: who may write to NATS and has not the cluster's secret can forge, change and move none.
package sign

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"tabhub/storage"
)

// Header has a message's MAC: HMAC-SHA256, of which the first 16 bytes count, as base64url.
const Header = "Tabhub-MAC"

const macSize = 16

// Signer signs messages of one kind. It is safe for concurrent use.
type Signer struct {
	Key     []byte   // nil: nothing is signed, and all that is read is taken
	Headers []string // that are signed, with the subject, the server's condition and the data
}

// Sign signs a message, which has all its headers.
func (s Signer) Sign(m *nats.Msg) {
	if s.Key != nil {
		m.Header.Set(Header, base64.RawURLEncoding.EncodeToString(s.mac(m.Subject, m.Header, m.Data)))
	}
}

// Check returns a storage.ErrCorrupt unless the message that stands under a sequence of a
// subject was signed, behind that one which it names as the one before it.
func (s Signer) Check(subject string, seq uint64, h nats.Header, data []byte) error {
	if s.Key == nil {
		return nil
	}
	mac, err := base64.RawURLEncoding.DecodeString(h.Get(Header))
	if err != nil || !hmac.Equal(mac, s.mac(subject, h, data)) {
		return fmt.Errorf("%w: message %d of %s is not what a node of this cluster has written there", storage.ErrCorrupt, seq, subject)
	}
	return nil
}

func (s Signer) mac(subject string, h nats.Header, data []byte) []byte {
	mac := hmac.New(sha256.New, s.Key)
	buf := make([]byte, 0, 512)
	field := func(v string) {
		v = strings.TrimSpace(v) // as it is sent
		buf = binary.AppendUvarint(buf, uint64(len(v)))
		buf = append(buf, v...)
	}
	field(subject)
	field(h.Get(nats.ExpectedLastSubjSeqHdr))
	for _, name := range s.Headers {
		field(h.Get(name))
	}
	mac.Write(buf)
	mac.Write(data)
	return mac.Sum(nil)[:macSize]
}

// Decode returns a message's headers as the server keeps them, or a storage.ErrCorrupt if they are not
// just those of a signed message, in the form in which this program sends them. The server has
// checked the condition of such a message; of others it may have read another one than we do, or none.
func (s Signer) Decode(subject string, seq uint64, raw []byte) (nats.Header, error) {
	if s.Key != nil && !s.plain(raw) {
		return nil, fmt.Errorf("%w: message %d of %s has headers that no node of this cluster writes", storage.ErrCorrupt, seq, subject)
	}
	if len(raw) == 0 {
		return nil, nil
	}
	return nats.DecodeHeadersMsg(raw)
}

func (s Signer) plain(raw []byte) bool {
	raw, ok := bytes.CutPrefix(raw, []byte("NATS/1.0\r\n"))
	seen := make(map[string]bool)
	for ok {
		var line []byte
		if line, raw, ok = bytes.Cut(raw, []byte("\r\n")); ok && len(line) == 0 {
			return len(raw) == 0
		}
		name, value, named := strings.Cut(string(line), ": ")
		known := name == Header || name == nats.ExpectedLastSubjSeqHdr || slices.Contains(s.Headers, name)
		if !named || !known || seen[name] || strings.ContainsAny(value, "\r\n") || value != strings.TrimSpace(value) {
			return false
		}
		seen[name] = true
	}
	return false
}
