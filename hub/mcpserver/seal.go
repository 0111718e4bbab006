package mcpserver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strings"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// stateLife is how long the state that a page gives a client may come back.
const stateLife = time.Hour

// sealState puts a seal on the requestState of a result, so that a page gets back
// only what it gave, to the same client's credential and for the same request: most
// pages could not tell otherwise. The seal is prepended, and gone when the page sees
// the state again.
func (s *Server) sealState(r json.RawMessage, rq *request, name string) json.RawMessage {
	state, ok := rawjson.String(rawjson.Get(r, extState))
	if !ok {
		return r
	}
	expires := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(stateLife).Unix()))
	seal := base64.RawURLEncoding.EncodeToString(append(expires, s.mac(expires, rq, name, state)...))
	out := []byte{'{'}
	_ = rawjson.Object(r, spec.MaxDepth, func(key string, value json.RawMessage) error {
		if key == extState {
			return nil
		}
		out = rawjson.AppendMember(out, key, value)
		return nil
	})
	return append(rawjson.AppendMember(out, extState, rawjson.AppendString(nil, seal+"."+state)), '}')
}

// openState returns the state that a page gave, if it is that.
func (s *Server) openState(raw json.RawMessage, rq *request, name string) (string, bool) {
	sealed, _ := rawjson.String(raw)
	seal, state, ok := strings.Cut(sealed, ".")
	b, err := base64.RawURLEncoding.DecodeString(seal)
	if !ok || err != nil || len(b) != 8+sha256.Size {
		return "", false
	}
	expires := b[:8]
	if !hmac.Equal(b[8:], s.mac(expires, rq, name, state)) || time.Now().Unix() > int64(binary.BigEndian.Uint64(expires)) {
		return "", false
	}
	return state, true
}

func (s *Server) mac(expires []byte, rq *request, name, state string) []byte {
	m := hmac.New(sha256.New, s.stateKey[:])
	m.Write(expires)
	for _, part := range []string{rq.ses.identity.name, rq.method, name, state} {
		m.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		m.Write([]byte(part))
	}
	return m.Sum(nil)
}
