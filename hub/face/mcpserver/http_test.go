package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/call"
	"tabhub/hub/lists"
	"tabhub/spec"
)

func TestBadRequestsOverHTTP(t *testing.T) {
	c := overTCP(t, New(newScripted(), Options{MaxBody: 4096}))
	c.initialize("2025-11-25")
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, tt := range []struct {
		body   string
		header []string
		status int
		says   string
	}{
		{ping, []string{"Accept", ""}, 200, `"result":{}`},
		{ping, []string{"Accept", "*/*"}, 200, `"result":{}`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":1}}}`, []string{"Accept", "application/json"}, 200, `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{}}}`},
		{ping, []string{"Accept", "text/event-stream"}, 200, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"},
		{ping, []string{"Content-Type", ""}, 415, "application/json"},
		{``, nil, 400, `"id":null,"error":{"code":-32700`},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","x":"` + strings.Repeat("x", 5000) + `"}`, nil, 413, "4096"},
	} {
		if status, body := c.post(tt.body, tt.header...); status != tt.status || !strings.Contains(body, tt.says) {
			t.Errorf("%.60s %v\n got %d %s", tt.body, tt.header, status, body)
		}
	}
	for method, want := range map[string]int{"PUT": 405, "HEAD": 405, "OPTIONS": 405, "GET": 406} {
		if resp := c.do(method, "/mcp", "", "Accept", "application/json"); resp.StatusCode != want {
			t.Errorf("%s: %s", method, resp.Status)
		}
	}
	for _, method := range []string{"GET", "DELETE"} {
		if resp := c.do(method, "/mcp", "", "Mcp-Protocol-Version", "2030-01-01"); resp.StatusCode != 400 {
			t.Errorf("%s of a revision that is not known: %s", method, resp.Status)
		}
	}
}

func TestChangesReachTheNewestGetStream(t *testing.T) {
	h := newScripted()
	c := overTCP(t, New(h, Options{}))
	c.initialize("2025-06-18")
	for range 250 {
		h.change(lists.Change{Tools: true}) // no stream is open: one notice waits
	}
	if status, body := c.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); status != 200 || strings.Contains(body, "list_changed") {
		t.Errorf("%d %s", status, body)
	}
	notice := `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	first := readEvents(t, c.do("GET", "/mcp", "", "Accept", "text/event-stream"))
	first.want(notice)
	second := readEvents(t, c.do("GET", "/mcp", "", "Accept", "text/event-stream"))
	h.change(lists.Change{Prompts: true})
	second.want(`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`)
	for range maxGets - 1 {
		readEvents(t, c.do("GET", "/mcp", "", "Accept", "text/event-stream"))
	}
	first.wantEnd() // the oldest of too many makes room
}

func TestHeadersMustSayWhatTheBodySays(t *testing.T) {
	h := newScripted()
	h.set(lists.ListTools, `{"name":"sql","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"}}}}`)
	h.tools["sql"] = h.tools["echo"]
	h.tools["ä"] = h.tools["echo"]
	c := overTCP(t, New(h, Options{}))
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`
	sql := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sql","NAME":"other","arguments":{"region":"eu","n":42},` + modernMeta + `}}`
	ok := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list"}
	call := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "sql", "Mcp-Param-Region", "eu", "Mcp-Param-N", "42.0"}
	with := func(h []string, more ...string) []string { return append(append([]string{}, h...), more...) }
	for name, tt := range map[string]struct {
		body   string
		header []string
		status int
		code   string
	}{
		"all right":                  {list, ok, 200, ""},
		"a session id is ignored":    {list, with(ok, "Mcp-Session-Id", "x"), 200, ""},
		"space around":               {list, with(ok, "Mcp-Method", "  tools/list "), 200, ""},
		"no version header":          {list, with(ok, "Mcp-Protocol-Version", ""), 400, "-32020"},
		"another version header":     {list, with(ok, "Mcp-Protocol-Version", "2025-11-25"), 400, "-32020"},
		"two unknown versions":       {strings.Replace(list, "2026-07-28", "2031-01-01", 1), ok, 400, "-32020"},
		"no version in the body":     {`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, ok, 400, "-32602"},
		"no capabilities":            {strings.Replace(list, "clientCapabilities", "x", 1), ok, 400, "-32602"},
		"no method header":           {list, with(ok, "Mcp-Method", ""), 400, "-32020"},
		"another method":             {list, with(ok, "Mcp-Method", "tools/call"), 400, "-32020"},
		"method in capitals":         {list, with(ok, "Mcp-Method", "Tools/List"), 400, "-32020"},
		"unknown version":            {strings.Replace(list, "2026-07-28", "2031-01-01", 1), with(ok, "Mcp-Protocol-Version", "2031-01-01"), 400, "-32022"},
		"unknown method":             {strings.Replace(list, "tools/list", "no/such", 1), with(ok, "Mcp-Method", "no/such"), 404, "-32601"},
		"removed method":             {strings.Replace(list, "tools/list", "ping", 1), with(ok, "Mcp-Method", "ping"), 404, "-32601"},
		"removed: initialize":        {strings.Replace(list, "tools/list", "initialize", 1), with(ok, "Mcp-Method", "initialize"), 404, "-32601"},
		"a response":                 {`{"jsonrpc":"2.0","id":1,"result":{}}`, ok, 400, "-32600"},
		"call":                       {sql, call, 200, ""},
		"another name":               {sql, with(call, "Mcp-Name", "other"), 400, "-32020"},
		"no name":                    {sql, with(call, "Mcp-Name", ""), 400, "-32020"},
		"encoded name":               {sql, with(call, "Mcp-Name", "=?base64?c3Fs?="), 200, ""},
		"badly encoded name":         {sql, with(call, "Mcp-Name", "=?base64?!?="), 400, "-32020"},
		"no parameter header":        {sql, with(call, "Mcp-Param-Region", ""), 400, "-32020"},
		"another parameter":          {sql, with(call, "Mcp-Param-Region", "us"), 400, "-32020"},
		"another number":             {sql, with(call, "Mcp-Param-N", "41"), 400, "-32020"},
		"unknown tool is in-band":    {strings.Replace(sql, `"sql"`, `"lost"`, 1), with(call, "Mcp-Name", "lost"), 200, "-32602"},
		"GET headers do not bind it": {list, with(ok, "Last-Event-ID", "7"), 200, ""},
	} {
		status, body := c.post(tt.body, tt.header...)
		if status != tt.status || !strings.Contains(body, `"id":1,`) && name != "a response" || tt.code != "" && !strings.Contains(body, `"error":{"code":`+tt.code+",") || tt.code == "" && !strings.Contains(body, `"resultType":"complete"`) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	for _, method := range []string{"GET", "DELETE"} {
		if resp := c.do(method, "/mcp", "", "Mcp-Protocol-Version", "2026-07-28"); resp.StatusCode != 405 || resp.Header.Get("Allow") != "POST" {
			t.Errorf("%s: %s", method, resp.Status)
		}
	}
}

// A client that listens is first notified of what it may have missed: at its first
// listen and at each later one, since nothing is stored of it meanwhile.
func TestListenOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		s := New(h, Options{})
		c := inBubble(t, s)
		body := `{"jsonrpc":"2.0","id":"L","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["tabhub://a/x"]},` + modernMeta + `}}`
		header := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen"}
		ctx, leave := context.WithCancel(t.Context())
		e := readEvents(t, c.doContext(ctx, "POST", "/mcp", body, header...))
		tag := `"_meta":{"io.modelcontextprotocol/subscriptionId":"L"}`
		missed := func() {
			e.want(notice("tools/list_changed", tag))
			e.want(notice("resources/updated", tag+`,"uri":"tabhub://a/x"`))
		}
		e.want(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + tag + `,"notifications":{"resourceSubscriptions":["tabhub://a/x"],"toolsListChanged":true}}}`)
		missed()
		h.change(lists.Change{Tools: true, Prompts: true})
		e.want(notice("tools/list_changed", tag))
		begin := time.Now()
		if name, _, err := e.next(); name != ":" || err != nil || time.Since(begin) > 15*time.Second {
			t.Errorf("%q, %v after %v: want a comment at least every 15 s", name, err, time.Since(begin))
		}
		leave()
		synctest.Wait()
		if n, stored := h.left(); n != 0 || stored != 0 {
			t.Errorf("%d subscriptions and %d documents left after the client has gone", n, stored)
		}
		if status, resp := c.post(body, append(header, "Accept", "application/json")...); status != 406 {
			t.Errorf("without an event stream: %d %s", status, resp)
		}
		e = readEvents(t, c.do("POST", "/mcp", body, header...))
		e.next()
		missed()
		go s.Close(t.Context())
		e.want(`{"jsonrpc":"2.0","id":"L","result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"tabhub","version":"dev"},"io.modelcontextprotocol/subscriptionId":"L"}}}`)
		e.wantEnd()
	})
}

func TestLongCallIsKeptAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		h.tools["slow"] = func(context.Context, call.Request) (json.RawMessage, error) {
			time.Sleep(40 * time.Second)
			return json.RawMessage(`{"content":[]}`), nil
		}
		c := inBubble(t, New(h, Options{}))
		c.initialize("2025-06-18")
		e := readEvents(t, c.do("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`))
		for range 2 {
			if name, _, err := e.next(); name != ":" || err != nil {
				t.Errorf("%q %v", name, err)
			}
		}
		e.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
		e.wantEnd()
	})
}

// A session is one client's: its id helps nobody with another credential.
func TestSessionsAreOneClientsOwn(t *testing.T) {
	h := newScripted()
	c := overTCP(t, New(h, Options{}))
	c.header.Set("Authorization", "alice")
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	if status, body := c.post(list); status != 400 || !strings.Contains(body, "initialize") {
		t.Errorf("without a session: %d %s", status, body)
	}
	c.initialize("2025-06-18")
	if status, body := c.post(list); status != 200 || body != `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}` {
		t.Errorf("%d %s", status, body)
	}
	for name, header := range map[string][]string{
		"another's":      {"Authorization", "bob"},
		"another client": {"Authorization", "alice cursor"},
		"made up":        {"Mcp-Session-Id", "QWERTYUIOPASDFGHJKLZXCVBNM"},
		"of nobody":      {"Authorization", ""},
		"not a revision": {"Mcp-Protocol-Version", "1900-01-01"},
	} {
		want := 404
		if name == "not a revision" {
			want = 400
		}
		if status, body := c.post(list, header...); status != want || !strings.Contains(body, `"error"`) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if resp := c.do("DELETE", "/mcp", "", "Authorization", "bob"); resp.StatusCode != 404 {
		t.Errorf("another's DELETE: %s", resp.Status)
	}
	get := readEvents(t, c.do("GET", "/mcp", "", "Accept", "text/event-stream"))
	if resp := c.do("DELETE", "/mcp", ""); resp.StatusCode != 204 {
		t.Errorf("DELETE: %s", resp.Status)
	}
	get.wantEnd()
	if status, _ := c.post(list); status != 404 {
		t.Errorf("after DELETE: %d", status)
	}
}

func TestProgressGoesToItsOwnRequestOnly(t *testing.T) {
	h := newScripted()
	h.tools["work"] = func(_ context.Context, c call.Request) (json.RawMessage, error) {
		for i := range 50 {
			c.By.Progress(spec.Progress{Progress: float64(i)})
		}
		return json.RawMessage(`{"content":[]}`), nil
	}
	c := overTCP(t, New(h, Options{}))
	c.initialize("2025-06-18")
	done := make(chan string, 20)
	for id := range 20 {
		go func() {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":%[1]d}}}`, id)
			resp := c.do("POST", "/mcp", body)
			e := readEvents(t, resp)
			for i := range 50 {
				want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":%d}}`, id, i)
				if _, got, err := e.next(); err != nil || got != want {
					done <- fmt.Sprintf("%v: got %s, want %s", err, got, want)
					return
				}
			}
			_, got, _ := e.next()
			if want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}`, id); got != want {
				done <- "got " + got
				return
			}
			if _, _, err := e.next(); err != io.EOF {
				done <- "the stream goes on"
				return
			}
			done <- ""
		}()
	}
	for range 20 {
		if wrong := <-done; wrong != "" {
			t.Error(wrong)
		}
	}
	// Who cannot take a stream gets the answer alone.
	status, body := c.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":1}}}`, "Accept", "application/json")
	if status != 200 || body != `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{}}}` {
		t.Errorf("%d %s", status, body)
	}
}
