package methods

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"time"

	"tabhub/hub/trust/consent"
)

// stateLife is how long the state that is given to a client may come back.
const stateLife = time.Hour

// clientState is what a client of revision 2026-07-28 brings from one request of a call to the
// next: the server stores nothing of it.
type clientState struct {
	Round   string          `json:"round"`           // of the earlier request
	AskedBy consent.Frame   `json:"askedBy"`         // which is to get this one
	State   json.RawMessage `json:"state,omitempty"` // the page's own requestState
	// If the owner was asked with the earlier request: the question, and what the client
	// had answered to the page by then.
	Question string          `json:"question,omitempty"`
	Answers  json.RawMessage `json:"answers,omitempty"`
}

// sealer is the key with which what a client carries is sealed.
type sealer [32]byte

// seal returns the requestState that carries c. It is good for the same client's credential
// and the same request only, so that a page gets back what it gave: most pages could not
// tell otherwise.
func (key *sealer) seal(c clientState, rq *Request, name string) string {
	body, _ := json.Marshal(c) // strings and valid JSON
	b := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(stateLife).Unix()))
	b = append(b, body...)
	return base64.RawURLEncoding.EncodeToString(append(b, key.mac(b, rq, name)...))
}

// open returns what a requestState carries, if seal has made it.
func (key *sealer) open(state string, rq *Request, name string) (c clientState, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(state)
	body := len(b) - sha256.Size
	if err != nil || body < 8 || !hmac.Equal(b[body:], key.mac(b[:body], rq, name)) || time.Now().Unix() > int64(binary.BigEndian.Uint64(b)) {
		return c, false
	}
	return c, json.Unmarshal(b[8:body], &c) == nil
}

func (key *sealer) mac(b []byte, rq *Request, name string) []byte {
	m := hmac.New(sha256.New, key[:])
	for _, part := range []string{rq.ses.Identity.Name, rq.Method, name} {
		m.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		m.Write([]byte(part))
	}
	m.Write(b)
	return m.Sum(nil)
}
