package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"tabhub/hub/record"
)

// flood offers as many tools as a page may, each with patterns that take long to read, and
// others twice a second.
const flood = `<!doctype html><title>Flood</title><script>
	let round = 0, asked = 0;
	const tools = () => Array.from({length: 1024}, (_, i) => ({
		name: 'flood_' + i, description: 'Round ' + round, inputSchema: {type: 'object', properties: Object.fromEntries(
			Array.from({length: 15}, (_, k) => ['p' + k, {type: 'string', pattern: '^([a-z]{1,' + (50 + k) + '}[0-9]+|x' + round + '_' + i + ')(foo|bar|baz){2,40}$'}]))},
	}));
	const send = payload => window.postMessage({channel: 'mcp-default', type: 'mcp', direction: 'server-to-client', payload}, '*');
	addEventListener('message', ({data}) => {
		if (data?.direction !== 'client-to-server') return;
		if (data.payload === 'mcp-check-ready') return send('mcp-server-ready');
		const {id, method} = data.payload;
		const reply = result => send({jsonrpc: '2.0', id, result});
		if (method === 'initialize') reply({protocolVersion: '2025-06-18', capabilities: {tools: {listChanged: true}}, serverInfo: {name: 'flood', version: '1'}});
		if (method === 'tools/list') { asked++; reply({tools: tools()}); }
	});
	send('mcp-server-ready');
	setInterval(() => { round++; send({jsonrpc: '2.0', method: 'notifications/tools/list_changed'}); }, 500);
	</script>`

// A page cannot hold up the calls of another in the same browser: from the client on pipes to
// the page and back, they are answered while the hub reads what the flood offers. One that had
// to wait for it would be answered after it.
//
// How long they take says more of the machine than of the hub. So the hub's own log counts.
func TestFloodOfAPage(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := p.stdio()
	b := p.browse()
	b.Open(website(t))
	buy := c.awaitTools("the shop's tools are listed", func(l tools) bool { return l.named("_buy") != "" }).named("_buy")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(flood))
	}))
	t.Cleanup(s.Close)
	b.Open(s.URL)

	var readings []record.Line
	for late := time.Now().Add(timeout); len(readings) < 2; {
		for range 10 {
			var calls []<-chan answer
			for range 8 {
				calls = append(calls, c.begin("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"n":1}}`, buy)))
			}
			for _, call := range calls {
				if a := c.wait("a call", call); a.outcome() != "ok" {
					t.Fatalf("%s %s", a.outcome(), a.result)
				}
			}
		}
		p.api("/api/log?event=register&site="+strings.TrimPrefix(s.URL, "http://"), &readings)
		if time.Now().After(late) {
			t.Fatalf("the flood was read %d times within %v", len(readings), timeout)
		}
	}
	var log []record.Line
	p.api("/api/log?event=call&tool=buy&limit=10000", &log)
	var calls []int
	for _, reading := range readings {
		n := 0
		for _, call := range log {
			if call.Time.After(reading.Time.Add(-reading.Duration)) && call.Time.Add(call.Duration).Before(reading.Time) {
				n++
			}
		}
		t.Logf("%d calls in the %v in which %s were read", n, reading.Duration, reading.Reason)
		calls = append(calls, n)
	}
	// The better one counts: the machine may be busy with something else in one of them.
	if slices.Max(calls) < 3 {
		t.Errorf("calls wait for another page: %d were answered while the hub read what it offers", calls)
	}
}
