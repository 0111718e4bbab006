package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/call"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/lists"
)

func TestStreamPassesBytesThrough(t *testing.T) {
	h := newScripted()
	h.tools["odd"] = func(context.Context, call.Request) (json.RawMessage, error) {
		return json.RawMessage("{\"content\":[\n\t{\"type\":\"hologram\",\"x\":1e400}],\"n\":12345678901234567890.10,\"_meta\":{\"k\":\"\\u00e9\"},\"dup\":1,\"dup\":2}"), nil
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
	c.want("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"_meta\":{\"k\":\"\\u00e9\"},\"content\":[ \t{\"type\":\"hologram\",\"x\":1e400}],\"n\":12345678901234567890.10,\"dup\":1,\"dup\":2}}")
}

// PowerShell begins what it pipes with a byte order mark.
func TestByteOrderMarkAtTheBeginning(t *testing.T) {
	c := streamTo(t, newServer(t, newScripted(), Options{}))
	c.send("\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	c.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
}

func TestBadBytesGetTheRightError(t *testing.T) {
	c := streamTo(t, newServer(t, newScripted(), Options{MaxBody: 4096}))
	for _, tt := range []struct{ send, code, says string }{
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\xff\"}", "-32700", "Parse error"},
		{strings.Repeat("[", 600) + strings.Repeat("]", 600), "-32700", "deep"},
		{`{"jsonrpc":"2.0","id":9,"method":"ping","x":"` + strings.Repeat("x", 5000) + `"}`, "-32600", "4096"},
	} {
		got := c.ask(tt.send)
		if !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":null,"error":{"code":`+tt.code+`,`) || !strings.Contains(got, tt.says) {
			t.Errorf("%.80s\n got %s", tt.send, got)
		}
	}
	c.send(``, "  ", `{"jsonrpc":"2.0","id":10,"method":"ping"}`)
	c.want(`{"jsonrpc":"2.0","id":10,"result":{}}`)
}

func TestCancelledCallIsAnsweredByNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		started, release := h.hold("wait")
		// A page that answers though its call was cancelled.
		h.tools["stubborn"] = func(ctx context.Context, _ call.Request) (json.RawMessage, error) {
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

func TestNotificationsComeOnceAndOnlyAfterInitialize(t *testing.T) {
	h := newScripted()
	c := streamTo(t, newServer(t, h, Options{}))
	h.change(lists.Change{Tools: true})
	c.initialize("2025-06-18")
	c.ask(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"tabhub://a/x"}}`)
	h.change(lists.Change{Tools: true, Prompts: true, Updated: []string{"tabhub://a/x", "tabhub://a/y"}})
	c.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	c.want(`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`)
	c.want(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"tabhub://a/x"}}`)
	c.ask(`{"jsonrpc":"2.0","id":2,"method":"resources/unsubscribe","params":{"uri":"tabhub://a/x"}}`)
	h.change(lists.Change{Updated: []string{"tabhub://a/x"}})
	h.change(lists.Change{Resources: true})
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
			h.change(lists.Change{Tools: true})
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
		h.tools["big"] = func(context.Context, call.Request) (json.RawMessage, error) {
			return json.RawMessage(`{"content":[],"x":"` + big + `"}`), nil
		}
		c := streamTo(t, newServer(t, h, Options{Options: methods.Options{MaxInFlight: 64}}))
		c.initialize("2025-06-18")
		sent := 0
		go func() {
			for range 500 {
				if _, err := io.WriteString(c.conn, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"big"}}`+"\n"); err != nil {
					return
				}
				sent++
			}
		}()
		synctest.Wait()
		if sent > 400 { // 256 answers wait, and 64 calls are in flight
			t.Errorf("%d requests taken from a client that reads no answers", sent)
		}
		for range 500 { // none is lost
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
		go func() { ended <- s.ServeStream(asTester(t.Context()), in, out) }()
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
		if want := `{"jsonrpc":"2.0","id":0,"result":{"content":[]}}`; err != nil || uncalled(strings.TrimSpace(string(c[:n]))) != want {
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
	go func() { ended <- s.ServeStream(asTester(t.Context()), in, out) }()
	io.WriteString(stdin, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`+"\n")
	<-started
	stdout.CloseWithError(os.ErrClosed)
	io.WriteString(stdin, `{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n")
	if err := <-ended; !errors.Is(err, os.ErrClosed) {
		t.Errorf("ended with %v", err)
	}
}

func TestTooManyCallsAreRefusedLoudly(t *testing.T) {
	h := newScripted()
	started, release := h.hold("wait")
	c := streamTo(t, newServer(t, h, Options{Options: methods.Options{MaxInFlight: 2}}))
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
