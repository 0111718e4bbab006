package cluster

import (
	"testing"
	"time"

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
