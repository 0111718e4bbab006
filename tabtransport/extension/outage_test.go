package extension_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/tabtransport"
	"tabhub/tabtransport/tabtest/chromium"
)

// What a page answered while the hub could not be reached is not lost.
func TestAnswerAfterOutage(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	p := b.Open(site(t, map[string]string{"/": shop}))
	tab := h.tabWith(shopTools...)
	result := h.begin(tab, 0, "slow", `{"ms":150}`)
	p.WaitFor("counts.slow === 1")
	h.cut()
	if got := <-result; !strings.Contains(got, "late") {
		t.Errorf("the call: %s", got)
	}
	if n := p.Eval("counts.slow"); n != "1" {
		t.Errorf("the page ran it %s times", n)
	}
}

// What the hub sent just before the connection was lost is not lost with it.
func TestCallLostWithTheConnection(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	// Chromium 156 ends when a page is left while its own getTools is under way.
	b := h.browse(chromium.Options{})
	url := site(t, map[string]string{"/": shop, "/next": shop})
	p := b.Open(url)
	tab := h.tabWith(shopTools...)
	lose := func(then func()) string {
		t.Helper()
		lost := h.port.Lose()
		result := h.begin(tab, 0, "slow", `{"ms":1}`)
		<-lost
		then()
		return <-result
	}
	for i, then := range []func(){h.cut, b.StopWorker} {
		if got := lose(then); !strings.Contains(got, "late") {
			t.Errorf("call %d: %s", i, got)
		}
		if n := p.Eval("counts.slow"); n != fmt.Sprint(i+1) {
			t.Errorf("the page ran %s calls of %d", n, i+1)
		}
	}
	// What the page before it has done cannot be known.
	got := lose(func() {
		p.Reload()
		p.WaitFor("document.readyState === 'complete'")
		h.cut()
	})
	if !strings.Contains(got, "may have taken effect") {
		t.Errorf("the call to a page that was reloaded since: %s", got)
	}
	if n := p.Eval("counts.slow ?? 0"); n != "0" {
		t.Errorf("the new page ran a call to the one before: %s", n)
	}
	// An old page that is back from the back/forward cache is a new one, too.
	p.Eval(`addEventListener('pageshow', e => window.fromCache = e.persisted)`)
	p.Navigate(url + "/next")
	got = lose(func() {
		p.Back()
		p.WaitFor("window.fromCache")
		h.cut()
	})
	if !strings.Contains(got, "may have taken effect") {
		t.Errorf("the call to a page that was left since: %s", got)
	}
	if n := p.Eval("counts.slow ?? 0"); n != "0" {
		t.Errorf("the page before ran a call to the next one: %s", n)
	}
}

// However calls and the end of a worker meet, each call runs once and is answered.
func TestWorkerStoppedUnderCalls(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{WebMCP: true})
	p := b.Open(site(t, map[string]string{"/": shop}))
	tab := h.tabWith(shopTools...)
	var calls atomic.Int64
	for range 5 {
		ctx, stop := context.WithCancel(t.Context())
		answered := make(chan struct{})
		var load sync.WaitGroup
		for range 4 {
			load.Go(func() {
				for ctx.Err() == nil {
					h.mu.Lock()
					changed := h.changed
					h.mu.Unlock()
					got, err := h.callFrame(t.Context(), tab, 0, "words", "{}", tabtransport.Wait{Timeout: chromium.Timeout})
					if errors.Is(err, tabtransport.ErrNotConnected) { // it was not sent
						select {
						case <-changed:
						case <-ctx.Done():
						}
						continue
					}
					if rpc, ok := errors.AsType[*spec.Error](err); ok && string(rpc.Data) == string(spec.NotDelivered) {
						continue // it was lost between the worker and the page, and has not run
					}
					if err != nil || !strings.Contains(got, "plain words") {
						t.Errorf("a call: %s, %v", got, err)
					}
					calls.Add(1)
					select {
					case answered <- struct{}{}:
					default:
					}
				}
			})
		}
		for range 10 {
			<-answered
		}
		h.stopWorker(b)
		stop()
		load.Wait()
	}
	if n := p.Eval("counts.words"); n != fmt.Sprint(calls.Load()) {
		t.Errorf("the page ran %s calls of %d", n, calls.Load())
	}
}

// The worker stores an answer until pings show that the hub is there, and no longer.
func TestAnswersAreLetGo(t *testing.T) {
	t.Parallel()
	h := newPingingHub(t, 500*time.Millisecond)
	b := h.browse(chromium.Options{WebMCP: true})
	b.Open(site(t, map[string]string{"/": shop}))
	tab := h.tabWith(shopTools...)
	if _, err := h.call(tab, "words", "{}"); err != nil {
		t.Fatal(err)
	}
	w := b.Worker()
	w.WaitFor("chrome.storage.session.get('calls').then(({calls}) => calls && Object.keys(calls).length === 0)")
	w.Close()
	h.stopWorker(b)
	if got, err := h.call(tab, "words", "{}"); err != nil || !strings.Contains(got, "plain") {
		t.Errorf("a call afterwards: %s, %v", got, err)
	}
}

// An update of the extension goes unnoticed: pages need no reload, and stay the tabs
// that they were.
func TestExtensionUpdated(t *testing.T) {
	t.Parallel()
	bothWays(t, testExtensionUpdated)
}

func testExtensionUpdated(t *testing.T, native bool) {
	h := newHub(t)
	dir := h.write()
	b := h.browse(chromium.Options{WebMCP: native, Extension: dir})
	p := b.Open(site(t, map[string]string{"/": shop}))
	tab := h.tabWith(shopTools...)
	h.mu.Lock()
	session, hellos := h.hello.Session, h.hellos
	h.mu.Unlock()
	// The new worker has no time for a while, as on a busy machine.
	addToWorker(t, dir, "for (const until = Date.now() + 1000; Date.now() < until; );")
	b.Load(dir)
	h.wait("the new extension says hello", func() bool { return h.hellos > hellos })
	h.wait("the tab is told again", func() bool { return h.tabs[tab].registrations > 0 })
	if got, err := h.call(tab, "words", "{}"); err != nil || !strings.Contains(got, "plain") {
		t.Errorf("a call afterwards: %s, %v", got, err)
	}
	if n := p.Eval("counts.words"); n != "1" {
		t.Errorf("the page ran it %s times", n)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.hello.Session != session {
		t.Errorf("the session was %q, and is %q", session, h.hello.Session)
	}
}

// A page's resources can be followed, and those of a template read.
func TestResourceUpdates(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	b := h.browse(chromium.Options{})
	p := b.Open(site(t, map[string]string{"/": `<!doctype html><script>
		const send = payload => window.postMessage({channel: 'mcp-default', type: 'mcp', direction: 'server-to-client', payload}, '*');
		const answers = {
			'initialize': {protocolVersion: '2025-06-18', capabilities: {resources: {subscribe: true, listChanged: true}}, serverInfo: {name: 's', version: '1'}},
			'tools/list': {tools: []},
			'resources/list': {resources: [{uri: 'note://1', name: 'note'}]},
			'resources/templates/list': {resourceTemplates: [{uriTemplate: 'note://{id}', name: 'notes'}]},
			'resources/read': {contents: [{uri: 'note://2', text: 'two'}]},
			'resources/subscribe': {},
		};
		addEventListener('message', ({data}) => {
			if (data?.direction !== 'client-to-server') return;
			if (data.payload === 'mcp-check-ready') return send('mcp-server-ready');
			const {id, method, params} = data.payload;
			if (id) send({jsonrpc: '2.0', id, result: answers[method]});
			if (method === 'resources/subscribe') send({jsonrpc: '2.0', method: 'notifications/resources/updated', params: {uri: params.uri}});
		});
		send('mcp-server-ready');
		</script>`}))
	var tab int64
	h.wait("the resource and the template", func() bool {
		for id, known := range h.tabs {
			tab = id
			return equal(names(known.resources), []string{"note", "notes"})
		}
		return false
	})
	if got, err := h.ask(tab, &spec.ReadResource{URI: "note://2", FrameID: new(int64(0))}); err != nil || !strings.Contains(got, "two") {
		t.Errorf("a resource of the template: %s, %v", got, err)
	}
	if _, err := h.ask(tab, &spec.SubscribeResource{URI: "note://1", Subscribe: true, FrameID: new(int64(0))}); err != nil {
		t.Error(err)
	}
	h.wait("the resource has changed", func() bool { return len(h.updates) == 1 && h.updates[0] == "note://1" })
	p.Close()
}
