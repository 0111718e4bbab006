package extension_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/tabtest/chromium"
)

// squatter is a program that has taken the port of a hub that has ended.
type squatter struct {
	t      *testing.T
	server *http.Server
	// says answers the extension's first message; nil says nothing.
	says func(id json.RawMessage) []string
	code int // of the close frame that follows; 0: none

	mu     sync.Mutex
	heard  bytes.Buffer  // all that came, of the upgrade requests as well
	frames []string      // all that came over sockets
	asked  chan struct{} // capacity 1; a message has come
}

// squat takes the port of h, which has been stopped.
func squat(t *testing.T, h *hub, says func(id json.RawMessage) []string, code int) *squatter {
	s := &squatter{t: t, says: says, code: code, asked: make(chan struct{}, 1)}
	s.server = &http.Server{Handler: http.HandlerFunc(s.serve)}
	ln := h.port.Listen()
	go s.server.Serve(ln)
	t.Cleanup(s.stop)
	return s
}

func (s *squatter) stop() { s.server.Close() }

func (s *squatter) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	r.Write(&s.heard)
	s.mu.Unlock()
	up := websocket.Upgrader{Subprotocols: []string{spec.Subprotocol}, CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		return // it has asked for /healthz
	}
	defer ws.Close()
	for {
		_, frame, err := ws.ReadMessage()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.heard.Write(frame)
		s.frames = append(s.frames, string(frame))
		s.mu.Unlock()
		select {
		case s.asked <- struct{}{}:
		default:
		}
		if s.says == nil {
			continue
		}
		var m struct{ ID json.RawMessage }
		_ = json.Unmarshal(frame, &m)
		for _, say := range s.says(m.ID) {
			_ = ws.WriteMessage(websocket.TextMessage, []byte(say))
		}
		if s.code != 0 {
			_ = ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(s.code, "go away"), time.Now().Add(time.Second))
		}
	}
}

// await waits until the extension has said something.
func (s *squatter) await() {
	s.t.Helper()
	select {
	case <-s.asked:
	case <-time.After(2 * chromium.Timeout):
		s.t.Fatal("the extension did not come")
	}
}

// answer is a frame that answers a request.
func answer(id json.RawMessage, member, value string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%q:%s}`, id, member, value)
}

// A program that has the hub's port learns nothing, can have nothing done, and cannot keep the
// extension from the hub when that is there again.
func TestSquatter(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	url := site(t, map[string]string{"/": shop})
	p := b.Open(url)
	tab := h.tabWith(shopTools...)
	h.mu.Lock()
	secrets := []string{string(h.hello.BrowserID), h.hello.Session, strings.TrimPrefix(url, "http://"), "words", "Chrom"}
	h.mu.Unlock()

	// It asks for everything at once, as if it were the hub.
	greedy := []string{`{"jsonrpc":"2.0","id":"hello","result":{"hub":"tabhub","version":"1","keepAliveMs":15000}}`}
	for i, method := range []string{"browser/listTabs", "browser/text", "browser/screenshot", "browser/executeTool"} {
		greedy = append(greedy, fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","tabId":%d,"method":%q,"params":{"toolName":"words","args":{}}}`, i, tab, method))
	}
	proof := strings.Repeat("A", 43)
	for _, c := range chromium.Rows(3, []struct {
		name  string
		says  func(id json.RawMessage) []string
		code  int
		popup string
	}{
		{name: "pretends", says: func(id json.RawMessage) []string {
			return append([]string{answer(id, "result", `{"hub":"hub-of-a-test","nonce":"`+proof+`","proof":"`+proof+`"}`)}, greedy...)
		}, popup: "Not your hub"},
		{name: "answers hello", says: func(json.RawMessage) []string { return greedy }, code: 4103, popup: "Not your hub"},
		{name: "knows no pairing", says: func(id json.RawMessage) []string {
			return []string{answer(id, "error", `{"code":-32005,"message":"unknown"}`)}
		}, code: 4103, popup: "Not paired"},
		{name: "refuses", says: func(id json.RawMessage) []string {
			return []string{answer(id, "error", `{"code":-32002,"message":"no"}`)}
		}, code: 4103, popup: "Not your hub"},
		{name: "replaces", says: func(json.RawMessage) []string { return nil }, code: 4101, popup: "Not your hub"},
		{name: "is old", says: func(id json.RawMessage) []string {
			return []string{answer(id, "error", `{"code":-32601,"message":"no such method"}`)}
		}, popup: "older than the extension"},
		{name: "silent", says: nil, popup: "Connecting"},
	}...) {
		t.Run(c.name, func(t *testing.T) {
			h.stop()
			h.mu.Lock()
			hellos := h.hellos
			h.mu.Unlock()
			s := squat(t, h, c.says, c.code)
			popup := b.Open("chrome-extension://" + b.ExtensionID + "/popup.html")
			popup.Eval("chrome.runtime.sendMessage({ask: 'reconnect'})")
			s.await()
			popup.WaitFor("document.querySelector('#headline').textContent.includes(" + fmt.Sprintf("%q", c.popup) + ")")
			picture(t, popup, "popup-"+strings.ReplaceAll(c.name, " ", "-"))
			popup.Close()
			s.stop()
			s.mu.Lock()
			for _, frame := range s.frames {
				var m struct {
					ID, Method string
					Params     map[string]string
				}
				if err := json.Unmarshal([]byte(frame), &m); err != nil || m.Method != spec.MethodPair || len(m.Params) != 3 ||
					m.Params["protocolVersion"] != spec.ProtocolVersion || !strings.HasPrefix(m.Params["pairing"], "copy.") || len(m.Params["nonce"]) != 43 {
					t.Errorf("it heard %s", frame)
				}
			}
			for _, secret := range secrets {
				if strings.Contains(s.heard.String(), secret) && secret != "Chrom" {
					t.Errorf("it heard %q", secret)
				}
			}
			s.mu.Unlock()
			h.serve()
			h.wait("the extension is back", func() bool { return h.hellos > hellos })
			h.tabWith(shopTools...)
		})
	}
	if n := p.Eval("counts.words ?? 0"); n != "0" {
		t.Errorf("the page ran the tool %s times", n)
	}
	if got, err := h.call(tab, "words", "{}"); err != nil || !strings.Contains(got, "plain") {
		t.Errorf("a call of the hub: %s, %v", got, err)
	}
}

// A program that relays the handshake from the port that the extension dials to the hub's new port
// convinces neither side.
func TestSquatterPassesOn(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	dir := h.write()
	// The copy looks for the hub where the squatter is.
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if _, err := extension.Write(dir, h.pairings.Ring, "ws://"+ln.Addr().String()+"/tabs"); err != nil {
		t.Fatal(err)
	}
	passed := make(chan string, 100)
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go pass(conn, h.addr, passed)
		}
	}()
	b := chromium.Shared(t, chromium.Options{WebMCP: true, Extension: dir})
	popup := b.Open("chrome-extension://" + b.ExtensionID + "/popup.html")
	popup.WaitFor("document.querySelector('#headline').textContent === 'Not your hub'")
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.hellos != 0 {
		t.Error("the hub took what was passed on")
	}
}

// pass passes on what comes, as if it had been sent to the hub.
func pass(conn net.Conn, hub string, passed chan<- string) {
	defer conn.Close()
	far, err := net.Dial("tcp", hub)
	if err != nil {
		return
	}
	defer far.Close()
	own := conn.LocalAddr().String()
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := far.Read(buf)
			if _, werr := conn.Write(buf[:n]); err != nil || werr != nil {
				conn.Close()
				return
			}
		}
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := conn.Read(buf)
		// The hub answers to its own name only.
		if _, werr := far.Write(bytes.ReplaceAll(buf[:n], []byte("Host: "+own), []byte("Host: "+hub))); err != nil || werr != nil {
			return
		}
	}
}

// A browser whose extension comes from elsewhere is paired by an address that is good
// once, after its user has seen that both sides mean the same.
func TestInvitation(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	other := newHub(t)
	link := func(h *hub) (link, code string) {
		o := h.pairings.MustInvite(t)
		return "http://" + h.addr + "/pair#" + o.Text(), o.Code()
	}

	declined, _ := link(other)
	page := b.Open(declined)
	b.Window("invite.html").ClickLast("#decline")
	page.WaitFor("location.hash === '#declined'")
	// The user is not asked again at once: a page must not wear its user out.
	again, _ := link(other)
	b.Open(again).WaitFor("document.readyState === 'complete'")

	b.StopWorker() // which forgets that it was told no
	good, code := link(other)
	page = b.Open(good)
	window := b.Window("invite.html")
	window.WaitFor(fmt.Sprintf("document.querySelector('#code').textContent === %q", code))
	window.WaitFor(fmt.Sprintf("document.querySelector('#address').textContent === %q", other.url()))
	picture(t, window, "invite")
	accessible(t, window, "the invitation")
	window.ClickLast("#accept")
	other.wait("the extension joins the other hub", func() bool { return other.hello != nil })
	page.WaitFor("location.hash === '#accepted'")
	w := b.Worker()
	w.WaitFor("chrome.storage.local.get('pairings').then(({pairings}) => pairings.length === 1 && !pairings[0].until && !pairings[0].next)")
	if kept := w.Eval("chrome.storage.local.get('pairings').then(({pairings}) => pairings[0].key.length)"); kept != "43" {
		t.Errorf("it keeps a key of %s characters", kept)
	}
	w.Close()
	other.mu.Lock()
	other.hello = nil
	other.mu.Unlock()
	other.restart()
	other.wait("it comes back", func() bool { return other.hello != nil })

	// An address can be pasted, too, where another browser opens the hub's pages.
	pasted, code := link(h)
	settings := b.Open("chrome-extension://" + b.ExtensionID + "/options.html")
	settings.Click("#link")
	settings.Type("http://127.0.0.1:1/elsewhere")
	settings.Click("#pairing button")
	settings.WaitFor("document.querySelector('#linkproblem').textContent.includes('run it again')")
	picture(t, settings, "options-pairing")
	h.mu.Lock()
	h.hello = nil
	h.mu.Unlock()
	settings.Click("#link")
	settings.Type(pasted)
	settings.Click("#pairing button")
	window = b.Window("invite.html")
	window.WaitFor(fmt.Sprintf("document.querySelector('#code').textContent === %q", code))
	window.ClickLast("#accept")
	h.wait("the extension is back with the first hub", func() bool { return h.hello != nil })

	// An old address out of the browser's history leads nowhere.
	old := strings.Replace(good, good[strings.LastIndex(good, "."):], ".1000000000", 1)
	b.Open(old).WaitFor("document.readyState === 'complete'")
	for _, target := range b.Targets() {
		if strings.Contains(target.URL, "invite.html") {
			t.Error("the user is asked about an address of long ago")
		}
	}
}
