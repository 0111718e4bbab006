package natstest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/storage/jetstream/natstest"
)

func stream(t *testing.T, nc *nats.Conn, replicas int) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s.>"}, Replicas: replicas}); err != nil {
		t.Fatal(err)
	}
	return js
}

// A restarted server has all acknowledged messages, and its old address.
func TestOne(t *testing.T) {
	c := natstest.StartOptions(t, 1, natstest.Options{User: "u", Password: "p"})
	js := stream(t, c.Conn(t), 1)
	if _, err := js.Publish(t.Context(), "s.a", nil); err != nil {
		t.Fatal(err)
	}
	c.Kill(0)
	c.Restart(0)
	if c.Leader("S") != 0 {
		t.Error("another one leads")
	}
	if ack, err := js.Publish(t.Context(), "s.a", nil); err != nil || ack.Sequence != 2 {
		t.Errorf("got %+v, %v, want message 2", ack, err)
	}
}

// A proxy delivers the data of a Cut later, and loses the data of a Break.
func TestProxy(t *testing.T) {
	c := natstest.Shared(t)
	p := natstest.NewProxy(t, c.URL(0))
	nc := c.ConnTo(t, p.URL())
	js := stream(t, nc, 1)
	other := c.Conn(t)
	sub, err := other.SubscribeSync("s.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Flush(); err != nil {
		t.Fatal(err)
	}

	p.CutReplies()
	ack, err := js.PublishAsync("s.a", []byte("1"))
	if err != nil {
		t.Fatal(err)
	}
	if m, err := sub.NextMsg(10 * time.Second); err != nil || string(m.Data) != "1" {
		t.Errorf("got %v, %v", m, err)
	}
	select {
	case a := <-ack.Ok():
		t.Errorf("an acknowledgement came: %v", a)
	default:
	}
	p.Mend()
	select {
	case <-ack.Ok():
	case err := <-ack.Err():
		t.Error(err)
	}

	p.Cut()
	if err := nc.Publish("s.a", []byte("2")); err != nil {
		t.Fatal(err)
	}
	if m, err := sub.NextMsg(100 * time.Millisecond); !errors.Is(err, nats.ErrTimeout) {
		t.Errorf("got %v, %v, want nothing", m, err)
	}
	p.Mend()
	if m, err := sub.NextMsg(10 * time.Second); err != nil || string(m.Data) != "2" {
		t.Errorf("got %v, %v", m, err)
	}

	p.Break()
	for !nc.IsReconnecting() {
		<-nc.StatusChanged(nats.RECONNECTING, nats.DISCONNECTED)
	}
	p.Mend()
	if err := nc.FlushTimeout(10 * time.Second); err != nil {
		t.Error(err)
	}
}

// Tests do not see each other's streams in a shared server.
func TestShared(t *testing.T) {
	for range 2 {
		js := stream(t, natstest.Shared(t).Conn(t), 1)
		if ack, err := js.Publish(t.Context(), "s.a", nil); err != nil || ack.Sequence != 1 {
			t.Errorf("got %+v, %v, want message 1", ack, err)
		}
	}
}
