package relay_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/gorilla/websocket"

	"tabhub/hub/trust/auth"
	"tabhub/spec"
	"tabhub/tabtransport/relay"
)

// locked is a buffer that a logger may write to while a test reads it.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// A forged or stale token opens neither endpoint, and no log ever holds one.
func TestTokenAttacks(t *testing.T) {
	secret := []byte("0123456789abcdef0123456789abcdef")
	logs := &locked{}
	var tokens *auth.JWT
	r := relay.New(relay.Options{
		Verify: func(h relay.Handshake) (a relay.Admission, err error) {
			id, err := tokens.Verify(h.Token)
			a.User, a.Expires, a.Gate = id.User, id.Expires, relay.Open{}
			return a, err
		},
		Log: slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	mux := http.NewServeMux()
	mux.Handle("/mcp", r.Client())
	mux.Handle("/extension", r.Extension())
	mux.Handle("/relay", r.Legacy())
	srv := httptest.NewServer(mux)
	defer srv.Close()
	defer r.Close()
	var err error
	if tokens, err = auth.NewJWT(auth.Options{Secret: secret, Endpoints: []string{srv.URL}}); err != nil {
		t.Fatal(err)
	}
	sign := func(m jwt.SigningMethod, key any, claims jwt.MapClaims) string {
		s, err := jwt.NewWithClaims(m, claims).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	hour := time.Now().Add(time.Hour).Unix()
	good := jwt.MapClaims{"user_id": "ann", "exp": hour}
	valid := sign(jwt.SigningMethodHS256, secret, good)
	parts := strings.Split(valid, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`))
	cases := map[string]string{
		"none given":     "",
		"expired":        sign(jwt.SigningMethodHS256, secret, jwt.MapClaims{"user_id": "ann", "exp": time.Now().Add(-time.Hour).Unix()}),
		"unsigned":       parts[0] + "." + parts[1] + ".",
		"alg none":       none + "." + parts[1] + ".",
		"alg none, kept": none + "." + parts[1] + "." + parts[2],
		"wrong key":      sign(jwt.SigningMethodHS256, bytes.Repeat([]byte("x"), 32), good),
		"other alg":      sign(jwt.SigningMethodHS384, secret, good),
		"no user_id":     sign(jwt.SigningMethodHS256, secret, jwt.MapClaims{"exp": hour}),
		"no exp":         sign(jwt.SigningMethodHS256, secret, jwt.MapClaims{"user_id": "ann"}),
		"other endpoint": sign(jwt.SigningMethodHS256, secret, jwt.MapClaims{"user_id": "ann", "exp": hour, "connection_url": "wss://elsewhere.example/mcp"}),
	}
	dial := func(path string) *websocket.Conn {
		ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(srv.URL, "http")+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ws.Close() })
		return ws
	}
	// ends reads until the socket ends and returns what came before.
	ends := func(ws *websocket.Conn) (frames string, code int) {
		for {
			_, b, err := ws.ReadMessage()
			if c, ok := errors.AsType[*websocket.CloseError](err); ok {
				return frames, c.Code
			} else if err != nil {
				t.Fatal(err)
			}
			frames += string(b)
		}
	}
	for name, token := range cases {
		t.Run(name, func(t *testing.T) {
			for path, frame := range map[string]string{
				"/mcp":       `{"jsonrpc":"2.0","id":1,"method":"mcp_handshake","params":{"accessToken":%q}}`,
				"/extension": `{"jsonrpc":"2.0","id":"proxy:1","result":{"name":"Chrome","accessToken":%q}}`,
				"/relay":     `{"method":"extension_handshake","params":{"name":"Chrome","accessToken":%q}}`,
			} {
				ws := dial(path)
				ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, frame, token))
				frames, code := ends(ws)
				if code != int(spec.CloseRefused) {
					t.Errorf("%s: closed %d", path, code)
				}
				if strings.Contains(frames, `"user_id"`) || path == "/mcp" && !strings.Contains(frames, `"code":-32000,"message":"Authentication failed: `) {
					t.Errorf("%s: %s", path, frames)
				}
			}
		})
	}
	ws := dial("/mcp")
	ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"id":1,"method":"mcp_handshake","params":{"accessToken":%q}}`, valid))
	_, b, err := ws.ReadMessage()
	var m struct{ Result struct{ User_id string } }
	if err != nil || json.Unmarshal(b, &m) != nil || m.Result.User_id != "ann" {
		t.Errorf("the valid token: %s, %v", b, err)
	}
	logs.mu.Lock()
	defer logs.mu.Unlock()
	for name, token := range cases {
		for part := range strings.SplitSeq(token, ".") {
			if len(part) > 10 && strings.Contains(logs.b.String(), part) {
				t.Errorf("the log holds the token of %q", name)
			}
		}
	}
	if logs.b.Len() == 0 || strings.Contains(logs.b.String(), parts[2]) {
		t.Error("nothing is logged, or the valid token")
	}
}
