package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"

	"tabhub/hub/cluster"
	"tabhub/hub/cluster/forward"
)

// A node that was not reached must not be taken for one that has turned this one away: this one
// would close all its users.
func TestAskUnreached(t *testing.T) {
	ends := errors.New("the handshake was cut short")
	for _, x := range []struct {
		what      string
		dial      func() (net.Conn, error)
		unreached bool
	}{
		{"no connection is made", func() (net.Conn, error) { return nil, ends }, true},
		{"the connection ends before an answer", func() (net.Conn, error) {
			here, there := net.Pipe()
			there.Close()
			return here, nil
		}, false},
	} {
		n := &clusterNode{forwarder: forward.New(forward.Options{Dial: func(context.Context, string) (net.Conn, error) { return x.dial() }})}
		_, _, err := n.ask(t.Context(), "b/0000000000000001", http.MethodPost, "/")
		n.forwarder.Close()
		if err == nil || errors.Is(err, cluster.ErrUnreachable) != x.unreached || x.unreached && !errors.Is(err, ends) {
			t.Errorf("%s: %v", x.what, err)
		}
	}
}
