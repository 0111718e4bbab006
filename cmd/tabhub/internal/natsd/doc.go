// Package natsd runs a NATS server with JetStream inside a node, for a cluster that is to do
// without servers of its own.
//
// Its one client is the node in its process, over loopback, with a password. With the servers
// of other nodes it speaks TLS, of which both ends show a certificate that only who has the
// cluster's secret can make. The password is derived from the secret, which is never sent.
//
// The server is ten megabytes of program, so it is only in one that was built with the tag
// embedded_nats. Without it Start says so.
package natsd

import (
	"fmt"
	"log/slog"
	"net"
)

// Options are what Start needs. Dir, Name and Secret must be set.
type Options struct {
	Dir    string // what JetStream keeps; nobody else may write to it
	Name   string // of this server: unique, and the same after a restart
	Secret []byte // the cluster's

	// Peers are the addresses of the servers of all nodes, this one among them, as host:port:
	// three or five. They decide how many servers are a majority, so each node must have the
	// same ones. Nil: this server is alone.
	Peers []string

	Listen string       // host:port for the servers of other nodes, if there are peers; port 0: any
	Log    *slog.Logger // nil discards
}

// Check says what is wrong with the addresses of an embedded server.
func Check(peers []string, listen string) error {
	if n := len(peers); n != 0 && n != 3 && n != 5 {
		return fmt.Errorf("there are %d servers; it must be 3 or 5, this node's among them: with fewer, none may be away", n)
	}
	for i, addr := range peers {
		if host, port, err := net.SplitHostPort(addr); err != nil || host == "" || port == "" {
			return fmt.Errorf("%q is not an address; write it as tabhub-0.tabhub:6222", addr)
		}
		for _, other := range peers[:i] {
			if addr == other {
				return fmt.Errorf("%s is there twice", addr)
			}
		}
	}
	if len(peers) > 0 {
		if _, _, err := net.SplitHostPort(listen); err != nil {
			return fmt.Errorf("%q is not an address to listen on; write it as 0.0.0.0:6222", listen)
		}
	}
	return nil
}
