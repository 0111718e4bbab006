package cluster

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"

	"tabhub/spec"
)

// Marks write the user into the id of a credential, so that any node that is shown one knows
// whose it is, from the id alone. A mark is the user encrypted under the cluster's secret: it
// tells others nothing but that two credentials are of one user, and nobody else can make one.
// It is still no proof of anything that was not in the credential. It is safe for concurrent
// use.
type Marks struct {
	names []byte       // key of the HMAC that a mark begins with
	block cipher.Block // encrypts
}

const markNonce = 12 // bytes of the HMAC, which are the nonce, too

var markText = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

func newMarks(names, encryption []byte) (*Marks, error) {
	block, err := aes.NewCipher(encryption)
	return &Marks{names, block}, err
}

// Mark returns the mark of a user, always the same: lower-case letters and digits.
func (m *Marks) Mark(user spec.UserID) string {
	nonce := m.nonce([]byte(user))
	return markText.EncodeToString(append(nonce, m.crypt(nonce, []byte(user))...))
}

// UserOf returns whose mark it is, and whether it is one of this cluster.
func (m *Marks) UserOf(mark string) (spec.UserID, bool) {
	b, err := markText.DecodeString(mark)
	if err != nil || len(b) <= markNonce {
		return "", false
	}
	user := spec.UserID(m.crypt(b[:markNonce], b[markNonce:]))
	if !hmac.Equal([]byte(m.Mark(user)), []byte(mark)) {
		return "", false
	}
	return user, true
}

func (m *Marks) nonce(user []byte) []byte {
	h := hmac.New(sha256.New, m.names)
	h.Write(user)
	return h.Sum(nil)[:markNonce:markNonce]
}

func (m *Marks) crypt(nonce, in []byte) []byte {
	var iv [aes.BlockSize]byte
	copy(iv[:], nonce)
	out := make([]byte, len(in))
	cipher.NewCTR(m.block, iv[:]).XORKeyStream(out, in)
	return out
}
