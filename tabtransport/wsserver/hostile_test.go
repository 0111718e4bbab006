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

	"github.com/gorilla/websocket"

	tabhub "tabhub/hub"
	"tabhub/hub/call"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport/wsserver"
)

// One page must not stop the calls of its browser's other tabs: not with 1,024 tools
// of 15 patterns each, which take the hub long to read. It did: calls that took 20 ms
// timed out.
//
// How long a call takes says more of the machine than of the hub. So calls are counted
// that come back while the hub reads the page's tools: one that had to wait would be the
// only one.
func TestCallsBesideAHostilePage(t *testing.T) {
	srv := wsserver.New(wsserver.Options{})
	h, err := tabhub.Open(t.Context(), tabhub.Options{User: spec.LocalUser, Mode: policy.ModeOpen, Transport: srv.Transport(spec.LocalUser), Store: &storagetest.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(srv.Tabs())
	defer web.Close()
	defer h.Close(context.Background())
	defer srv.Close(context.Background())

	ws, _, err := (&websocket.Dialer{Subprotocols: []string{spec.Subprotocol}}).Dial("ws"+strings.TrimPrefix(web.URL, "http"), nil)
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
	call := func() {
		if _, err := h.Calls.Call(t.Context(), call.Request{By: tester, Name: "website_tool_unverified_good_com_echo", Args: json.RawMessage(`{}`)}); err != nil {
			t.Fatal(err)
		}
	}
	call()

	// The middle one of several rounds counts: the machine may be busy with something else
	// in some of them.
	var calls []int
	for round := range 5 {
		write(hostileTools(2 + round))
		n := 0
		for reading := true; reading; n++ {
			call()
			select {
			case got := <-registered:
				reading = false
				if !strings.Contains(got, `"accepted":`) {
					t.Fatalf("the page's tools: %.200s", got)
				}
			default:
			}
		}
		calls = append(calls, n)
	}
	t.Logf("calls while the page's tools were read: %d", calls)
	slices.Sort(calls)
	if calls[2] < 20 {
		t.Errorf("calls wait for the page's tools")
	}
}

// hostileTools is the request with which a tab announces tools that take long to read.
func hostileTools(tab int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"jsonrpc":"2.0","id":1,"tabId":%d,"method":"browser/registerTools","params":{"tabUrl":"https://hostile.com/","tools":[`, tab)
	for tool := range spec.MaxToolsPerTab {
		if tool > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"t%d","inputSchema":{"type":"object","properties":{`, tool)
		for i := range 15 {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"p%d":{"type":"string","pattern":"^([a-z]{1,%d}[0-9]+|x%d_%d)(foo|bar|baz){2,40}$"}`, i, 50+i, tab, tool)
		}
		b.WriteString(`}}}`)
	}
	b.WriteString(`]}}`)
	return b.String()
}

// tester is the caller in tests.
var tester = &consent.Caller{Principal: policy.Owner, Said: "test"}
