package streams

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Conn is a connection to NATS.
type Conn = nats.Conn

// ConnectOptions say where NATS is. The zero value of all but URLs is usable.
type ConnectOptions struct {
	URLs        string // nats:// or tls://, with user and password if need be, separated by commas
	Credentials string // file with a user's JWT and key
	CA          string // file with the certificates of the authorities that sign the servers'
	Name        string // of the node, for people who look at NATS's connections
	Log         *slog.Logger
}

// connectEvery is how often Connect tries to reach a server that is not there yet.
const connectEvery = 500 * time.Millisecond

// Connect connects to NATS with the options of a node. It waits for a server until ctx ends. The
// connection reconnects until it is closed, and notices a silent server within seconds.
func Connect(ctx context.Context, o ConnectOptions) (*nats.Conn, error) {
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	opts := []nats.Option{
		nats.Name("tabhub node " + o.Name),
		nats.Timeout(5 * time.Second),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond),
		nats.ReconnectJitter(100*time.Millisecond, 250*time.Millisecond),
		nats.ReconnectBufSize(-1), // fail a send at once rather than send it late
		nats.PingInterval(time.Second),
		nats.MaxPingsOutstanding(1),
		nats.IgnoreAuthErrorAbort(), // a password may be changed on NATS's side first
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // nil: the node has closed it
				log.Warn("the connection to NATS is lost", "err", err)
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) { log.Info("connected to NATS again", "server", c.ConnectedServerName()) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Warn("NATS", "err", err) }),
	}
	if o.Credentials != "" {
		opts = append(opts, nats.UserCredentials(o.Credentials))
	}
	if o.CA != "" {
		opts = append(opts, nats.RootCAs(o.CA))
	}
	for waiting := false; ; waiting = true {
		c, err := nats.Connect(o.URLs, opts...)
		_, network := errors.AsType[net.Error](err)
		_, file := errors.AsType[*fs.PathError](err) // of the credentials
		switch {
		case err == nil:
			return c, nil
		case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
			return nil, fmt.Errorf("NATS at %s refuses this node: give a user that it knows, in the URL or as a credentials file (%w)", redact(o.URLs), err)
		case file || !errors.Is(err, nats.ErrNoServers) && !errors.Is(err, nats.ErrTimeout) && !network:
			return nil, fmt.Errorf("connect to NATS: %w", err)
		case !waiting:
			log.Warn("NATS cannot be reached yet; the node waits for it", "urls", redact(o.URLs), "err", err)
		}
		select {
		case <-time.After(connectEvery):
		case <-ctx.Done():
			return nil, fmt.Errorf("NATS cannot be reached at %s: is nats-server running there? (%w)", redact(o.URLs), err)
		}
	}
}

// Replicas returns the default number of replicas: 3, or 1 if the server is in no cluster.
func Replicas(c *nats.Conn) int {
	if c.ConnectedClusterName() == "" {
		return 1
	}
	return 3
}

// redact returns URLs without their users and passwords.
func redact(urls string) string {
	list := strings.Split(urls, ",")
	for i, s := range list {
		if u, err := url.Parse(strings.TrimSpace(s)); err == nil {
			u.User = nil
			list[i] = u.String()
		} else {
			list[i] = "(not a URL)"
		}
	}
	return strings.Join(list, ",")
}
