package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"tabhub/spec/rawjson"
	"tabhub/tabtransport/wsserver/wstest"
)

// proxyExtension is an extension of the MCP Proxy Protocol as it shipped: it shows the
// token of the service that it was made for, and answers what it is asked.
type proxyExtension struct {
	peer  *wstest.Peer
	asked chan string // method and parameters of each request
}

const proxyExtensionID = "abcdefghijklmnopabcdefghijklmnop"

// proxyExtension connects an extension, which answers requests with answer.
func (p *place) proxyExtension(answer func(method string) string) *proxyExtension {
	p.t.Helper()
	peer, _, err := wstest.Connect(p.within(), "ws://"+p.tabsAt()+"/extension", http.Header{"Origin": {"chrome-extension://" + proxyExtensionID}})
	if err != nil {
		p.t.Fatal(err)
	}
	x := &proxyExtension{peer: peer, asked: make(chan string, 100)}
	ended := make(chan struct{})
	p.t.Cleanup(func() {
		peer.Close()
		<-ended
	})
	go func() {
		defer close(ended)
		for {
			frame, err := peer.Receive()
			if err != nil {
				return
			}
			id := rawjson.Get(frame, "id")
			method, _ := rawjson.String(rawjson.Get(frame, "method"))
			if id == nil || method == "" {
				continue
			}
			result := `{"name":"Chrome 141","accessToken":"eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzb21lYm9keSJ9.c2ln","client_id":"chrome-1"}`
			if method != "authenticate" {
				result = answer(method)
				x.asked <- method + " " + string(rawjson.Get(frame, "params"))
			}
			peer.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result))
		}
	}()
	return x
}

// A user whose only browser has an extension of the older protocol gets the page of a
// cached tool opened in it, and their LLM host can drive it.
func TestProxyExtension(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	hub := p.serve("--set", "extension-id="+proxyExtensionID)
	page := &tab{key: "one", tools: `[{"name":"search","annotations":{"cache":true}},{"name":"passing"}]`, run: func(tool string, args json.RawMessage) string {
		return echo(args)
	}}
	p.open(page)
	c := p.stdio()
	c.awaitTools("the page's tools", func(l tools) bool { return l.named("_passing") != "" })
	page.send(`{"jsonrpc":"2.0","method":"browser/tabClosed"}`)
	page.close()
	search := c.awaitTools("the cached tool alone", func(l tools) bool { return l.named("_passing") == "" }).named("_search")

	x := p.proxyExtension(func(method string) string {
		switch method {
		case "createTab":
			return `{"tabId":42}`
		case "forwardCDPCommand":
			return `{"result":{"value":7}}`
		}
		return `{"tabs":[{"id":42,"index":0,"url":"` + tabOrigin + `/one","title":"Shop","active":true}]}`
	})
	p.owner(hub).Stderr.Await(t, "dialect=mcp-proxy")
	called := c.begin("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"n":1}}`, search))
	if got, want := <-x.asked, fmt.Sprintf(`createTab {"url":%q,"activate":false}`, tabOrigin+"/one"); got != want {
		t.Errorf("the extension was asked %s, want %s", got, want)
	}
	<-x.asked // whether the tab has its address
	p.open(&tab{key: "two", tools: page.tools, run: page.run})
	if a := c.wait("the cached tool", called); a.outcome() != "ok" || !strings.Contains(string(a.result), `{\"n\":1}`) {
		t.Fatalf("the cached tool: %s %s", a.outcome(), a.result)
	}

	// It is a browser like others.
	if text := c.callContent("browser_tab", `{"action":"list"}`)[0].Text; !strings.Contains(text, `:42"`) || !strings.Contains(text, `"title":"Shop"`) || !strings.Contains(text, `"browser":"Chrome 141"`) {
		t.Errorf("the tabs: %s", text)
	}
	<-x.asked
	if out, _, _ := p.run("status"); !strings.Contains(out, "1 connected, 0 paired") {
		t.Errorf("status: %s", out)
	}

	// Its origin lets it offer a browser, and use none.
	peer, _, err := wstest.Connect(p.within(), "ws://"+p.listen+"/relay", http.Header{"Origin": {"chrome-extension://" + proxyExtensionID}})
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	peer.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"mcp_handshake","params":{"accessToken":"wrong"}}`))
	if frame, err := peer.Receive(); err != nil || answerOf(frame).err == nil {
		t.Errorf("an extension becomes a client: %s %v", frame, err)
	}
}
