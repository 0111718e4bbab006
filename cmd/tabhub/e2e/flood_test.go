package e2e

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"
)

// flood offers as many tools as a page may, each with patterns that take long to read, and
// others twice a second.
const flood = `<!doctype html><title>Flood</title><script>
	let round = 0, asked = 0;
	const tools = () => Array.from({length: 1024}, (_, i) => ({
		name: 'flood_' + i, description: 'Round ' + round, inputSchema: {type: 'object', properties: Object.fromEntries(
			Array.from({length: 15}, (_, k) => ['p' + k, {type: 'string', pattern: '^(a|b){1,' + (k + 2) + '}[a-z' + round % 10 + ']{0,200}$'}]))},
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

// A page cannot hold up the calls of another in the same browser: from the client on pipes
// to the page and back, nearly all take less than twice as long as without it.
func TestFloodOfAPage(t *testing.T) {
	p := newPlace(t)
	c := p.stdio()
	b := p.browse()
	b.Open(website(t))
	buy := c.awaitTools("the shop's tools are listed", func(l tools) bool { return l.named("_buy") != "" }).named("_buy")
	measure := func() (half, most time.Duration) {
		t.Helper()
		took := make([]time.Duration, 300)
		for i := range took {
			start := time.Now()
			if a := c.call(buy, `{"n":1}`); a.outcome() != "ok" {
				t.Fatalf("%s %s", a.outcome(), a.result)
			}
			took[i] = time.Since(start)
		}
		slices.Sort(took)
		return took[len(took)/2], took[len(took)*99/100]
	}
	measure() // the first are slower
	quiet50, quiet99 := measure()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(flood))
	}))
	t.Cleanup(s.Close)
	hostile := b.Open(s.URL)
	hostile.WaitFor("asked > 0")
	half, most := measure()
	hostile.Close()
	after50, after99 := measure()
	t.Logf("half and nearly all calls: %v, %v; beside a flood %v, %v; after it %v, %v", quiet50, quiet99, half, most, after50, after99)
	// The floor is for machines on which the browser itself has no processor to spare.
	if floor := 150 * time.Millisecond; most > max(2*quiet99, floor) || after99 > max(2*quiet99, floor) {
		t.Errorf("calls wait for another page: %v and, after it, %v, without it %v", most, after99, quiet99)
	}
}
