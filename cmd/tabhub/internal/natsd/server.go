//go:build embedded_nats

package natsd

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Built reports whether this program has a NATS server inside.
const Built = true

// ErrNotBuilt is Start's error in a program without the server.
var ErrNotBuilt = errors.New("this program has no NATS server inside")

const (
	poll     = 10 * time.Millisecond // the server tells nobody when it is ready
	answer   = time.Second           // how long a leader may take
	sayAfter = 5 * time.Second
)

// Server is a NATS server in this process. It is safe for concurrent use.
type Server struct {
	server   *server.Server
	password password
	peers    int
	say      time.Duration // how often Ready says for whom it waits
	log      *logger
	close    sync.Once
}

// Start starts a server and returns before it can be used: see Ready. The owner must Close it.
func Start(opts Options) (*Server, error) {
	if err := Check(opts.Peers, opts.Listen); err != nil {
		return nil, err
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	key, err := derive(opts.Secret, "tabhub nats client 1")
	if err != nil {
		return nil, err
	}
	o := &server.Options{
		ServerName:             opts.Name,
		Host:                   "127.0.0.1",
		Port:                   server.RANDOM_PORT,
		NoSigs:                 true,
		JetStream:              true,
		DisableJetStreamBanner: true,
		StoreDir:               opts.Dir,
		// What was acknowledged is on the disk: the acknowledgement is what fences a node that
		// lost its users, and it must outlast the loss of power of all servers at once.
		SyncAlways: true,
	}
	client := password(hex.EncodeToString(key))
	o.CustomClientAuthentication = client
	for _, addr := range opts.Peers {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: addr})
	}
	if len(opts.Peers) > 0 {
		cluster, err := routes(opts.Listen, opts.Secret)
		if err != nil {
			return nil, err
		}
		o.Cluster = cluster
	}
	inside, err := server.NewServer(o)
	if err != nil {
		return nil, fmt.Errorf("the NATS server inside: %w", err)
	}
	s := &Server{server: inside, password: client, say: sayAfter, peers: len(opts.Peers), log: &logger{log: opts.Log.With("part", "nats")}}
	inside.SetLogger(s.log, false, false)
	inside.Start()
	if err := s.listens(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// listens waits until the server listens for its client and, if there are any, for others.
func (s *Server) listens() error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for s.server.Addr() == nil || s.peers > 0 && s.server.ClusterAddr() == nil {
		if err := s.log.failed(); err != nil {
			return err
		}
		<-tick.C
	}
	return s.log.failed()
}

// routes returns how servers speak with each other.
func routes(listen string, secret []byte) (server.ClusterOpts, error) {
	config, err := tlsConfig(secret)
	if err != nil {
		return server.ClusterOpts{}, err
	}
	host, text, _ := net.SplitHostPort(listen) // Check has seen to it
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return server.ClusterOpts{}, fmt.Errorf("%q is no port to listen on", text)
	}
	return server.ClusterOpts{
		Name: "tabhub", Host: host, Port: int(port), TLSConfig: config, TLSTimeout: 5,
		NoAdvertise: true, // a node speaks to its own server only
	}, nil
}

// Ready waits until the servers have elected a leader that answers here. The first election
// needs all servers, later ones more than half. The log says how many are there.
func (s *Server) Ready(ctx context.Context) error {
	nc, err := nats.Connect(s.URL(), nats.MaxReconnects(-1))
	if err != nil {
		return fmt.Errorf("the NATS server inside: %w", err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	tick, say := time.NewTicker(poll), time.NewTicker(s.say)
	defer tick.Stop()
	defer say.Stop()
	for {
		// Just after the start a question may get lost.
		if s.server.JetStreamIsCurrent() && answers(ctx, js) {
			return nil
		}
		select {
		case <-tick.C:
		case <-say.C:
			s.log.log.Info("waiting for the NATS servers of other nodes; the first start needs all, a later one more than half", "found", s.server.NumRemotes()+1, "of", s.peers)
		case <-ctx.Done():
			return fmt.Errorf("the NATS servers of the other nodes: %w", context.Cause(ctx))
		}
	}
}

func answers(ctx context.Context, js jetstream.JetStream) bool {
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	_, err := js.AccountInfo(ctx)
	return err == nil
}

// URL returns where the node finds the server. There is a password in it, so it is not for logs.
func (s *Server) URL() string {
	return (&url.URL{Scheme: "nats", User: url.UserPassword("tabhub", string(s.password)), Host: s.server.Addr().String()}).String()
}

// Close has another server lead where this one does, and waits for it to end.
func (s *Server) Close() {
	s.close.Do(func() {
		s.server.Shutdown()
		s.server.WaitForShutdown()
	})
}

// password is what the client of a server must show.
type password string

// Check implements server.Authentication.
func (p password) Check(c server.ClientAuthentication) bool {
	return subtle.ConstantTimeCompare([]byte(c.GetOpts().Password), []byte(p)) == 1
}
