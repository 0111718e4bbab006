package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tabhub/hub/call"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/telemetry"
)

// observer stores the arguments of its calls.
type observer struct {
	telemetry.Observer
	mu     sync.Mutex
	begun  []telemetry.Transport
	ended  []telemetry.Session
	served []telemetry.Request
}

func (o *observer) BeginSession(t telemetry.Transport) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.begun = append(o.begun, t)
}

func (o *observer) EndSession(s telemetry.Session) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = append(o.ended, s)
}

func (o *observer) EndRequest(r *telemetry.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.served = append(o.served, *r)
}

// What a client has taken back counts as that, but for a listen, which is meant to end so; and a
// method that it has made up counts by no name.
func TestObservedOddities(t *testing.T) {
	h := newScripted()
	started, _ := h.hold("wait")
	h.tools["fails"] = func(context.Context, call.Request) (json.RawMessage, error) {
		return json.RawMessage(`{"content":[],"isError":true}`), nil
	}
	o := &observer{Observer: telemetry.Nobody}
	s := New(h, Options{Options: methods.Options{Telemetry: o}})
	c := streamTo(t, s)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait"}}`)
	<-started
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	for n, name := range []string{"fails", "nobodys"} {
		c.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}`, 5+n, name))
	}
	if got := c.ask(`{"jsonrpc":"2.0","id":2,"method":"made/up"}`); !strings.Contains(got, "-32601") {
		t.Errorf("made/up: %s", got)
	}
	listening := streamTo(t, s)
	listening.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`)
	listening.next()
	listening.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	listening.ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{` + modernMeta + `}}`)
	if err := s.Close(t.Context()); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, want := range []telemetry.Request{
		{Method: "tools/call", Cancelled: true}, {Method: "tools/call", ToolError: true}, {Method: "tools/call", Code: -32602},
		{Method: methods.MethodListen}, {Method: "_OTHER", Code: -32601},
	} {
		want.Transport = telemetry.Stdio
		if !slices.ContainsFunc(o.served, func(r telemetry.Request) bool { r.Began = time.Time{}; return r == want }) {
			t.Errorf("no %+v in %+v", want, o.served)
		}
	}
}
