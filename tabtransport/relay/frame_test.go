package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// What a sender wrote in params and results must arrive as it was written, whatever
// its numbers, escapes, spacing and member order.
func TestBytesPassUnchanged(t *testing.T) {
	for _, body := range []string{
		`{"n":123456789012345678901234567890,"f":1.0,"e":1E+400}`,
		`{ "b" : [ 1 , 2 ],` + "\n\t" + `"a":"\u00e9\/\ud83d\ude00é<>&"}`,
		`{"id":7,"method":"inner","connectionId":"conn-of-somebody","jsonrpc":"1.0"}`,
		`{"a":1,"a":2,"A":3}`,
		`["proxy:1",null,true]`,
	} {
		var e envelope
		if err := e.parse([]byte(`{"params":` + body + `,"extra":` + body + `,"id":1,"connectionId":"x","method":"m"}`)); err != nil {
			t.Fatal(err)
		}
		for name, d := range map[string]dialect{"1.0": jsonrpc{}, "predecessor": plain{}} {
			out := d.request(&e, outboundID{"conn", "1"})
			if got := rawjson.Get(out, "params"); string(got) != body {
				t.Errorf("%s: params %s became %s", name, body, got)
			}
			if got := rawjson.Get(out, "extra"); string(got) != body {
				t.Errorf("%s: another member %s became %s", name, body, got)
			}
		}
		if err := e.parse([]byte(`{"id":"conn:1","result":` + body + `}`)); err != nil {
			t.Fatal(err)
		}
		for name, d := range map[string]dialect{"1.0": jsonrpc{}, "predecessor": plain{}} {
			if got := rawjson.Get(d.answer(&e, json.RawMessage("1"), "conn"), "result"); string(got) != body {
				t.Errorf("%s: result %s became %s", name, body, got)
			}
		}
	}
}

// A late response must not match a newer request: an id is not reused while it is in flight,
// nor soon after, however a client reuses its ids.
func TestPendingIDsAreKeptApart(t *testing.T) {
	var pending pendingRequests
	underWay := map[string]bool{}
	ended := map[string]int{} // when, counted in ends
	ends := 0
	for i := range 5000 {
		for _, id := range []string{`1`, `"1"`, `"1~1"`, `"1~2"`, `""`, fmt.Sprint(i)} {
			r := &request{id: json.RawMessage(id), inFlight: new(pass)}
			text := pending.add(r)
			if at, ok := ended[text]; underWay[text] || ok && ends-at < remembered {
				t.Fatalf("%q is given out again for %s", text, id)
			}
			underWay[text] = true
			if i%3 == 0 {
				continue
			}
			if pending.take(text) != r || pending.take(text) != nil {
				t.Fatal("it is not there once")
			}
			delete(underWay, text)
			ended[text] = ends
			ends++
		}
		if i%30 == 29 {
			for text := range underWay {
				ended[text] = ends
			}
			clear(underWay)
			ends += len(pending.drain(time.Time{}))
		}
	}
	if len(pending.spent) > remembered || len(pending.byID) > 200 {
		t.Errorf("%d spent, %d pending", len(pending.spent), len(pending.byID))
	}
}

// queue is an outbox without a network: what is sent stays in it.
type queue struct{ frames [][]byte }

func (q *queue) Send(frame []byte) error    { q.frames = append(q.frames, frame); return nil }
func (q *queue) MustSend(frame []byte)      { q.Send(frame) }
func (*queue) Close(spec.CloseCode, string) {}

// FuzzRouter feeds arbitrary frames to a client and an extension that are connected,
// next to another client and another user. Whatever comes, what goes out is a valid
// frame of its dialect, no answer is invented, and the others get nothing that is not
// theirs.
func FuzzRouter(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"getTabs","params":{"a":[1]}}`,
		`{"id":"conn:1","result":{}}`,
		`{"id":"%s:1","error":{"message":"x","stack":"y"}}`,
		`{"id":"%s:1"}`,
		`{"method":"forwardCDPEvent","params":{"tabId":7}}`,
		`{"method":"connect","id":1,"params":{"extension_id":"ext","tabId":1}}`,
		`{"method":"disconnect","id":1}`,
		`{"method":"list_extensions","id":"\u0070roxy:"}`,
		`{"method":"mcp_handshake","id":1,"params":{"accessToken":7}}`,
		`{"id":"%s:1","jsonrpc":"1.0","result":1}`,
		`[{"id":1}]`, `{"id":1,"id":2,"method":"x"}`, `{"type":"handshake"}`, `{"\u006dethod":"x","id":1e9}`, `{"connectionId":"%s","method":"x"}`,
	} {
		f.Add([]byte(s), []byte(s), false, true)
		f.Add([]byte(s), []byte(s), true, false)
	}
	limits := Limits{ClientRate: 1e9, ClientBurst: 1e9, UserRate: 1e9, UserBurst: 1e9, MaxMalformed: 1e9}.withDefaults()
	refuse := func(Handshake) (Admission, error) { return Admission{}, errors.New("no") }
	f.Fuzz(func(t *testing.T, fromClient, fromExtension []byte, plainClient, plainExtension bool) {
		r := New(Options{Verify: refuse, Limits: limits, Log: slog.New(slog.DiscardHandler)})
		pick := func(p bool) clientDialect {
			if p {
				return plain{}
			}
			return jsonrpc{}
		}
		join := func(t *tenant, clientID string, d dialect) *extensionPeer {
			p := &extensionPeer{remote: &remote{relay: r, out: &queue{}, request: &http.Request{}}, dialect: d, tenant: t}
			p.role = p
			p.session, _ = t.join(identity{name: "x", clientID: clientID}, p.out, d, nil)
			return p
		}
		enter := func(t *tenant, d clientDialect) *clientPeer {
			p := &clientPeer{remote: &remote{relay: r, out: &queue{}, request: &http.Request{}}, dialect: d}
			p.role = p
			p.client = &client{out: p.out, dialect: d, tenant: t, id: "mcp", gate: Open{}, rate: rate.NewLimiter(1e9, 1e9), connections: map[string]*connection{}}
			t.enter(p.client)
			return p
		}
		ann, eve := r.tenant("ann"), r.tenant("eve")
		for _, t := range []*tenant{ann, eve} {
			// No status is sent while the test looks at the queues.
			t.status = time.AfterFunc(time.Hour, func() {})
		}
		ext, mcp, other := join(ann, "x", pick(plainExtension)), enter(ann, pick(plainClient)), enter(ann, jsonrpc{})
		foreign, foreignBrowser := enter(eve, jsonrpc{}), join(eve, "x", jsonrpc{})
		conn := ""
		for _, c := range []*clientPeer{mcp, other} {
			ann.connect(t.Context(), c.client, ext.session.ext.id, "", 1, func(made *connection) []byte {
				if c == mcp {
					conn = made.id
				}
				return []byte("{}")
			})
		}
		// The other client has a request under way, which only its own answer may end.
		other.frame([]byte(`{"jsonrpc":"2.0","id":1,"method":"mine"}`))
		sent := func(p *remote) *queue { return p.out.(*queue) }
		for _, p := range []*remote{ext.remote, mcp.remote, other.remote, foreign.remote, foreignBrowser.remote} {
			sent(p).frames = nil
		}
		mcp.frame([]byte(`{"jsonrpc":"2.0","id":1,"method":"getTabs"}`))
		with := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("%s"), []byte(conn)) }
		mcp.frame(with(fromClient))
		ext.frame(with(fromExtension))
		ext.frame(with(fromExtension))

		asked := 0
		for _, s := range []struct {
			name string
			*queue
			bare bool
		}{{"extension", sent(ext.remote), plainExtension}, {"client", sent(mcp.remote), plainClient}, {"other", sent(other.remote), false}} {
			for _, frame := range s.frames {
				if rawjson.Valid(frame, 2*spec.MaxDepth) != nil {
					t.Fatalf("%s is sent %q", s.name, frame)
				}
				if !s.bare && string(rawjson.Get(frame, "jsonrpc")) != `"2.0"` {
					t.Fatalf("%s is sent %s", s.name, frame)
				}
				if s.name == "extension" && !plainExtension && rawjson.Get(frame, "connectionId") != nil {
					t.Fatalf("connectionId goes to the extension: %s", frame)
				}
				if s.name == "extension" && rawjson.Get(frame, "method") != nil {
					asked++
					if id := rawjson.Get(frame, "id"); id != nil && !strings.HasPrefix(string(id), `"`+conn+":") {
						t.Fatalf("an id that is not mapped: %s", frame)
					}
				}
				if s.name == "other" && rawjson.Get(frame, "method") == nil {
					t.Fatalf("the other client is answered: %s", frame)
				}
			}
		}
		if asked > 2 {
			t.Fatalf("%d requests went to the extension", asked)
		}
		if len(sent(foreign.remote).frames)+len(sent(foreignBrowser.remote).frames) > 0 {
			t.Fatal("another user gets a message")
		}
		r.Close()
	})
}
