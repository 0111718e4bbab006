package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// `tabhub stop` in the middle of calls: those under way are finished, and one that
// comes then starts a hub again, so that nothing is lost and a client needs no restart.
func TestStopUnderCalls(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := p.stdio()
	started, finish, counts := make(chan struct{}, 10), make(chan struct{}), newCounter()
	x := p.open(&tab{key: "one", tools: countingTools, run: func(tool string, args json.RawMessage) string {
		counts.add(tool, args)
		select {
		case started <- struct{}{}:
		default:
		}
		<-finish
		return echo(args)
	}})
	buy := c.awaitTools("the tab's tools are listed", func(l tools) bool { return l.named("_buy") != "" }).named("_buy")
	first := p.users().PID
	var open []<-chan answer
	for n := range 5 { // fewer than started has room for
		open = append(open, c.begin("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"n":%d}}`, buy, n)))
		<-started
	}
	// What `tabhub stop` does before it waits for the end.
	p.askToStop()
	close(finish)
	for n, ch := range open {
		if got := c.wait("a call under way", ch).outcome(); got != "ok" {
			t.Errorf("call %d, which was under way: %s", n, got)
		}
	}
	// A client that does not know of the stop calls on.
	n := len(open)
	for back := false; !back; n++ {
		if got := c.call(buy, fmt.Sprintf(`{"n":%d}`, n)).outcome(); got != "ok" {
			t.Fatalf("call %d, after the stop: %s", n, got)
		}
		select {
		case <-x.joined:
			back = true
		default:
		}
	}
	for n := range n {
		if runs := counts.of("buy", n); runs != 1 {
			t.Errorf("call %d ran %d times", n, runs)
		}
	}
	if now := p.users().PID; now == first {
		t.Errorf("the hub is still process %d", now)
	}
}

// An update of the program takes effect with the next client, and the clients of the
// old one notice nothing.
func TestNewerBridgeReplacesHub(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	old := p.stdio()
	p.open(&tab{key: "one", tools: countingTools, run: func(_ string, args json.RawMessage) string { return echo(args) }})
	list := old.awaitTools("the tab's tools are listed", func(l tools) bool { return len(l.names()) == 3 })
	newer, err := rig.Build(t.TempDir(), "v1.1.0")
	if err != nil {
		t.Fatal(err)
	}
	p.program = newer
	recent := p.stdio()
	if h := p.hub(); h.Version != "v1.1.0" {
		t.Errorf("the hub is of %s", h.Version)
	}
	for _, c := range []*client{old, recent} {
		names := c.awaitTools("the tab is back", func(l tools) bool { return len(l.names()) == 3 }).names()
		if !slices.Equal(names, list.names()) {
			t.Errorf("the names were %q, and are %q", list.names(), names)
		}
		if got := c.call(list.named("_buy"), `{"n":1}`).outcome(); got != "ok" {
			t.Errorf("a call: %s", got)
		}
	}
	p.program = program
	if p.stdio().tools(); p.hub().Version != "v1.1.0" {
		t.Error("an older bridge has replaced the hub")
	}
}

// A client of the newest revision has no session. Its subscription lives on when the
// hub does not.
func TestModernClientOutlivesHub(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	h := p.host()
	if v := h.session.InitializeResult().ProtocolVersion; v != "2026-07-28" {
		t.Fatalf("the client speaks %q", v)
	}
	counts := newCounter()
	p.open(&tab{key: "one", tools: countingTools, run: func(tool string, args json.RawMessage) string {
		counts.add(tool, args)
		return echo(args)
	}})
	prefix := "website_tool_shop_localhost_8000_"
	names := []string{prefix + "buy", prefix + "look", prefix + "kept"}
	h.awaitNames("the tab's tools", names)
	for n := range 3 {
		h.do(prefix+"buy", map[string]any{"n": n})
		notices := h.notices.Load()
		p.kill()
		late := time.After(timeout)
		for h.notices.Load() == notices {
			select {
			case <-h.changed:
			case <-late:
				t.Fatal("the client was not told of the new hub")
			}
		}
		h.awaitNames("the tab's tools again", names)
		if runs := counts.of("buy", n); runs != 1 {
			t.Errorf("call %d ran %d times", n, runs)
		}
	}
	h.do(prefix+"buy", map[string]any{"n": 9})
}

// Prompts and resources go the same way as tools. Of what a page answers, the hub
// changes nothing but the resource's own URI.
func TestPromptsAndResources(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	x := p.open(&tab{key: "one", tools: `[{"name":"t"}]`})
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":"q","method":"browser/registerResources","params":{"resources":[{"uri":"shop://cart?a=\u00e9","name":"cart","size":12,"annotations":{"priority":0.50},"_meta":{"tags":["a\/b"]}}]}}`,
		`{"jsonrpc":"2.0","id":"q","method":"browser/registerPrompts","params":{"prompts":[{"name":"gift.for","arguments":[{"name":"who","required":true}],"_meta":{"tags":["a\/b"]}}]}}`,
	} {
		var told spec.Registered
		if a := x.ask(`"q"`, frame); json.Unmarshal(a.result, &told) != nil || told.Accepted != 1 {
			t.Fatalf("%s: %s%s", frame, a.result, a.err)
		}
	}
	// answerNext answers the page's next request, and returns its parameters.
	answerNext := func(method, result string) <-chan string {
		params := make(chan string, 1)
		go func() {
			for frame := range x.others {
				if m, _ := rawjson.String(rawjson.Get(frame, "method")); m == method {
					x.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, rawjson.Get(frame, "id"), result))
					params <- string(rawjson.Get(frame, "params"))
					return
				}
			}
		}()
		return params
	}
	for name, f := range map[string]face{"stdio": p.stdio(), "HTTP": p.http(), "SSE": p.sse()} {
		element := func(list string) json.RawMessage {
			t.Helper()
			for e := range rawjson.Elements(rawjson.Get(f.ask(list+"/list", `{}`).result, list)) {
				return e
			}
			t.Fatalf("%s lists no %s", name, list)
			return nil
		}
		prompt, resource := element("prompts"), element("resources")
		for _, want := range []string{`"arguments":[{"name":"who","required":true}]`, `"_meta":{"tags":["a\/b"]}`} {
			if !strings.Contains(string(prompt), want) {
				t.Errorf("%s: the prompt has lost %s: %s", name, want, prompt)
			}
		}
		for _, want := range []string{`"size":12`, `"annotations":{"priority":0.50}`, `"_meta":{"tags":["a\/b"]}`} {
			if !strings.Contains(string(resource), want) {
				t.Errorf("%s: the resource has lost %s: %s", name, want, resource)
			}
		}

		const args, messages = `{"who":"Zo\u00eb \/"}`, `{"messages":[{"role":"user","content":{"type":"text","text":"caf\u00e9 \/","annotations":{"priority":0.50}}}],"description":"d","future":{"n":1.0}}`
		asked := answerNext(spec.MethodGetPrompt, messages)
		a := f.ask("prompts/get", fmt.Sprintf(`{"name":%s,"arguments":%s}`, rawjson.Get(prompt, "name"), args))
		if got := <-asked; got != `{"name":"gift.for","args":`+args+`}` || a.said() != messages {
			t.Errorf("%s: the page was asked %s, and the client got %s%s", name, got, a.result, a.err)
		}

		public := string(rawjson.Get(resource, "uri"))
		const contents = `{"contents":[{"uri":%s,"mimeType":"text/plain","text":"caf\u00e9 \/","n":1.0},{"uri":"shop://other","blob":"AAAA"}],"future":{"n":12345678901234567890}}`
		asked = answerNext(spec.MethodReadResource, fmt.Sprintf(contents, `"shop://cart?a=é"`))
		a = f.ask("resources/read", fmt.Sprintf(`{"uri":%s}`, public))
		if got := <-asked; !strings.Contains(got, `"shop://cart?a=é"`) || a.said() != fmt.Sprintf(contents, public) {
			t.Errorf("%s: the page was asked %s, and the client got %s%s; want its URI to be %s", name, got, a.result, a.err, public)
		}
	}
}

// A tab that nobody asked for anything, and a client that asks nothing, must not keep
// the hub from being found by the next one after it has ended for want of clients.
func TestIdleHubEndsAndComesBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "TABHUB_IDLE_EXIT=100ms")
	first := p.stdio()
	x := p.open(&tab{key: "one", tools: countingTools, run: func(_ string, args json.RawMessage) string { return echo(args) }})
	names := first.awaitTools("the tab's tools are listed", func(l tools) bool { return len(l.names()) == 3 }).names()
	first.close()
	if p.nodes == nil { // the tab's nodes stay
		if code := x.awaitLoss(); code != spec.CloseGoingAway {
			t.Errorf("the tab was let go with %d, want %d: come back later", code, spec.CloseGoingAway)
		}
	}
	p.awaitNoHub()
	second := p.stdio()
	if again := second.awaitTools("the tab has come back", func(l tools) bool { return len(l.names()) == 3 }).names(); !slices.Equal(again, names) {
		t.Errorf("the names were %q, and are %q", names, again)
	}
}
