//go:build embedded_nats

package natsd

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/cmd/tabhub/internal/porttest"
	"tabhub/hub/broadcast"
	"tabhub/storage/jetstream/streams"
)

var secret = []byte(strings.Repeat("s", 32))

// node is a server and what it has logged.
type node struct {
	*Server
	opts Options
	log  *lines
}

// lines are what a server logs.
type lines struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	wrote broadcast.Signal
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.wrote.Fire()
	return l.buf.Write(b)
}

// await waits until the log has a text.
func (l *lines) await(t *testing.T, text string) {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		wrote := l.wrote.Wait()
		if strings.Contains(l.String(), text) {
			return
		}
		select {
		case <-wrote:
		case <-timeout:
			t.Fatalf("it does not log %q:\n%s", text, l)
		}
	}
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// threeNodes starts none: the test does.
func threeNodes(t *testing.T) []*node {
	t.Helper()
	var peers []string
	for range 3 {
		peers = append(peers, porttest.Free(t))
	}
	var nodes []*node
	for i, addr := range peers {
		log := new(lines)
		nodes = append(nodes, &node{log: log, opts: Options{
			Dir: filepath.Join(t.TempDir(), "nats"), Name: "n" + string(rune('0'+i)), Secret: secret, Peers: peers, Listen: addr,
			Log: slog.New(slog.NewTextHandler(log, nil)),
		}})
	}
	return nodes
}

func (n *node) start(t *testing.T) {
	t.Helper()
	s, err := Start(n.opts)
	if err != nil {
		t.Fatal(err)
	}
	n.Server = s
	t.Cleanup(s.Close)
}

func ready(t *testing.T, nodes ...*node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, n := range nodes {
		if err := n.Ready(ctx); err != nil {
			t.Fatalf("%s: %v\n%s", n.opts.Name, err, n.log)
		}
	}
}

// bucket opens or makes a bucket as a client of a node.
func bucket(t *testing.T, n *node, replicas int) jetstream.KeyValue {
	t.Helper()
	nc, err := nats.Connect(n.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	var kv jetstream.KeyValue
	err = streams.Patiently(t.Context(), func(ctx context.Context) (err error) { // while they elect, requests get lost
		kv, err = js.KeyValue(ctx, "test")
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			kv, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "test", Replicas: replicas})
		}
		return err
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, n.log)
	}
	return kv
}

// get reads the key by a node, when one of the servers that keep it has been heard of there.
func get(t *testing.T, n *node) (jetstream.KeyValueEntry, error) {
	t.Helper()
	kv := bucket(t, n, 3)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(time.Minute); ; <-tick.C {
		ctx, cancel := context.WithTimeout(t.Context(), streams.AttemptTimeout)
		got, err := kv.Get(ctx, "key")
		cancel()
		if err == nil || time.Now().After(late) {
			return got, err
		}
	}
}

// What a node that died had acknowledged is on the others, and on its disk.
func TestServersOfThreeNodes(t *testing.T) {
	nodes := threeNodes(t)
	for _, n := range nodes {
		n.start(t)
	}
	ready(t, nodes...)
	if _, err := bucket(t, nodes[0], 3).Put(t.Context(), "key", []byte("value")); err != nil {
		t.Fatal(err)
	}
	nodes[0].Close()
	ready(t, nodes[1:]...)
	if got, err := get(t, nodes[1]); err != nil || string(got.Value()) != "value" {
		t.Fatalf("on another node it is %v, %v", got, err)
	}
	nodes[0].start(t)
	ready(t, nodes[0])
	if got, err := get(t, nodes[0]); err != nil || string(got.Value()) != "value" {
		t.Errorf("after the restart it is %v, %v", got, err)
	}
}

// Who finds the address learns nothing, and is no member, without the secret.
func TestRoutesNeedTheSecret(t *testing.T) {
	nodes := threeNodes(t)
	nodes[2].opts.Secret = []byte(strings.Repeat("x", 32))
	for _, n := range nodes {
		n.start(t)
		n.say = 10 * time.Millisecond
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the test has seen enough")
	var wg sync.WaitGroup
	for _, n := range nodes {
		wg.Go(func() {
			if err := n.Ready(ctx); !errors.Is(err, stop) {
				t.Errorf("%s is ready without all others, or not for them: %v", n.opts.Name, err)
			}
		})
	}
	nodes[0].log.await(t, "found=2 of=3")
	nodes[2].log.await(t, "found=1 of=3")
	for _, n := range nodes {
		n.log.await(t, "the secret of the cluster must be the same on all nodes")
	}
	cancel(stop)
	wg.Wait()
	if log := nodes[2].log.String(); strings.Contains(log, "found=2") {
		t.Errorf("the one with another secret logs\n%s", log)
	}
	if log := nodes[0].log.String(); strings.Contains(log, "found=3") || strings.Count(log, "handshake") > 1 {
		t.Errorf("one with the secret logs\n%s", log)
	}
}

func TestClientNeedsThePassword(t *testing.T) {
	n := &node{opts: Options{Dir: t.TempDir(), Name: "alone", Secret: secret}}
	n.start(t)
	ready(t, n)
	bucket(t, n, 1)
	u, err := url.Parse(n.URL())
	if err != nil {
		t.Fatal(err)
	}
	if ip := net.ParseIP(u.Hostname()); !ip.IsLoopback() {
		t.Errorf("it listens on %s", u.Host)
	}
	u.User = nil
	if nc, err := nats.Connect(u.String()); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("without a password: %v, %v", nc, err)
	}
}

func TestStartRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	addr := taken.Addr().String()
	peers := []string{addr, "127.0.0.1:1", "127.0.0.1:2"}
	for want, opts := range map[string]Options{
		"address already in use":       {Dir: t.TempDir(), Name: "n", Secret: secret, Peers: peers, Listen: addr},
		`"no" is no port to listen on`: {Dir: t.TempDir(), Name: "n", Secret: secret, Peers: peers, Listen: "127.0.0.1:no"},
		"storage directory":            {Dir: file, Name: "n", Secret: secret},
		"it must be 3 or 5":            {Dir: t.TempDir(), Name: "n", Secret: secret, Peers: peers[:2], Listen: addr},
	} {
		s, err := Start(opts)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}
