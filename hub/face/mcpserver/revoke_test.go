package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"tabhub/hub/call"
	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/policy"
)

// A credential that is revoked takes along what it has opened: sessions that no request
// holds, and calls that their clients would not wait for.
func TestRevokedSessionsEnd(t *testing.T) {
	h := newScripted()
	began, ended := make(chan struct{}), make(chan error, 1)
	h.tools["wait"] = func(ctx context.Context, _ call.Request) (json.RawMessage, error) {
		close(began)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, ctx.Err()
	}
	s := New(h, Options{})
	valid, revoke := context.WithCancel(t.Context())
	id := &auth.Identity{User: "alice", Principal: &policy.Principal{ID: "cursor"}, Revoked: valid}
	c := handlerOverTCP(t, s, s.muxFor(func(*http.Request) *auth.Identity { return id }))
	sse, _ := c.sse()
	c.initialize("2025-06-18")
	get := readEvents(t, c.do("GET", "/mcp", "", "Accept", "text/event-stream"))
	var call sync.WaitGroup
	call.Go(func() { c.post(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait"}}`) })
	<-began
	revoke()
	<-ended
	call.Wait()
	for what, stream := range map[string]*events{"/sse": sse, "the stream of /mcp": get} {
		for {
			if _, _, err := stream.next(); err != nil {
				break
			}
			t.Logf("%s has an event", what)
		}
	}
	if status, _ := c.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`); status != 404 {
		t.Errorf("the session goes on: %d", status)
	}
}

// The client at the other end of a stream learns why a call has no result.
func TestRevokedStreamSaysWhy(t *testing.T) {
	h := newScripted()
	began := make(chan struct{})
	h.tools["wait"] = func(ctx context.Context, _ call.Request) (json.RawMessage, error) {
		close(began)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	s := newServer(t, h, Options{})
	valid, revoke := context.WithCancel(t.Context())
	id := &auth.Identity{User: "alice", Principal: &policy.Principal{ID: "cursor"}, Revoked: valid}
	ctx, cancel := id.Context(methods.WithIdentity(t.Context(), id))
	defer cancel()
	here, there := net.Pipe()
	defer here.Close()
	served := make(chan error, 1)
	go func() { served <- s.ServeStream(ctx, there, there) }()
	if _, err := io.WriteString(here, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait"}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	<-began
	revoke()
	rest, err := io.ReadAll(here)
	if err != nil || !strings.Contains(string(rest), "was revoked; the call may have taken effect") {
		t.Errorf("the client has read %q, %v", rest, err)
	}
	if err := <-served; !errors.Is(err, auth.ErrEnded) {
		t.Errorf("the stream has ended for %v", err)
	}
}
