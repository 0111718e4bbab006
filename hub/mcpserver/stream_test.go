package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/spec"
)

func TestStreamPassesBytesThrough(t *testing.T) {
	h := newScripted()
	h.tools["odd"] = func(context.Context, hub.Call) (json.RawMessage, error) {
		return json.RawMessage("{\"content\":[{\"type\":\"hologram\",\"x\":1e400}],\n\t\"n\":12345678901234567890.10,\"_meta\":{\"k\":\"\\u00e9\"},\"dup\":1,\"dup\":2}"), nil
	}
	c := streamTo(t, newServer(t, h, Options{}))
	c.initialize("2025-06-18")
	for id, want := range map[string]string{
		`9007199254740993`: `9007199254740993`,
		`"\u0041 b"`:       `"\u0041 b"`,
		`-1`:               `-1`,
		`""`:               `""`,
	} {
		c.send(`{"method":"tools/call","jsonrpc":"2.0","id":` + id + `,"params":{"name":"echo","arguments":{"n":9007199254740993,"s":"\u2028é","f":1.0,"a":1,"a":2}}}`)
		c.want(`{"jsonrpc":"2.0","id":` + want + `,"result":{"content":[],"structuredContent":{"n":9007199254740993,"s":"\u2028é","f":1.0,"a":1,"a":2}}}`)
	}
	// A line break of the page must not end the line.
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"odd"}}`)
	c.want("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"hologram\",\"x\":1e400}], \t\"n\":12345678901234567890.10,\"_meta\":{\"k\":\"\\u00e9\"},\"dup\":1,\"dup\":2}}")
}

// PowerShell begins what it pipes with a byte order mark.
func TestByteOrderMarkAtTheBeginning(t *testing.T) {
	c := streamTo(t, newServer(t, newScripted(), Options{}))
	c.send("\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	c.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
}

func TestInitializeNamesWhatTheHubCanDo(t *testing.T) {
	own := builtin.Tool{Name: "proxy", Input: json.RawMessage(`{"type":"object"}`)}
	s := newServer(t, newScripted(), Options{Name: "tabhub", Version: "9.9", Instructions: "use <proxy>", Builtin: []builtin.Tool{own}})
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		c := streamTo(t, s)
		var r struct {
			ID     string
			Result struct {
				ProtocolVersion, Instructions string
				ServerInfo                    struct{ Name, Version string }
				Capabilities                  struct {
					Experimental struct{ Browser hub.Capabilities }
					Tools        struct{ ListChanged bool }
					Prompts      struct{ ListChanged bool }
					Resources    struct{ ListChanged, Subscribe bool }
				}
			}
		}
		if err := json.Unmarshal([]byte(c.ask(initializeLine(version))), &r); err != nil {
			t.Fatal(err)
		}
		caps := r.Result.Capabilities
		if r.ID != "init" || r.Result.ProtocolVersion != version || r.Result.Instructions != "use <proxy>" || r.Result.ServerInfo.Version != "9.9" {
			t.Errorf("%s: %+v", version, r)
		}
		if !caps.Experimental.Browser.MultiTabSupport || !caps.Tools.ListChanged || !caps.Prompts.ListChanged || !caps.Resources.ListChanged || !caps.Resources.Subscribe {
			t.Errorf("%s: capabilities %+v", version, caps)
		}
		c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`)
		c.want(`{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"proxy","inputSchema":{"type":"object"}},{"name":"echo","inputSchema":{"type":"object"}}]}}`)
		c.send(`{"jsonrpc":"2.0","id":3,"method":"resources/templates/list"}`)
		c.want(`{"jsonrpc":"2.0","id":3,"result":{"resourceTemplates":[]}}`)
		c.send(`{"jsonrpc":"2.0","id":4,"method":"ping"}`)
		c.want(`{"jsonrpc":"2.0","id":4,"result":{}}`)
		c.send(`{"jsonrpc":"2.0","id":5,"method":"initialized","params":{}}`)
		c.want(`{"jsonrpc":"2.0","id":5,"result":{}}`)
	}
}

func TestBadMessagesGetTheRightError(t *testing.T) {
	s := newServer(t, newScripted(), Options{MaxBody: 4096})
	c := streamTo(t, s)
	c.initialize("2025-11-25")
	for _, tt := range []struct{ send, id, code, says string }{
		{`{"jsonrpc":"2.0","id":1,"method":`, `null`, "-32700", "Parse error"},
		{`hello`, `null`, "-32700", "Parse error"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\xff\"}", `null`, "-32700", "Parse error"},
		{strings.Repeat("[", 600) + strings.Repeat("]", 600), `null`, "-32700", "deep"},
		{`5`, `null`, "-32600", "object"},
		{`[]`, `null`, "-32600", "batches"},
		{`{"id":1,"method":"ping"}`, `1`, "-32600", "jsonrpc"},
		{`{"jsonrpc":"1.0","id":"x","method":"ping"}`, `"x"`, "-32600", "jsonrpc"},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `null`, "-32600", "id"},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `null`, "-32600", "id"},
		{`{"jsonrpc":"2.0","id":2}`, `2`, "-32600", "method"},
		{`{"jsonrpc":"2.0","id":2,"method":7}`, `2`, "-32600", "method"},
		{`{"jsonrpc":"2.0","id":3,"method":"ping","params":[1]}`, `3`, "-32602", "params"},
		{`{"jsonrpc":"2.0","id":4,"method":"no/such"}`, `4`, "-32601", "no/such"},
		{`{"jsonrpc":"2.0","id":4,"METHOD":"ping","method":"no/such"}`, `4`, "-32601", "no/such"},
		{`{"jsonrpc":"2.0","id":4,"method":"server/discover"}`, `4`, "-32601", "server/discover"},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/call"}`, `5`, "-32602", "name"},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":5}}`, `5`, "-32602", "name"},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"NAME":"echo"}}`, `5`, "-32602", "name"},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":[]}}`, `5`, "-32602", "arguments"},
		{`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"ecko"}}`, `6`, "-32602", "nearest: echo"},
		{`{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{"cursor":"x"}}`, `6`, "-32602", "cursor"},
		{`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"tabhub://no"}}`, `7`, "-32002", "tabhub://no"},
		{`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{}}`, `7`, "-32602", "uri"},
		{`{"jsonrpc":"2.0","id":7,"method":"resources/subscribe","params":{"uri":"tabhub://no"}}`, `7`, "-32002", "tabhub://no"},
		{`{"jsonrpc":"2.0","id":8,"method":"prompts/get","params":{"name":"no"}}`, `8`, "-32602", `unknown prompt`},
		{`{"jsonrpc":"2.0","id":9,"method":"logging/setLevel","params":{"level":"loud"}}`, `9`, "-32602", "loud"},
		{`{"jsonrpc":"2.0","id":9,"method":"logging/setLevel","params":{"level":5}}`, `9`, "-32602", ""},
		{`{"jsonrpc":"2.0","id":9,"method":"ping","x":"` + strings.Repeat("x", 5000) + `"}`, `null`, "-32600", "4096"},
	} {
		got := c.ask(tt.send)
		if !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":`+tt.id+`,"error":{"code":`+tt.code+`,`) || !strings.Contains(got, tt.says) {
			t.Errorf("%.80s\n got %s", tt.send, got)
		}
	}
	// None of these is answered, and the connection lives on.
	c.send(``, "  ", `{"jsonrpc":"2.0","method":"no/such"}`, `{"jsonrpc":"2.0","method":"tools/call","params":[]}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)
	c.send(`{"jsonrpc":"2.0","id":10,"method":"ping"}`)
	c.want(`{"jsonrpc":"2.0","id":10,"result":{}}`)
}

func TestCancelledCallIsAnsweredByNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		started, release := h.hold("wait")
		// A page that answers though nobody waits for it any more.
		h.tools["stubborn"] = func(ctx context.Context, _ hub.Call) (json.RawMessage, error) {
			<-ctx.Done()
			return json.RawMessage(`{"content":[]}`), nil
		}
		s := newServer(t, h, Options{})
		a, b := streamTo(t, s), streamTo(t, s)
		a.initialize("2025-11-25")
		b.initialize("2025-11-25")
		const call = `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":%q}}`
		b.send(fmt.Sprintf(call, "wait"))
		<-started
		// The cancellation comes with the request, before it has got anywhere; and it is
		// a's own, whatever id b uses.
		a.send(fmt.Sprintf(call, "stubborn"), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0078","reason":"changed my mind"}}`)
		a.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		a.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		release <- json.RawMessage(`{"content":[]}`)
		b.want(`{"jsonrpc":"2.0","id":"x","result":{"content":[]}}`)
		go s.Close(context.Background()) // which waits for the call
		if line, err := a.lines.ReadString('\n'); err == nil {
			t.Errorf("the cancelled call was answered: %s", line)
		}
	})
}

func TestProgressIsCompleteInOrderAndBeforeTheResult(t *testing.T) {
	h := newScripted()
	h.tools["work"] = func(_ context.Context, c hub.Call) (json.RawMessage, error) {
		total := 100.0
		for i := range 100 {
			c.Progress(spec.Progress{Progress: float64(i) / 2, Total: &total, Message: "step"})
		}
		return json.RawMessage(`{"content":[]}`), nil
	}
	c := streamTo(t, newServer(t, h, Options{}))
	c.initialize("2025-06-18")
	for call := range 20 {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":"t%[1]d"}}}`, call))
	}
	at := map[string]int{}
	for range 20 * 101 {
		var m struct {
			ID     *int
			Params struct {
				ProgressToken   string
				Progress, Total float64
			}
		}
		if err := json.Unmarshal([]byte(c.next()), &m); err != nil {
			t.Fatal(err)
		}
		if m.ID != nil {
			if n := at[fmt.Sprintf("t%d", *m.ID)]; n != 100 {
				t.Fatalf("call %d: answered after %d of 100 steps", *m.ID, n)
			}
			continue
		}
		p := m.Params
		if p.Progress != float64(at[p.ProgressToken])/2 || p.Total != 100 {
			t.Fatalf("%+v after %d", p, at[p.ProgressToken])
		}
		at[p.ProgressToken]++
	}
}

func TestProgressMessagesAreLogMessagesForWhoAskedForThose(t *testing.T) {
	h := newScripted()
	h.tools["work"] = func(_ context.Context, c hub.Call) (json.RawMessage, error) {
		if c.Progress != nil {
			c.Progress(spec.Progress{Progress: 1, Message: "half \"done\""})
		}
		return json.RawMessage(`{"content":[]}`), nil
	}
	c := streamTo(t, newServer(t, h, Options{}))
	c.initialize("2025-06-18")
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work"}}`
	c.send(call)
	c.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	c.ask(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"info"}}`)
	c.send(call)
	c.want(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"work","data":"half \"done\""}}`)
	c.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	c.ask(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"warning"}}`)
	c.send(call)
	c.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
}

func TestChangesAreToldOnceAndOnlyAfterInitialize(t *testing.T) {
	h := newScripted()
	c := streamTo(t, newServer(t, h, Options{}))
	h.change(hub.Change{Tools: true})
	c.initialize("2025-06-18")
	c.ask(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"tabhub://a/x"}}`)
	h.change(hub.Change{Tools: true, Prompts: true, Updated: []string{"tabhub://a/x", "tabhub://a/y"}})
	c.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	c.want(`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`)
	c.want(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"tabhub://a/x"}}`)
	c.ask(`{"jsonrpc":"2.0","id":2,"method":"resources/unsubscribe","params":{"uri":"tabhub://a/x"}}`)
	h.change(hub.Change{Updated: []string{"tabhub://a/x"}})
	h.change(hub.Change{Resources: true})
	c.want(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`)
	if n := h.followed["tabhub://a/x"]; n != 0 {
		t.Errorf("%d subscriptions left", n)
	}
}

func TestClientThatDoesNotReadGetsOneNotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		c := streamTo(t, newServer(t, h, Options{}))
		c.initialize("2025-06-18")
		synctest.Wait()
		for range 1000 {
			h.change(hub.Change{Tools: true})
			synctest.Wait()
		}
		c.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`) // was being written
		c.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`) // for the other 999
		c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		c.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	})
}

func TestClientThatDoesNotReadIsNotReadFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		big := strings.Repeat("x", 100<<10)
		h.tools["big"] = func(context.Context, hub.Call) (json.RawMessage, error) {
			return json.RawMessage(`{"content":[],"x":"` + big + `"}`), nil
		}
		c := streamTo(t, newServer(t, h, Options{MaxInFlight: 64}))
		c.initialize("2025-06-18")
		sent := 0
		go func() {
			for range 1000 {
				if _, err := io.WriteString(c.conn, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big"}}`+"\n"); err != nil {
					return
				}
				sent++
			}
		}()
		synctest.Wait()
		if sent > 500 {
			t.Errorf("%d requests taken from a client that reads no answers", sent)
		}
		for range 1000 { // none is lost
			if got := c.next(); !strings.Contains(got, `"id":1,"result"`) {
				t.Fatalf("%.200s", got)
			}
		}
	})
}

func TestEndOfInputLetsCallsFinishAndThenCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		started, release := h.hold("wait")
		stuck, _ := h.hold("stuck")
		s := newServer(t, h, Options{})
		in, stdin := io.Pipe()
		stdout, out := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- s.ServeStream(t.Context(), in, out) }()
		go func() {
			for id, name := range []string{"wait", "stuck"} {
				fmt.Fprintf(stdin, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s"}}`+"\n", id, name)
			}
			stdin.Close()
			<-started
			<-stuck
			time.Sleep(time.Second)
			release <- json.RawMessage(`{"content":[]}`)
		}()
		begin := time.Now()
		c := make([]byte, 1000)
		n, err := stdout.Read(c)
		if want := `{"jsonrpc":"2.0","id":0,"result":{"content":[]}}`; err != nil || !strings.HasPrefix(want, string(c[:n])) && strings.TrimSpace(string(c[:n])) != want {
			t.Fatalf("%q, %v", c[:n], err)
		}
		go io.Copy(io.Discard, stdout)
		defer stdout.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("ended after %v: the host has killed the process by then", took)
		}
	})
}

func TestBrokenPipeEndsTheStream(t *testing.T) {
	h := newScripted()
	started, _ := h.hold("wait")
	s := newServer(t, h, Options{})
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.ServeStream(t.Context(), in, out) }()
	io.WriteString(stdin, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`+"\n")
	<-started
	stdout.CloseWithError(os.ErrClosed)
	io.WriteString(stdin, `{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n")
	if err := <-ended; !errors.Is(err, os.ErrClosed) {
		t.Errorf("ended with %v", err)
	}
}

func TestBatchesAreOfOneRevision(t *testing.T) {
	h := newScripted()
	started, release := h.hold("wait")
	c := streamTo(t, newServer(t, h, Options{}))
	c.initialize("2025-03-26")
	go func() { <-started; release <- json.RawMessage(`{"content":[]}`) }()
	got := c.ask(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait"}},7,` +
		`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{}}]`)
	var answers []json.RawMessage
	if err := json.Unmarshal([]byte(got), &answers); err != nil || len(answers) != 4 {
		t.Fatalf("%s: %v", got, err)
	}
	for i, want := range sorted(`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`) {
		if !slices.ContainsFunc(answers, func(a json.RawMessage) bool { return string(a) == want }) {
			t.Errorf("no answer %d in %s", i, got)
		}
	}
	c.send(`[{"jsonrpc":"2.0","method":"notifications/initialized"}]`) // is not answered
	for _, bad := range []string{`[]`, `[` + strings.Repeat(`1,`, 200) + `1]`, `[1,`} {
		if got := c.ask(bad); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":null,"error"`) {
			t.Errorf("%.20s: %s", bad, got)
		}
	}
}

func TestTooManyCallsAreRefusedLoudly(t *testing.T) {
	h := newScripted()
	started, release := h.hold("wait")
	c := streamTo(t, newServer(t, h, Options{MaxInFlight: 2}))
	c.initialize("2025-06-18")
	for id := range 2 {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"wait"}}`, id))
		<-started
	}
	if got := c.ask(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo"}}`); !strings.Contains(got, `QUEUE_FULL`) || !strings.Contains(got, `"isError":true`) {
		t.Error(got)
	}
	if got := c.ask(`{"jsonrpc":"2.0","id":4,"method":"prompts/get","params":{"name":"hello"}}`); !strings.Contains(got, `"error":{"code":-32603`) || !strings.Contains(got, `QUEUE_FULL`) {
		t.Error(got)
	}
	release <- json.RawMessage(`{"content":[]}`)
	c.next()
	c.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{}}}`)
	c.want(`{"jsonrpc":"2.0","id":5,"result":{"content":[],"structuredContent":{}}}`)
	release <- json.RawMessage(`{"content":[]}`)
	c.next()
}
