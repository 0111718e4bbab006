//go:build nightly

package natstest_test

import (
	"testing"

	"tabhub/storage/jetstream/natstest"
)

// A cluster of three goes on without its leader, and takes it back.
func TestThree(t *testing.T) {
	c := natstest.Start(t, 3)
	js := stream(t, c.Conn(t), 3)
	if _, err := js.Publish(t.Context(), "s.a", nil); err != nil {
		t.Fatal(err)
	}
	first := c.Leader("S")
	c.Kill(first)
	second := c.Leader("S")
	if second == first {
		t.Fatalf("%d leads and is dead", first)
	}
	c.Restart(first)
	c.Await()
	c.Shutdown(second)
	if third := c.Leader("S"); third == second {
		t.Fatalf("%d leads and was shut down", second)
	}
	ack, err := js.Publish(t.Context(), "s.a", nil)
	if err != nil || ack.Sequence != 2 {
		t.Errorf("got %+v, %v, want message 2", ack, err)
	}
}
