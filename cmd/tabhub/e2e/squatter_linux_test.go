package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport/pairing"
	"tabhub/tabtransport/tabtest/chromium"
)

// heard is something that a squatter was sent.
type heard struct {
	Raw   string `json:",omitempty"` // as it came
	Frame string `json:",omitempty"` // a message over a WebSocket, which is masked in Raw
}

// playSquatter listens at an address, tells what it hears, and answers as a hub might,
// until its input ends.
func playSquatter(in *json.Decoder, out *json.Encoder) error {
	var addr string
	if err := in.Decode(&addr); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	s := &squatterPart{out: out}
	server := &http.Server{Handler: s}
	go server.Serve(earListener{ln, s})
	s.tell(heard{Frame: "listening"})
	io.Copy(io.Discard, os.Stdin)
	return server.Close()
}

type squatterPart struct {
	mu  sync.Mutex
	out *json.Encoder
}

func (s *squatterPart) tell(h heard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out.Encode(h)
}

// earListener tells what comes over its connections.
type earListener struct {
	net.Listener
	part *squatterPart
}

func (l earListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return &earConn{conn, l.part}, err
}

type earConn struct {
	net.Conn
	part *squatterPart
}

func (c *earConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.part.tell(heard{Raw: string(b[:n])})
	}
	return n, err
}

// ServeHTTP asks whoever comes for all that a hub may ask for.
func (s *squatterPart) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !websocket.IsWebSocketUpgrade(r) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"service":"tabhub","status":"ok","version":"v1.0.0","tabs":[],"hub":{}}`)
		return
	}
	up := websocket.Upgrader{Subprotocols: websocket.Subprotocols(r), CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer ws.Close()
	for {
		_, frame, err := ws.ReadMessage()
		if err != nil {
			return
		}
		s.tell(heard{Frame: string(frame)})
		proof := pairing.NewNonce()
		id := rawjson.Get(frame, "id")
		for _, say := range []string{
			fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"hub":"tabhub","version":"v1.0.0","keepAliveMs":15000,"nonce":%q,"proof":%q}}`, id, proof, proof),
			`{"jsonrpc":"2.0","id":"hello","result":{"hub":"tabhub","version":"v1.0.0","keepAliveMs":15000}}`,
			`{"jsonrpc":"2.0","id":"q","method":"browser/listTabs","params":{}}`,
		} {
			ws.WriteMessage(websocket.TextMessage, []byte(say))
		}
	}
}

// squatter is a program of another user that has the port of a hub which has ended.
type squatter struct {
	t     testing.TB
	cmd   *exec.Cmd
	stdin io.Closer
	heard *rig.Output
}

func (p *place) squatter(t testing.TB) *squatter {
	t.Helper()
	cmd := asOther(t, "squat")
	s := &squatter{t: t, cmd: cmd, heard: rig.NewOutput()}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdin = stdin
	cmd.Stdout, cmd.Stderr = s.heard, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(stdin).Encode(p.listen); err != nil {
		t.Fatal(err)
	}
	s.heard.Await(t, "listening")
	return s
}

// leave ends it, and returns all that it was sent: as it came, and the messages.
func (s *squatter) leave() (raw string, frames []string) {
	s.t.Helper()
	s.stdin.Close()
	if err := s.cmd.Wait(); err != nil {
		s.t.Fatal(err)
	}
	var text strings.Builder
	for lines := bufio.NewScanner(strings.NewReader(s.heard.String())); lines.Scan(); {
		var h heard
		if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
			s.t.Fatal(err)
		}
		text.WriteString(h.Raw)
		if h.Frame != "" && h.Frame != "listening" {
			frames = append(frames, h.Frame)
		}
	}
	return text.String(), frames
}

// A hub has ended, and another user's program has its port. What still looks for the hub
// there, a browser, a dashboard, clients and commands, tells it nothing of use, and finds
// the hub again when that is back.
func TestSquatterOfAnotherUser(t *testing.T) {
	needsOther(t)
	t.Parallel()
	p := newPlace(t)
	hub := p.serve()
	dir, copied := p.writeExtension()
	b := chromium.Start(t, chromium.Options{Extension: dir, WebMCP: true})
	site := website(t)
	shop := b.Open(site + "/?what=private")
	c := p.stdio()
	c.awaitTools("the shop's tools are listed", func(l tools) bool { return len(l.names()) == 4 })
	c.close()
	var browsers []struct{ ID, Peer string }
	p.api("/api/browsers", &browsers)
	if len(browsers) != 1 {
		t.Fatalf("the browsers are %+v", browsers)
	}
	ring, err := os.ReadFile(p.dir.Pairings())
	if err != nil {
		t.Fatal(err)
	}
	master, _ := rawjson.String(rawjson.Get(ring, "key"))
	secrets := map[string]string{
		"the token": p.token(), "the key of the extension's copy": copied.Key, "the key of all copies": master,
		"the browser's id": browsers[0].ID, "the tab's address": strings.TrimPrefix(site, "http://"), "the tab's path": "what=private", "the tab's title": "Shop",
	}
	for name, end := range map[string]func(){
		"stopped": func() {
			if _, stderr, exit := p.run("stop"); exit != 0 {
				t.Error(stderr)
			}
		},
		"killed": p.kill,
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, exit := p.run("token", "--url")
			address := strings.TrimSpace(stdout)
			if exit != 0 {
				t.Fatal(stderr)
			}
			dashboard := b.Open(address)
			dashboard.WaitFor(`document.querySelector("#count-tabs")?.textContent === "1"`)
			session := strings.Trim(dashboard.Eval(`sessionStorage.getItem("tabhub.session")`), `"`)
			end()
			hub.AwaitEnd()
			s := p.squatter(t)
			s.heard.Await(t, "/api/status") // of the page, which is in front
			s.heard.Await(t, "browser/pair")
			for _, command := range [][]string{{"status"}, {"tabs"}, {"call", "x"}, {"token", "--url"}, {"pair", "--json"}, {"doctor"}, {"stop"}} {
				p.run(command...)
			}
			c := p.stdio()
			c.tools()
			if at := p.hub().Addr; at == p.listen {
				t.Errorf("the hub of the bridge is at %s", at)
			}
			for _, command := range [][]string{{"tabs"}, {"token", "--url"}, {"token", "rotate"}, {"stop"}} {
				if _, stderr, exit := p.run(command...); exit != 0 {
					t.Errorf("%s beside another user's program: %s", command, stderr)
				}
			}
			secrets["the new token"] = p.token()
			c.close()
			p.run("stop") // the bridge may have started one
			p.awaitNoHub()
			raw, frames := s.leave()
			for _, frame := range frames {
				var m struct {
					JSONRPC, ID, Method string
					Params              map[string]string
				}
				d := json.NewDecoder(strings.NewReader(frame))
				d.DisallowUnknownFields()
				if err := d.Decode(&m); err != nil || m.Method != spec.MethodPair || len(m.Params) != 3 ||
					m.Params["protocolVersion"] != spec.ProtocolVersion || m.Params["pairing"] != copied.Pairing || len(m.Params["nonce"]) != 43 {
					t.Errorf("it was sent %s", frame)
				}
			}
			for what, secret := range secrets {
				if all := raw + strings.Join(frames, "\n"); secret == "" || strings.Contains(all, secret) {
					t.Errorf("it was sent %s, %q: %s", what, secret, all)
				}
			}
			for r := bufio.NewReader(strings.NewReader(raw)); ; {
				line, err := r.ReadString('\n')
				if err != nil {
					break
				}
				name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
				if strings.EqualFold(name, "Cookie") || strings.EqualFold(name, "Authorization") && value != "Bearer "+session {
					t.Errorf("it was sent %s", line)
				}
			}

			hub = p.serve()
			c = p.stdio()
			list := c.awaitTools("the browser is back", func(l tools) bool { return l.named("_buy") != "" })
			if a := c.call(list.named("_buy"), `{"n":1}`); a.outcome() != "ok" {
				t.Errorf("a call after that: %s", a.outcome())
			}
			c.close()
			p.refused("the session that it was sent", door{"GET", "/api/tabs", ""}, bearer(session), http.StatusUnauthorized)
			dashboard.Close()
		})
	}
	if n := shop.Eval(`runs["buy 1"]`); n != "2" {
		t.Errorf("the page ran the tool %s times, want once after each return", n)
	}
}
