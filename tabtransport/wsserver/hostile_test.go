package wsserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	tabhub "tabhub/hub"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport/wsserver"
)

// One page must not stop the calls of its browser's other tabs: not with 1,024 tools
// of 15 patterns each, not by announcing them twice a second, each time others. It did:
// calls that took 20 ms timed out, for a minute after the page was closed.
func TestCallsBesideAHostilePage(t *testing.T) {
	srv := wsserver.New(wsserver.Options{})
	h, err := tabhub.Open(t.Context(), tabhub.Options{User: spec.LocalUser, Transport: srv.Transport(spec.LocalUser), Store: &storagetest.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(srv.Tabs())
	defer web.Close()
	defer h.Close(context.Background())
	defer srv.Close(context.Background())

	ws, _, err := (&websocket.Dialer{Subprotocols: []string{spec.Subprotocol}}).Dial(wsURL(web), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	var writing sync.Mutex
	write := func(frame string) {
		writing.Lock()
		defer writing.Unlock()
		ws.WriteMessage(websocket.TextMessage, []byte(frame))
	}
	registered := make(chan string, 1)
	go func() {
		for {
			_, frame, err := ws.ReadMessage()
			if err != nil {
				return
			}
			switch id := rawjson.Get(frame, "id"); {
			case rawjson.Get(frame, "method") != nil:
				write(`{"jsonrpc":"2.0","tabId":1,"id":` + string(id) + `,"result":{"success":true,"payload":{"content":[]}}}`)
			case string(id) == "1":
				registered <- string(frame)
			}
		}
	}()
	write(`{"jsonrpc":"2.0","method":"browser/hello","params":{"protocolVersion":"tabhub.v1","browserId":"b"}}`)
	write(`{"jsonrpc":"2.0","id":1,"tabId":1,"method":"browser/registerTools","params":{"tabUrl":"https://good.com/","tools":[{"name":"echo"}]}}`)
	if got := <-registered; !strings.Contains(got, `"accepted":1`) {
		t.Fatal(got)
	}

	// call returns how long half of the calls in d took at most, and all but one in a
	// hundred.
	call := func(d time.Duration) (half, most time.Duration) {
		var took []time.Duration
		next := time.NewTicker(5 * time.Millisecond)
		defer next.Stop()
		for end := time.Now().Add(d); time.Now().Before(end); <-next.C {
			start := time.Now()
			_, err := h.Call(t.Context(), tabhub.Call{Name: "website_tool_unverified_good_com_echo", Args: json.RawMessage(`{}`)})
			if err != nil {
				t.Fatal(err)
			}
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		return took[len(took)/2], took[len(took)*99/100]
	}
	frames := make([]string, 12)
	for i := range frames {
		frames[i] = hostileTools(i)
	}
	quiet, mostQuiet := call(2 * time.Second)
	page := startHostilePage(write, frames)
	beside, mostBeside := call(6 * time.Second)
	close(page.leave)
	<-page.left
	after, _ := call(time.Second)
	t.Logf("quiet: %v, p99 %v; beside the page: %v, p99 %v; after it: %v", quiet, mostQuiet, beside, mostBeside, after)
	if limit := max(2*quiet, 20*time.Millisecond); beside > limit || after > limit {
		t.Errorf("half of the calls took more than %v", limit)
	}
	if limit := max(2*mostQuiet, busy); mostBeside > limit {
		t.Errorf("one in a hundred took more than %v", limit)
	}
	if page.rounds < 3 {
		t.Errorf("the page announced only %d times", page.rounds)
	}
}

// hostilePage is tab 2 of the browser. It announces tools in frames until leave is
// closed.
type hostilePage struct {
	leave, left chan struct{}
	rounds      int // read after left
}

func startHostilePage(write func(string), frames []string) *hostilePage {
	p := &hostilePage{leave: make(chan struct{}), left: make(chan struct{})}
	go func() {
		defer close(p.left)
		again := time.NewTicker(500 * time.Millisecond)
		defer again.Stop()
		for ; ; p.rounds++ {
			write(frames[p.rounds%len(frames)])
			select {
			case <-again.C:
			case <-p.leave:
				write(`{"jsonrpc":"2.0","tabId":2,"method":"browser/tabClosed","params":{}}`)
				return
			}
		}
	}()
	return p
}

func hostileTools(round int) string {
	var b strings.Builder
	b.WriteString(`{"jsonrpc":"2.0","tabId":2,"method":"browser/updateTools","params":{"tabUrl":"https://hostile.com/","tools":[`)
	for tool := range spec.MaxToolsPerTab {
		if tool > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"t%d","inputSchema":{"type":"object","properties":{`, tool)
		for i := range 15 {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"p%d":{"type":"string","pattern":"^([a-z]{1,%d}[0-9]+|x%d_%d)(foo|bar|baz){2,40}$"}`, i, 50+i, round, tool)
		}
		b.WriteString(`}}}`)
	}
	b.WriteString(`]}}`)
	return b.String()
}
