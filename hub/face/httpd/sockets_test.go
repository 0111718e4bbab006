package httpd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"tabhub/hub/trust/auth"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/relay"
	"tabhub/tabtransport/tabtest"
	"tabhub/tabtransport/wsserver"
	"tabhub/tabtransport/wsserver/wstest"
)

// joining is a hub that lets everybody join.
type joining struct{}

func (joining) Connect(c tabtransport.Conn) (tabtransport.Accepted, error) {
	return tabtransport.Accepted{Peer: "peer", Result: spec.HelloResult{Hub: "tabhub", Version: c.Remote[:9], BrowserSecret: string(c.Pairing) + c.Origin}}, nil
}
func (joining) Message(spec.TabAddr, json.RawMessage, spec.Inbound) {}
func (joining) Disconnected(spec.PeerID, error)                     {}

// sockets has a server serve the sockets of tabs and of the relay's peers.
func sockets(t *testing.T, s *Server, ring *pairing.Ring) {
	tabs := wsserver.New(wsserver.Options{
		Detachable: true,
		Authenticate: func(r *http.Request, hello *spec.Hello, ex *pairing.Exchange) (tabtransport.Admission, error) {
			if err := s.LocateSocket(r, hello.Token); err != nil {
				return tabtransport.Admission{}, err
			}
			if ex == nil {
				return s.guard.Admit(r, hello.Token)
			}
			grant, err := ex.Accept(hello.Proof, hello.BrowserName)
			if err != nil {
				return tabtransport.Admission{}, err
			}
			return s.guard.AdmitPaired(r, grant)
		},
		Pair: func(r *http.Request, m *spec.Pair) (*pairing.Exchange, error) {
			if err := s.LocateSocket(r, string(m.Pairing)); err != nil {
				return nil, err
			}
			at, err := s.guard.PairingAddress(r)
			if err != nil {
				return nil, err
			}
			return ring.Begin(m, at)
		},
	})
	tabs.Transport("ann").Handle(joining{})
	peers := relay.New(relay.Options{
		Detachable: true,
		Verify: func(h relay.Handshake) (relay.Admission, error) {
			if err := s.LocateSocket(h.Request, h.Token); err != nil {
				return relay.Admission{}, err
			}
			var a tabtransport.Admission
			var err error
			if h.Extension {
				a, err = s.guard.AdmitExtension(h.Request, h.Token)
			} else {
				a, _, err = s.guard.AdmitClient(h.Request, h.Token)
			}
			return relay.Admission{Admission: a}, err
		},
	})
	s.o.Tabs, s.o.Extension, s.o.Relay, s.o.Client = tabs.Tabs(), peers.Extension(), peers.Legacy(), peers.Client()
	t.Cleanup(func() {
		peers.Close()
		tabs.Close(context.Background())
	})
}

// lockedUsers are users that change.
type lockedUsers struct {
	mu  sync.Mutex
	now users
}

func (u *lockedUsers) set(now users) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.now = now
}

func (u *lockedUsers) Verify(token string) (auth.Identity, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.now.Verify(token)
}

// changing are what differs from one conversation to another.
var changing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|"(nonce|proof)":"[^"]*"`)

// A socket is served alike from whichever node it comes to, wherever it shows its credential:
// what is let in, what is refused and how, and what ends.
func TestSocketsThroughEntrance(t *testing.T) {
	ring := tabtest.NewPairings(t).Ring
	tokens := new(lockedUsers)
	d := openEntrance(t, func(g *GuardOptions, o *Options) {
		g.Accounts, g.Verifier, g.Companion = true, tokens, companionID
	})
	d.where.of = map[string]spec.UserID{"ann's": "ann", "old": "ann", "short": "ann", "revoked": "ann", "bob's": "bob", "forged": "ann"}
	d.front.guard.verifier = tokens // which refuses here what nobody knows
	sockets(t, d.owner.server, ring)
	sockets(t, d.front, ring)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go d.owner.server.Serve(ln)
	hello := func(rest string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"browser/hello","params":{"protocolVersion":"tabhub.v1","tabKey":"k"` + rest + `}}`
	}
	const closes = -1
	for _, c := range []struct {
		name, path string
		headers    []string
		say        []string
		frames     int // that are read then, or closes: all
	}{
		{"a token in hello", "/tabs", nil, []string{hello(`,"token":"ann's"`), `{"jsonrpc":"2.0","id":2,"method":"browser/ping"}`}, 2},
		{"a token in the header", "/tabs", []string{"Authorization", "Bearer ann's"}, []string{hello("")}, 1},
		{"both", "/tabs", []string{"Authorization", "Bearer ann's"}, []string{hello(`,"token":"ann's"`)}, 1},
		{"tokens of two users", "/tabs", []string{"Authorization", "Bearer ann's"}, []string{hello(`,"token":"bob's"`)}, closes},
		{"no token", "/tabs", nil, []string{hello("")}, closes},
		{"an unknown token", "/tabs", nil, []string{hello(`,"token":"what"`)}, closes},
		{"a forged token", "/tabs", nil, []string{hello(`,"token":"forged"`)}, closes},
		{"an old token", "/tabs", nil, []string{hello(`,"token":"old"`)}, closes},
		{"a token that ends", "/tabs", nil, []string{hello(`,"token":"short"`)}, closes},
		{"a token that is revoked", "/tabs", nil, []string{hello(`,"token":"revoked"`), `{"jsonrpc":"2.0","id":2,"method":"browser/ping"}`, "revoke"}, closes},
		{"questions before hello", "/tabs", nil, []string{`{"jsonrpc":"2.0","id":7,"method":"browser/ping"}`, `{"jsonrpc":"2.0","id":8,"method":1}`, hello(`,"token":"ann's"`)}, 3},
		{"a large message", "/tabs", nil, []string{hello(`,"token":"ann's"`), `{"jsonrpc":"2.0","id":2,"method":"browser/ping","params":{"x":"` + strings.Repeat("x", 12<<20) + `"}}`}, 2},
		{"a foreign origin", "/tabs", []string{"Origin", "https://evil.example"}, nil, closes},
		{"an unknown pairing", "/tabs", []string{"Origin", companion}, []string{`{"jsonrpc":"2.0","id":1,"method":"browser/pair","params":{"protocolVersion":"tabhub.v1","pairing":"browser.x","nonce":"` + pairing.NewNonce() + `"}}`}, closes},
		{"a pairing", "/tabs", []string{"Origin", companion}, []string{"pair"}, 1},
		{"an extension", "/extension", nil, []string{`{"type":"handshake","browser":"Moon","version":"1"}`, `{"jsonrpc":"2.0","id":"proxy:1","result":{"name":"Moon","accessToken":"ann's","client_id":"c"}}`}, 2},
		{"an extension without a token", "/extension", nil, []string{`{"jsonrpc":"2.0","id":"proxy:1","result":{"name":"Moon"}}`}, closes},
		{"an extension with a forged token", "/extension", nil, []string{`{"jsonrpc":"2.0","id":"proxy:1","result":{"name":"Moon","accessToken":"forged"}}`}, closes},
		{"an older extension with a forged token", "/relay", nil, []string{`{"method":"extension_handshake","params":{"name":"Moon","accessToken":"forged","client_id":"d"}}`}, closes},
		{"a client", "/mcp", nil, []string{`{"jsonrpc":"2.0","id":1,"method":"mcp_handshake","params":{"accessToken":"ann's"}}`}, 1},
		{"a client with a forged token", "/mcp", nil, []string{`{"jsonrpc":"2.0","id":1,"method":"mcp_handshake","params":{"accessToken":"forged"}}`}, closes},
		{"an older client", "/relay", nil, []string{`{"id":1,"method":"mcp_handshake","params":{"accessToken":"ann's","projectName":"P"}}`}, 2},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			talk := func(addr string) (heard []string) {
				revoked, revoke := context.WithCancel(context.Background())
				defer revoke()
				tokens.set(users{
					"ann's": {User: "ann"}, "bob's": {User: "bob"}, "revoked": {User: "ann", Revoked: revoked},
					"old": {User: "ann", Expires: time.Now().Add(-time.Hour)}, "short": {User: "ann", Expires: time.Now().Add(500 * time.Millisecond)},
				})
				header := http.Header{}
				for i := 0; i < len(c.headers); i += 2 {
					header.Set(c.headers[i], c.headers[i+1])
				}
				var subprotocols []string
				if c.path == "/tabs" {
					subprotocols = []string{spec.Subprotocol}
				}
				p, resp, err := wstest.Connect(t.Context(), "ws://"+addr+c.path, header, subprotocols...)
				if err != nil {
					if resp == nil {
						t.Fatal(err)
					}
					return []string{resp.Status}
				}
				defer p.Close()
				next := func() bool {
					frame, err := p.Receive()
					if err != nil {
						heard = append(heard, strings.ReplaceAll(err.Error(), addr, "ADDR"))
						return false
					}
					heard = append(heard, changing.ReplaceAllString(string(frame), "*"))
					return true
				}
				for _, say := range c.say {
					switch say {
					case "revoke":
						for range 2 {
							next()
						}
						revoke()
					case "pair":
						copied, err := ring.Invite("ann", time.Time{})
						if err != nil {
							t.Fatal(err)
						}
						d.where.of[string(copied.Pairing)] = "ann"
						at, nonce := "ws://"+addr, pairing.NewNonce()
						p.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"browser/pair","params":{"protocolVersion":"tabhub.v1","pairing":%q,"nonce":%q}}`, copied.Pairing, nonce))
						frame, err := p.Receive()
						if err != nil {
							t.Fatal(err)
						}
						var result spec.PairResult
						if err := json.Unmarshal(rawjson.Get(frame, "result"), &result); err != nil {
							t.Fatalf("%s: %v", frame, err)
						}
						proves := pairing.Transcript{Pairing: copied.Pairing, Hub: result.Hub, Address: at, BrowserNonce: nonce, HubNonce: result.Nonce}
						if result.Proof != proves.HubProof(copied.Secret) {
							t.Errorf("the hub proves another address: %s", frame)
						}
						p.Send([]byte(strings.Replace(hello(`,"proof":"`+proves.BrowserProof(copied.Secret)+`"`), `"tabKey":"k"`, `"browserId":"b"`, 1)))
						if frame, err = p.Receive(); err != nil || rawjson.Get(frame, "result") == nil {
							t.Errorf("%s, %v", frame, err)
						}
						return nil
					default:
						if err := p.Send([]byte(say)); err != nil {
							t.Fatal(err)
						}
					}
				}
				if c.frames == closes {
					for next() {
					}
				}
				for range c.frames {
					next()
				}
				return heard
			}
			want, got := strings.Join(talk(ln.Addr().String()), "\n"), strings.Join(talk(d.addr), "\n")
			if got != want {
				t.Errorf("through the entrance:\n%.1500s\nwant:\n%.1500s", got, want)
			}
			if testing.Verbose() {
				t.Logf("%.600s", want)
			}
		})
	}
	// The node that has the user cannot be reached: the peer comes back later.
	d.where.set("ann", d.forwarder.To("gone/1", func(context.Context, string, string) (string, error) { return "", errors.New("gone") }), nil)
	p, _, err := wstest.Connect(t.Context(), "ws://"+d.addr+"/tabs", nil, spec.Subprotocol)
	if err != nil {
		t.Fatal(err)
	}
	p.Send([]byte(hello(`,"token":"ann's"`)))
	if frame, err := p.Receive(); wstest.CloseCode(err) != spec.CloseGoingAway || !strings.Contains(err.Error(), "come back in a moment") {
		t.Errorf("%s, %v", frame, err)
	}
	p.Close()
}
