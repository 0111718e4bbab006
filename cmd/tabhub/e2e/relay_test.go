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
// token of its service, and answers requests.
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

// A user whose clients use the extension of an older protocol has them come to the hub instead of
// the service that it was made for.
func TestProxyExtension(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve("--set", "extension-id="+proxyExtensionID)
	x := p.proxyExtension(func(method string) string { return `{"tabs":[]}` })

	token, _, _ := p.run("token")
	mcp, _, err := wstest.Connect(p.within(), "ws://"+p.listen+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer mcp.Close()
	ask := func(id int, method, params string) []byte {
		t.Helper()
		mcp.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
		for {
			frame, err := mcp.Receive()
			if err != nil {
				t.Fatal(err)
			}
			if string(rawjson.Get(frame, "id")) == fmt.Sprint(id) {
				return frame
			}
		}
	}
	ask(1, "mcp_handshake", fmt.Sprintf(`{"accessToken":%q}`, strings.TrimSpace(token)))
	var listed struct {
		Extensions []struct{ ID, Name string }
	}
	for len(listed.Extensions) == 0 {
		if err := json.Unmarshal(rawjson.Get(ask(2, "list_extensions", `{}`), "result"), &listed); err != nil {
			t.Fatal(err)
		}
	}
	if listed.Extensions[0].Name != "Chrome 141" {
		t.Errorf("listed: %+v", listed)
	}
	ask(3, "connect", fmt.Sprintf(`{"extension_id":%q}`, listed.Extensions[0].ID))
	if answer := ask(4, "getTabs", `{}`); string(rawjson.Get(answer, "result")) != `{"tabs":[]}` {
		t.Errorf("answered: %s", answer)
	}
	if got := <-x.asked; got != "getTabs {}" {
		t.Errorf("the extension was asked %s", got)
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
