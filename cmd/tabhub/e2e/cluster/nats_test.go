package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tabhub/cmd/tabhub/e2e/rig"
	"tabhub/cmd/tabhub/internal/porttest"
)

// natsVar has the options of the NATS server that this program is, in the place of tests.
const natsVar = "TABHUB_CLUSTER_TEST_NATS"

// natsOptions are those of one server.
type natsOptions struct {
	Name, Client, Route string // addresses
	Routes              []string
	Dir                 string
}

// runNATS is a server until stdin ends.
func runNATS(options string) error {
	var o natsOptions
	if err := json.Unmarshal([]byte(options), &o); err != nil {
		return err
	}
	host, port, err := split(o.Client)
	if err != nil {
		return err
	}
	opts := &server.Options{ServerName: o.Name, Host: host, Port: port, JetStream: true, StoreDir: o.Dir, NoSigs: true, NoLog: false}
	opts.Cluster.Name = "tabhub"
	if opts.Cluster.Host, opts.Cluster.Port, err = split(o.Route); err != nil {
		return err
	}
	// Nodes reach the servers by proxies alone.
	opts.Cluster.NoAdvertise = true
	for _, route := range o.Routes {
		opts.Routes = append(opts.Routes, &url.URL{Scheme: "nats", Host: route})
	}
	s, err := server.NewServer(opts)
	if err != nil {
		return err
	}
	s.ConfigureLogger()
	s.Start()
	io.Copy(io.Discard, os.Stdin)
	s.Shutdown()
	return nil
}

func split(addr string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, err
	}
	port, err = strconv.Atoi(text)
	return host, port, err
}

// natsServer is one server, with the processes that run it one after the other.
type natsServer struct {
	t       testing.TB
	options natsOptions
	process *rig.Process
	stdin   io.Closer
}

// startNATS starts a cluster of n servers and waits until JetStream can be used.
func startNATS(t testing.TB, n int) []*natsServer {
	t.Helper()
	servers := make([]*natsServer, n)
	var routes []string
	for i := range servers {
		route := porttest.Free(t)
		routes = append(routes, route)
		servers[i] = &natsServer{t: t, options: natsOptions{
			Name: fmt.Sprint("nats", i+1), Client: porttest.Free(t), Route: route, Dir: filepath.Join(t.TempDir(), "js"),
		}}
	}
	for _, s := range servers {
		s.options.Routes = routes
		s.start()
		t.Cleanup(s.stop)
	}
	nc := connect(t, servers)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	wait(t, "JetStream is there", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := js.AccountInfo(ctx)
		return err == nil
	})
	return servers
}

// connect connects to the servers, not by way of a proxy.
func connect(t testing.TB, servers []*natsServer) *nats.Conn {
	t.Helper()
	var urls []string
	for _, s := range servers {
		urls = append(urls, "nats://"+s.options.Client)
	}
	var nc *nats.Conn
	wait(t, "NATS is there", func() (ok bool) {
		var err error
		nc, err = nats.Connect(joined(urls), nats.MaxReconnects(-1))
		return err == nil
	})
	t.Cleanup(nc.Close)
	return nc
}

func (s *natsServer) start() {
	s.t.Helper()
	options, err := json.Marshal(s.options)
	if err != nil {
		s.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), natsVar+"="+string(options))
	if s.stdin, err = cmd.StdinPipe(); err != nil {
		s.t.Fatal(err)
	}
	s.process = rig.Start(s.t, cmd)
}

func (s *natsServer) stop() {
	s.stdin.Close()
	s.process.AwaitEnd()
}

// kill ends the server as SIGKILL does, and waits until it is gone.
func (s *natsServer) kill() {
	s.process.Cmd.Process.Kill()
	<-s.process.Done
}

// leader returns the server that leads a stream.
func leader(t testing.TB, servers []*natsServer, stream string) *natsServer {
	t.Helper()
	js, err := jetstream.New(connect(t, servers))
	if err != nil {
		t.Fatal(err)
	}
	var found *natsServer
	wait(t, "the stream has a leader", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		s, err := js.Stream(ctx, stream)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			t.Fatalf("there is no stream %s", stream)
		}
		if err != nil {
			return false
		}
		for _, server := range servers {
			if info := s.CachedInfo(); info.Cluster != nil && info.Cluster.Leader == server.options.Name {
				found = server
			}
		}
		return found != nil
	})
	return found
}
