package streams

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"tabhub/storage/jetstream/natstest"
)

// A node that starts before NATS does waits for it.
func TestConnectWaits(t *testing.T) {
	t.Parallel()
	servers := natstest.Start(t, 1)
	servers.Kill(0)
	connected := make(chan error, 1)
	go func() {
		c, err := Connect(t.Context(), ConnectOptions{URLs: servers.URL(0)})
		if err == nil {
			c.Close()
		}
		connected <- err
	}()
	time.Sleep(connectEvery)
	servers.Restart(0)
	if err := <-connected; err != nil {
		t.Error(err)
	}
}

// An error that keeps a node from NATS for good is one sentence, without the password.
func TestConnectRefuses(t *testing.T) {
	t.Parallel()
	c := natstest.StartOptions(t, 1, natstest.Options{User: "tabhub", Password: "right"})
	as := func(user string) string { return strings.Replace(c.URL(0), "//", "//tabhub:"+user+"@", 1) }
	ended, end := context.WithCancel(t.Context())
	end()
	for _, x := range []struct {
		ctx  context.Context
		o    ConnectOptions
		is   error
		says string
	}{
		{ended, ConnectOptions{URLs: "nats://127.0.0.1:1"}, nil, "NATS cannot be reached at nats://127.0.0.1:1: is nats-server running there?"},
		{t.Context(), ConnectOptions{URLs: c.URL(0)}, nats.ErrAuthorization, "refuses this node"},
		{t.Context(), ConnectOptions{URLs: as("wrong")}, nats.ErrAuthorization, "refuses this node"},
		{t.Context(), ConnectOptions{URLs: c.URL(0), Credentials: "/nonexistent"}, nil, "/nonexistent"},
	} {
		_, err := Connect(x.ctx, x.o)
		if err == nil || x.is != nil && !errors.Is(err, x.is) || !strings.Contains(err.Error(), x.says) || strings.Contains(err.Error(), "wrong") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v", x.o, err)
		}
	}
	nc, err := Connect(t.Context(), ConnectOptions{URLs: as("right")})
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
}
