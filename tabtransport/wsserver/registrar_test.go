package wsserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"tabhub/spec"
	"tabhub/tabtransport/wsserver"
	"tabhub/tabtransport/wsserver/wstest"
)

// slowHub takes long to read large registrations.
type slowHub struct {
	hub
	takes time.Duration // for one

	mu    sync.Mutex
	spent map[int64]time.Duration // by tab
	under int                     // are read just now
	most  int                     // were read at once
}

func (h *slowHub) Message(from spec.TabAddr, id json.RawMessage, msg spec.Inbound) {
	if reg, ok := msg.(*spec.Register); ok && len(reg.Items[0]) > 16<<10 {
		h.mu.Lock()
		h.under++
		h.most = max(h.most, h.under)
		h.spent[from.Tab] += h.takes
		h.mu.Unlock()
		time.Sleep(h.takes)
		h.mu.Lock()
		h.under--
		h.mu.Unlock()
		msg = &spec.Register{Kind: reg.Kind, Items: []json.RawMessage{json.RawMessage(fmt.Sprintf(`"large %d"`, from.Tab))}}
	}
	h.hub.Message(from, id, msg)
}

func startSlow(t *testing.T, takes time.Duration) (*wsserver.Server, *slowHub, *wstest.Listener) {
	srv := wsserver.New(wsserver.Options{})
	h := &slowHub{takes: takes, spent: map[int64]time.Duration{}}
	srv.Transport(spec.LocalUser).Handle(h)
	l := wstest.Serve(t, srv.Tabs())
	t.Cleanup(func() { srv.Close(t.Context()) })
	return srv, h, l
}

// browse connects a browser.
func browse(t *testing.T, l *wstest.Listener, id string) *websocket.Conn {
	ws := l.WebSocket(t, "/", nil, spec.Subprotocol)
	send(t, ws, fmt.Sprintf(`{"jsonrpc":"2.0","method":"browser/hello","params":{"protocolVersion":"tabhub.v1","browserId":%q,"browserSecret":"s"}}`, id))
	synctest.Wait()
	return ws
}

func ofTab(tab int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","tabId":%d,"method":"browser/%s","params":%s}`, tab, method, params)
}

// large is a registration that is not read at once.
var large = `{"tools":["` + strings.Repeat("x", 20<<10) + `"]}`

// A page that announces ever new tools which take long to read must neither delay what
// other tabs of its browser say, nor take a processor from their calls.
func TestRegistrationsHaveABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, h, l := startSlow(t, 400*time.Millisecond)
		ws := browse(t, l, "b")
		readAll(ws)
		const minutes = 2
		for i := range minutes * 120 {
			send(t, ws, ofTab(1, "updateTools", large))
			send(t, ws, ofTab(2, "tabState", fmt.Sprintf(`{"windowId":%d}`, i)))
			send(t, ws, ofTab(3, "updateTools", fmt.Sprintf(`{"tools":["small %d"]}`, i)))
			synctest.Wait()
			got := h.got()
			if want := fmt.Sprintf(`{"tools":["small %d"]}`, i); lastOf(got) != want || got[len(got)-2] != fmt.Sprintf(`{"windowId":%d}`, i) {
				t.Fatalf("round %d: the last messages are %s", i, got[max(0, len(got)-3):])
			}
			time.Sleep(500 * time.Millisecond)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if spent := h.spent[1]; spent < 5*time.Second || spent > minutes*6*time.Second+2*time.Second {
			t.Errorf("%v of %d minutes went to one tab", spent, minutes)
		}
		if n := srv.Stats().Throttled; n < 100 {
			t.Errorf("%d registrations were dropped unread", n)
		}
	})
}

// Neither may forty tabs do together what one may not, and a tab that has not
// registered before comes first.
func TestTabsShareTheBudgetOfTheirBrowser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, h, l := startSlow(t, 400*time.Millisecond)
		browsers := []*websocket.Conn{browse(t, l, "a"), browse(t, l, "b"), browse(t, l, "c"), browse(t, l, "d")}
		for _, ws := range browsers {
			readAll(ws)
		}
		const seconds = 120
		for i := range seconds {
			for _, ws := range browsers {
				for tab := range 10 {
					send(t, ws, ofTab(1+tab, "updateTools", large))
				}
			}
			if i == seconds/2 {
				send(t, browsers[0], ofTab(77, "updateTools", large))
				before := len(h.got())
				time.Sleep(10 * time.Second)
				if !strings.Contains(strings.Join(h.got()[before:], " "), "large 77") {
					t.Errorf("a new tab was not read in ten seconds")
				}
			}
			time.Sleep(time.Second)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		var all time.Duration
		for _, spent := range h.spent {
			all += spent
		}
		if all > 80*time.Second || h.most != 1 {
			t.Errorf("%v of %d s went to registrations, %d at once", all, seconds+10, h.most)
		}
	})
}

// The end of a connection must not wait for registrations that are obsolete.
func TestConnectionEndsThoughRegistrationsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, h, l := startSlow(t, 400*time.Millisecond)
		ws := browse(t, l, "b")
		for tab := range 100 {
			send(t, ws, ofTab(1+tab, "updateTools", large))
		}
		synctest.Wait()
		start := time.Now()
		ws.NetConn().Close()
		for len(h.gone()) == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("it took %v", d)
		}
	})
}

// A registration that is replaced while it waits is answered, and never read.
func TestReplacedRegistrationIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, h, l := startSlow(t, 3*time.Second)
		ws := browse(t, l, "b")
		for i := range 4 {
			send(t, ws, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"tabId":1,"method":"browser/updateTools","params":%s}`, i, large))
			synctest.Wait()
		}
		for i := 1; i <= 2; i++ { // 0 is being read, 3 waits
			_, got, err := ws.ReadMessage()
			if want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"tabId":1,"error":{"code":-32003,"message":"replaced by a later registration before it was read"}}`, i); err != nil || string(got) != want {
				t.Errorf("%s %v", got, err)
			}
		}
		readAll(ws)
		// What waits goes with its tab.
		send(t, ws, ofTab(1, "tabClosed", `{}`))
		time.Sleep(time.Minute)
		if got := strings.Join(h.got(), " "); strings.Count(got, "large") != 1 {
			t.Errorf("the hub got %s", got)
		}
	})
}
