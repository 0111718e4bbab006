package bridge

import (
	"strings"
	"testing"
)

// In the revision without sessions the open subscription is the session.
func TestListenIsRestored(t *testing.T) {
	r := newRig(t)
	h := <-r.hubs
	listen := `{"jsonrpc":"2.0","id":"L","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:1","a:2"]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
	meta := `"_meta":{"io.modelcontextprotocol/subscriptionId":"L"}`
	acked := `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + meta + `,"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:2"]}}}`
	r.passes(h, listen)
	h.send(acked)
	r.gets(acked)
	buy := `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"buy","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
	r.passes(h, buy)
	h.conn.Close()
	if got := next(t, "the client's stream", r.stdout); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":9,"result":{"resultType":"complete",`) {
		t.Fatalf("the open call got %s", got)
	}
	h = <-r.hubs
	h.gets(listen)
	tagged := `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + meta + `}}`
	r.gets(tagged)
	h.send(acked)
	// The second acknowledgement is not for the client, but what it may have missed is.
	r.gets(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{` + meta + `,"uri":"a:2"}}`)
	h.send(tagged)
	r.gets(tagged)
}

// A hub that ends on purpose ends its subscriptions. The client's lives on, and does not
// make it ask for a hub that the user has just stopped.
func TestListenOutlivesAHubThatEnds(t *testing.T) {
	r := newRig(t)
	h := <-r.hubs
	meta := `"_meta":{"io.modelcontextprotocol/subscriptionId":"L"}`
	listen := `{"jsonrpc":"2.0","id":"L","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}`
	acked := `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + meta + `,"notifications":{"toolsListChanged":true}}}`
	over := `{"jsonrpc":"2.0","id":"L","result":{"resultType":"complete",` + meta + `}}`
	r.passes(h, listen)
	h.send(acked)
	r.gets(acked)
	for _, reason := range []string{"upgrade", "stop"} {
		h.send(over, `{"jsonrpc":"2.0","method":"tabhub/farewell","params":{"reason":"`+reason+`"}}`)
		h.conn.Close()
		list := `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`
		if reason == "stop" {
			r.send(list)
		}
		h = <-r.hubs
		h.gets(listen)
		r.gets(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + meta + `}}`)
		h.send(acked)
	}
	// One that asks for nothing is over at once.
	nothing := strings.Replace(listen, `"L"`, `"N"`, 1)
	none := strings.NewReplacer(`"L"`, `"N"`, `{"toolsListChanged":true}`, `{}`).Replace(acked)
	r.send(nothing)
	h.gets(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`, nothing)
	h.send(none, strings.ReplaceAll(over, `"L"`, `"N"`))
	r.gets(none, strings.ReplaceAll(over, `"L"`, `"N"`))
}
