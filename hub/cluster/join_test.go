package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"tabhub/storage"
	"tabhub/storage/jetstream/natstest"
	"tabhub/storage/jetstream/streams"
)

// refused checks that an error is one sentence that tells the operator what to do.
func refused(t *testing.T, err error, is error, says ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("joined")
	}
	t.Log(err)
	if is != nil && !errors.Is(err, is) {
		t.Errorf("the error is not %q", is)
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("the error does not say %q", s)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Error("the error has more than one line")
	}
}

// unused returns an address at which no program can listen: the client's end of a connection.
func unused(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.LocalAddr().String()
}

// A node with a bad configuration must fail when it starts, with a sentence that says what to do;
// otherwise a user would find out later.
func TestJoinRefuses(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	nc := c.Conn(t)
	a := ready(t, nc, "a")

	t.Run("a name in use", func(t *testing.T) {
		began := time.Now()
		_, err := join(t, c.Conn(t), "a")
		refused(t, err, ErrNameInUse, "called a runs at "+a.opts.URL, "another name")
		if time.Since(began) > 2*short.ttl {
			t.Errorf("after %v", time.Since(began))
		}
	})
	t.Run("another secret", func(t *testing.T) {
		_, err := join(t, nc, "b", func(o *Options) { o.Secret = []byte("another secret, long enough") })
		refused(t, err, ErrSecret, "cluster-secret")
	})
	t.Run("what the nodes share is gone", func(t *testing.T) {
		other := natstest.Shared(t).Conn(t)
		users := func(o *Options) { o.HasUsers = func(context.Context) (bool, error) { return true, nil } }
		_, err := join(t, other, "a", users)
		refused(t, err, ErrForgotten, "KV_TABHUB_CLUSTER")
		ready(t, other, "a", func(o *Options) { o.HasUsers = func(context.Context) (bool, error) { return false, nil } })
		ready(t, other, "b", users)
	})
	t.Run("a short secret", func(t *testing.T) {
		_, err := join(t, nc, "b", func(o *Options) { o.Secret = []byte("secret") })
		refused(t, err, nil, "6 bytes", "at least 16")
	})
	for _, name := range []string{"", "a b", "a/b", ".a", "a..b", "a*", ">", strings.Repeat("a", 200)} {
		t.Run("name "+name, func(t *testing.T) {
			_, err := join(t, nc, name)
			refused(t, err, nil, "cannot be the name of a node")
		})
	}
	for _, url := range []string{"", "http://a:1", "https://a", "https://a:1/x", "https://u@a:1", "a:1", "https://a:1?x"} {
		t.Run("URL "+url, func(t *testing.T) {
			_, err := join(t, nc, "b", func(o *Options) { o.URL = url })
			refused(t, err, nil, "https://host:port")
		})
	}
	t.Run("a URL that others cannot reach", func(t *testing.T) {
		_, err := join(t, nc, "b", func(o *Options) { o.URL = "https://" + unused(t) })
		refused(t, err, ErrUnreachable, "node a has no connection to https://127.0.0.1:", "refused")
	})
	t.Run("a URL that leads to another node", func(t *testing.T) {
		_, err := join(t, nc, "b", func(o *Options) { o.URL = a.opts.URL })
		refused(t, err, ErrUnreachable, "another process than node b is at "+a.opts.URL)
	})
	for _, off := range []time.Duration{time.Hour, -time.Hour} {
		t.Run("a clock that is off by "+off.String(), func(t *testing.T) {
			_, err := join(t, nc, "b", func(o *Options) { o.wall = func() time.Time { return time.Now().Add(off) } })
			refused(t, err, ErrClock, map[bool]string{true: "1h0m0s ahead", false: "1h0m0s behind"}[off > 0], "NTP")
		})
	}
	t.Run("a server that fails", func(t *testing.T) {
		failure := errors.New("the port is taken")
		_, err := join(t, nc, "b", func(o *Options) { o.Serve = func(*tls.Config) error { return failure } })
		refused(t, err, failure)
	})
	until(t, a, "the refused nodes have left", func() bool { return len(a.Members()) == 1 })
	ready(t, nc, "b")
}

func TestJoinRefusesReplicas(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	_, err := join(t, c.Conn(t), "a", func(o *Options) { o.Replicas = 3 })
	refused(t, err, streams.ErrReplicas, "for 3 replicas", "nats-server")
}

func TestJoinRefusesWithoutJetStream(t *testing.T) {
	t.Parallel()
	c := natstest.StartOptions(t, 1, natstest.Options{NoJetStream: true})
	_, err := join(t, c.Conn(t), "a")
	refused(t, err, streams.ErrNoJetStream, "-js")
}

func TestJoinRefusesUnreachableAlone(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	_, err := join(t, c.Conn(t), "a", func(o *Options) { o.URL = "https://" + unused(t) })
	refused(t, err, ErrUnreachable, "at https://127.0.0.1:", "refused")
}

// A node must not write into a bucket of a newer version, nor into one of another program.
func TestJoinRefusesOtherBuckets(t *testing.T) {
	t.Parallel()
	for _, bucket := range []string{nodesBucket, clusterBucket, hintsBucket} {
		for _, x := range []struct {
			metadata map[string]string
			is       error
			says     string
		}{
			{map[string]string{streams.FormatKey: "2"}, storage.ErrNewer, "has format 2, this program knows 1: update this node"},
			{nil, streams.ErrForeign, bucket + " was not made by tabhub"},
		} {
			c := natstest.Shared(t)
			nc := c.Conn(t)
			js, err := jetstream.New(nc)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: bucket, Metadata: x.metadata}); err != nil {
				t.Fatal(err)
			}
			_, err = join(t, nc, "a")
			refused(t, err, x.is, x.says)
		}
	}
}

// Of two processes that start with one name at once, exactly one runs.
func TestTwoNodesWithOneName(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	results := make(chan error, 2)
	for range 2 {
		o := optionsOf(t, c.Conn(t), "a") // here, because it may end the test
		var joined sync.WaitGroup
		joined.Go(func() {
			n, err := joinAs(t, o)
			if err == nil {
				n.Ready()
				t.Cleanup(func() { leave(n) })
			}
			results <- err
		})
		t.Cleanup(joined.Wait)
	}
	one, two := <-results, <-results
	if (one == nil) == (two == nil) || !errors.Is(errors.Join(one, two), ErrNameInUse) {
		t.Errorf("%v, %v", one, two)
	}
}

// A process that died can come back under its name as soon as its lease is over.
func TestJoinAfterDeath(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	first := ready(t, c.Conn(t), "a")
	crash(first)
	began := time.Now()
	again := ready(t, c.Conn(t), "a")
	if took := time.Since(began); took > short.ttl+time.Second {
		t.Errorf("after %v, with a lease of %v", took, short.ttl)
	} else {
		t.Logf("joined after %v, with a lease of %v", took, short.ttl)
	}
	if ended, err := again.Ended(t.Context(), first.ID()); !ended || err != nil || again.ID() <= first.ID() {
		t.Error(ended, err, first.ID(), again.ID())
	}
}

// If a person deletes the key of a node that cannot be reached, with `nats kv del`, and starts
// another, the cluster must not have two nodes with one name.
func TestJoinAfterDeletion(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	nc := c.Conn(t)
	proxy := natstest.NewProxy(t, c.URL(0))
	first := ready(t, c.ConnTo(t, proxy.URL()), "a")
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	proxy.Cut()
	if _, err := js.Publish(t.Context(), first.nodes.subject("a"), nil); err != nil {
		t.Fatal(err)
	}
	ready(t, nc, "a")
	if first.Lease().Held() {
		t.Error("two nodes have the lease of one name")
	}
}

// A node that does not answer, for example while it is stopped, must not keep others from joining.
func TestJoinWithoutAnswer(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a := ready(t, c.Conn(t), "a")
	crash(a)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	l := listen(t)
	b, err := Join(ctx, Options{Conn: c.Conn(t), Name: "b", URL: l.url(), Secret: secret, Replicas: 1, Serve: l.serve, timing: short})
	if err != nil {
		t.Fatal(err)
	}
	leave(b)
}

// A node that waits for its predecessor's lease to end must not crash when another asks whether it
// is reachable: it has no certificate yet.
func TestReachWithoutLease(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	a := ready(t, c.Conn(t), "a")
	if err := new(Node).reach(t.Context(), a.Self()); err == nil || !strings.Contains(err.Error(), "no lease yet") {
		t.Errorf("reached: %v", err)
	}
	crash(ready(t, c.Conn(t), "b"))
	nc, me := c.Conn(t), a.record()
	joined := make(chan error, 1)
	go func() {
		b, err := join(t, c.Conn(t), "b")
		if err == nil {
			t.Cleanup(func() { leave(b) })
		}
		joined <- err
	}()
	for {
		select {
		case err := <-joined:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
		if m, err := nc.Request(reachSubject("b"), me.encode(a.keys.members), short.retry); err == nil && len(m.Data) > 0 {
			t.Errorf("it is asked, and says %s", m.Data)
		}
	}
}

// A node whose first renewal was answered too late, for example after a pause of the process, has no
// lease and has not joined.
func TestJoinWithoutLease(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	never := short
	never.hold = time.Nanosecond
	l := listen(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	n, err := Join(ctx, Options{Conn: c.Conn(t), Name: "a", URL: l.url(), Secret: secret, Replicas: 1, Serve: l.serve, timing: never})
	if err == nil {
		defer leave(n)
		t.Errorf("joined with the term %v", n.Lease().Term())
	}
}
