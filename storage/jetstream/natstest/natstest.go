// Package natstest runs NATS servers with JetStream for tests, each in a process of its own,
// so that one can be killed or stopped as an operating system does it.
//
// A server is the test's own program, started again: its init function below serves when the
// environment says so. A server ends with the test, however that ends. Most tests need none of
// their own: see Shared.
package natstest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// startTimeout is how long servers may take to start and to elect a leader, which takes up to
// nine seconds on an idle machine.
const startTimeout = 60 * time.Second

// Options configure servers. The zero value is usable.
type Options struct {
	NoJetStream    bool
	User, Password string // what clients must show; "" is nothing
	MaxPayload     int32  // bytes of the largest message; 0: NATS's default, 1 MiB
	SyncAlways     bool   // write to disk before a message is acknowledged; NATS by default does so every two minutes
}

// Cluster is a number of NATS servers that know each other. Its methods fail the test on
// errors. They are for the goroutine of the test.
type Cluster struct {
	// Static after construction.
	t       testing.TB
	opts    Options
	servers []*server
	free    []func() // release the ports
	shared  bool     // the server is that of other tests, too

	conn *nats.Conn // for Leader; nil before its first call
}

// server is one of them. Its address stays over restarts.
type server struct {
	config config

	// Of the process that runs; cmd is nil if none does.
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines chan string   // of its standard output
	ready bool          // it has printed sayReady
	ended chan struct{} // closed when the process has ended
}

// Start starts n servers with JetStream and waits until they have elected a leader. One alone
// is no cluster and is ready in a fraction of a second.
func Start(t testing.TB, n int) *Cluster { return StartOptions(t, n, Options{}) }

// StartOptions is Start with options.
func StartOptions(t testing.TB, n int, opts Options) *Cluster {
	t.Helper()
	c := &Cluster{t: t, opts: opts}
	t.Cleanup(c.close)
	dir := t.TempDir()
	var routes []string
	for i := range n {
		s := &server{config: config{
			Options: opts, Name: "n" + strconv.Itoa(i), Dir: filepath.Join(dir, strconv.Itoa(i)), Peers: n, Port: c.port(),
		}}
		if n > 1 {
			s.config.RoutePort = c.port()
			routes = append(routes, "nats://"+address(s.config.RoutePort))
		}
		c.servers = append(c.servers, s)
	}
	for i, s := range c.servers {
		s.config.Routes = routes
		c.start(i)
	}
	c.Await()
	return c
}

// port reserves a port for a server until the test ends.
func (c *Cluster) port() int {
	c.t.Helper()
	port, free, err := hold()
	if err != nil {
		c.t.Fatal(err)
	}
	c.free = append(c.free, free)
	return port
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func (c *Cluster) close() {
	if c.conn != nil {
		c.conn.Close()
	}
	if c.shared {
		return
	}
	for _, s := range c.servers {
		s.kill()
	}
	for _, free := range c.free {
		free()
	}
}

// URL returns where server i is or will be.
func (c *Cluster) URL(i int) string { return "nats://" + address(c.servers[i].config.Port) }

// URLs returns the URL of each server.
func (c *Cluster) URLs() []string {
	var urls []string
	for i := range c.servers {
		urls = append(urls, c.URL(i))
	}
	return urls
}

// Conn connects to any server, and connects again for as long as the test runs.
func (c *Cluster) Conn(t testing.TB, opts ...nats.Option) *nats.Conn {
	t.Helper()
	return c.ConnTo(t, strings.Join(c.URLs(), ","), opts...)
}

// ConnTo connects to a URL, that of a Proxy say, as Conn does.
func (c *Cluster) ConnTo(t testing.TB, url string, opts ...nats.Option) *nats.Conn {
	t.Helper()
	opts = append([]nats.Option{
		nats.UserInfo(c.opts.User, c.opts.Password), nats.MaxReconnects(-1), nats.ReconnectWait(50 * time.Millisecond),
		nats.PingInterval(2 * time.Second), // notices a server that is paused
	}, opts...)
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// Leader returns which server leads a stream. It waits until one does.
func (c *Cluster) Leader(stream string) int {
	c.t.Helper()
	if c.conn == nil {
		nc, err := nats.Connect(strings.Join(c.URLs(), ","), nats.UserInfo(c.opts.User, c.opts.Password), nats.MaxReconnects(-1))
		if err != nil {
			c.t.Fatal(err)
		}
		c.conn = nc
	}
	js, err := jetstream.New(c.conn)
	if err != nil {
		c.t.Fatal(err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(startTimeout); time.Now().Before(deadline); <-tick.C {
		var s jetstream.Stream
		ctx, cancel := context.WithTimeout(c.t.Context(), 500*time.Millisecond)
		s, err = js.Stream(ctx, stream)
		cancel()
		if err != nil {
			continue
		}
		info := s.CachedInfo()
		if info.Cluster == nil || len(c.servers) == 1 {
			return 0
		}
		for i, s := range c.servers {
			if s.config.Name == info.Cluster.Leader && s.cmd != nil {
				return i
			}
		}
	}
	c.t.Fatalf("stream %s has no leader after %v: %v", stream, startTimeout, err)
	return 0
}

// own returns server i, which must be this test's.
func (c *Cluster) own(i int) *server {
	c.t.Helper()
	if c.shared {
		c.t.Fatal("the server is that of other tests, too")
	}
	return c.servers[i]
}

// Kill ends server i at once, as a crash does.
func (c *Cluster) Kill(i int) { c.own(i).kill() }

// Shutdown ends server i as an operator does.
func (c *Cluster) Shutdown(i int) {
	c.t.Helper()
	s := c.own(i)
	if s.cmd == nil {
		return
	}
	s.stdin.Close()
	select {
	case <-s.ended:
		s.cmd = nil
	case <-time.After(startTimeout):
		c.t.Fatalf("%s does not end", s.config.Name)
	}
}

// Restart starts server i, which must not run, with the data and the address that it had. It
// waits until the server takes connections, not until it takes part in JetStream: see Await.
func (c *Cluster) Restart(i int) {
	c.t.Helper()
	c.servers[i].config.Peers = 0
	c.start(i)
	c.await(i, sayOpen)
}

// Await waits until each server that runs takes part in JetStream, of which the majority must
// run.
func (c *Cluster) Await() {
	c.t.Helper()
	for i, s := range c.servers {
		if s.cmd != nil && !s.ready {
			c.await(i, sayReady)
			s.ready = true
		}
	}
}

func (c *Cluster) start(i int) {
	c.t.Helper()
	s := c.servers[i]
	if s.cmd != nil {
		c.t.Fatalf("%s runs", s.config.Name)
	}
	if err := s.start(); err != nil {
		c.t.Fatal(err)
	}
}

// await waits until server i has printed a line.
func (c *Cluster) await(i int, what string) {
	c.t.Helper()
	if err := c.servers[i].await(what); err != nil {
		c.t.Fatal(err)
	}
}

// await waits until the server has printed a line.
func (s *server) await(what string) error {
	timeout := time.After(startTimeout)
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				return fmt.Errorf("%s has ended", s.config.Name)
			}
			if line == what {
				return nil
			}
		case <-timeout:
			return fmt.Errorf("%s is not %s after %v", s.config.Name, what, startTimeout)
		}
	}
}

func (s *server) start() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	conf, err := json.Marshal(s.config)
	if err != nil {
		return err
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), envServer+"="+string(conf))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a NATS server: %w", err)
	}
	s.cmd, s.stdin, s.ready = cmd, stdin, false
	lines, ended := make(chan string, 4), make(chan struct{})
	s.lines, s.ended = lines, ended
	var read sync.WaitGroup
	read.Go(func() {
		defer close(lines)
		for r := bufio.NewScanner(stdout); r.Scan(); {
			lines <- r.Text() // it says less than the channel holds
		}
	})
	go func() {
		defer close(ended)
		read.Wait()
		cmd.Wait()
	}()
	return nil
}

func (s *server) kill() {
	if s.cmd == nil {
		return
	}
	s.cmd.Process.Kill()
	<-s.ended
	s.cmd = nil
}
