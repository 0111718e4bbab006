package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/call"
)

// What comes over a bridge while the server is being closed gets no answer: the bridge learns whether all
// the rest was answered.
func TestCloseUnderCallsOfABridge(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		t.Run(fmt.Sprintf("stuck=%v", stuck), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { closeUnderCalls(t, stuck) })
		})
	}
}

func closeUnderCalls(t *testing.T, stuck bool) {
	const toolCall = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}`
	h := newScripted()
	started, release := h.hold("wait")
	h.tools["uncancellable"] = func(_ context.Context, c call.Request) (json.RawMessage, error) {
		started <- c
		time.Sleep(time.Minute)
		return json.RawMessage(`{"content":[]}`), nil
	}
	s := New(h, Options{})
	here, there := net.Pipe()
	defer here.Close()
	settled := make(chan bool, 1)
	go func() {
		ok, _ := s.ServeBridge(asTester(t.Context()), Bridged{}, there, there)
		settled <- ok
		there.Close()
	}()
	c := &lineClient{t, here, bufio.NewReader(here), nil}
	c.send(fmt.Sprintf(toolCall, 1, "wait"))
	<-started
	if stuck {
		c.send(fmt.Sprintf(toolCall, 2, "uncancellable"))
		<-started
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	go s.Close(ctx)
	synctest.Wait()
	c.send(fmt.Sprintf(toolCall, 3, "wait"))
	synctest.Wait()
	release <- json.RawMessage(`{"content":[]}`)
	c.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	for line, err := c.lines.ReadString('\n'); err == nil; line, err = c.lines.ReadString('\n') {
		if !strings.Contains(line, `"id":2`) {
			t.Errorf("after the end: %s", line)
		}
	}
	if got := <-settled; got == stuck {
		t.Errorf("settled is %v", got)
	}
	time.Sleep(time.Minute)
}

func TestCloseAnswersOpenCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newScripted()
		started, release := h.hold("wait")
		s := New(h, Options{})
		c := streamTo(t, s)
		c.initialize("2025-06-18")
		for id := range 2 {
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"wait"}}`, id))
			<-started
		}
		go func() {
			time.Sleep(time.Second)
			release <- json.RawMessage(`{"content":[]}`)
		}()
		closed := make(chan error, 1)
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			closed <- s.Close(ctx)
		}()
		synctest.Wait()
		if got := c.ask(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}`); !strings.Contains(got, "NOT_CONNECTED") || !strings.Contains(got, "nothing was sent") {
			t.Errorf("a call that came too late: %s", got)
		}
		if got := c.next(); !strings.Contains(got, `"result":{"content":[]}`) {
			t.Errorf("a call that was answered in time: %s", got)
		}
		if got := c.next(); !strings.Contains(got, "NOT_CONNECTED") || !strings.Contains(got, "may have taken effect") {
			t.Errorf("a call that was not: %s", got)
		}
		if _, err := c.lines.ReadByte(); err == nil {
			t.Error("the stream did not end")
		}
		if err := <-closed; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("Close again: %v", err)
		}
	})
}
