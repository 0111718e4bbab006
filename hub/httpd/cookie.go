package httpd

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"

	"tabhub/spec"
)

// cookieFor returns what the dashboard's cookie holds. It is never the credential:
// other servers on this host see the cookies of this one, and may get no more of it
// than the dashboard.
func (g *Guard) cookieFor(id *Identity) string {
	if t, ok := g.verifier.(*Token); ok {
		return t.cookie()
	}
	var until int64
	if !id.Expires.IsZero() {
		until = id.Expires.Unix()
	}
	body := base64.RawURLEncoding.EncodeToString(append(binary.BigEndian.AppendUint64(nil, uint64(until)), id.User...))
	return body + "." + g.sign(body)
}

func (g *Guard) sign(body string) string {
	mac := hmac.New(sha256.New, g.cookieKey[:])
	mac.Write([]byte(body))
	return hex.EncodeToString(mac.Sum(nil))
}

func (g *Guard) verifyCookie(value string) (*Identity, error) {
	outdated := unauthorized("this browser's sign-in is out of date; open the address that `tabhub token --url` prints")
	if t, ok := g.verifier.(*Token); ok {
		id, err := t.verifyCookie(value)
		if err != nil {
			return nil, outdated
		}
		return &id, nil
	}
	body, mac, _ := strings.Cut(value, ".")
	if !hmac.Equal([]byte(mac), []byte(g.sign(body))) {
		return nil, outdated
	}
	b, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil || len(b) < 8 {
		return nil, outdated
	}
	id := &Identity{User: spec.UserID(b[8:])}
	if until := int64(binary.BigEndian.Uint64(b)); until != 0 {
		id.Expires = time.Unix(until, 0)
		if time.Now().After(id.Expires) {
			return nil, outdated
		}
	}
	return id, nil
}
