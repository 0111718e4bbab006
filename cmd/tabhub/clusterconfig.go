package main

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/natsd"
	"tabhub/hub/cluster"
	"tabhub/storage/private"
)

// clusterConfig is what the flags say of the cluster that the hub is a node of.
type clusterConfig struct {
	nats     []string // addresses; none: there is no cluster, unless embedded
	embedded bool
	peers    []string // of an embedded server, itself with them
	routes   string   // where an embedded server listens for its peers
	creds    string
	ca       string
	secret   string
	name     string
	url      string
	listen   string
	replicas int
}

// defaultRoutes is where an embedded NATS server listens for others.
const defaultRoutes = "0.0.0.0:6222"

// clusterFlags are the names of addFlags' flags.
var clusterFlags = []string{"cluster", "cluster-embedded", "cluster-peers", "cluster-listen", "cluster-creds", "cluster-ca", "cluster-replicas", "cluster-secret", "node-name", "node-url", "node-listen"}

func (c *clusterConfig) addFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&c.nats, "cluster", nil, "be a node of the cluster whose NATS servers are at this `address`, such as nats://nats-0:4222; may be repeated")
	f.BoolVar(&c.embedded, "cluster-embedded", false, "run a NATS server in this process; for programs that were built with -tags embedded_nats")
	f.StringSliceVar(&c.peers, "cluster-peers", nil, "with --cluster-embedded: `address` of the server of a node, such as tabhub-0:6222; three or five, the same ones on each node")
	f.StringVar(&c.routes, "cluster-listen", defaultRoutes, "with --cluster-peers: address to listen on for the servers of other nodes")
	f.StringVar(&c.creds, "cluster-creds", "", "`file` with credentials for NATS")
	f.StringVar(&c.ca, "cluster-ca", "", "`file` with the authority that NATS's certificate is from (PEM; default: those of the system)")
	f.IntVar(&c.replicas, "cluster-replicas", 0, "how many NATS servers keep what the cluster has: 1, 3 or 5 (default: 3, or 1 if there is one server)")
	f.StringVar(&c.secret, "cluster-secret", "", "`file` with a secret that all nodes have, of 32 bytes or more")
	f.StringVar(&c.name, "node-name", "", "name of this node; no other has it (default: the host's name)")
	f.StringVar(&c.url, "node-url", "", "where the other nodes reach this one, such as https://tabhub-0.tabhub:3301; only they do, and they need no certificate for it")
	f.StringVar(&c.listen, "node-listen", "", "address to listen on for the other nodes (default: that of --node-url)")
}

// on reports whether the hub is a node.
func (c *clusterConfig) on() bool { return len(c.nats) > 0 || c.embedded }

func (c *clusterConfig) check() error {
	if !c.on() {
		if c.secret != "" || c.url != "" || c.name != "" || c.listen != "" || c.creds != "" || c.ca != "" || c.replicas != 0 || len(c.peers) > 0 || c.routes != defaultRoutes {
			return usagef("--node-… and --cluster-… are for nodes of a cluster: they need --cluster with the address of NATS")
		}
		return nil
	}
	_, err := cluster.ParseURL(c.url)
	switch {
	case c.url == "":
		return usagef("--cluster needs --node-url, the address by which the other nodes reach this one, such as https://10.0.0.5:3301")
	case err != nil:
		return usagef("--node-url %q is not an address; write it with https, a host and a port, such as https://10.0.0.5:3301", c.url)
	case c.secret == "":
		return usagef("--cluster needs --cluster-secret, a file with a secret that all nodes have; `openssl rand -hex 32` makes one")
	case !c.embedded && (len(c.peers) > 0 || c.routes != defaultRoutes):
		return usagef("--cluster-peers and --cluster-listen are for --cluster-embedded")
	case c.embedded && (len(c.nats) > 0 || c.creds != "" || c.ca != ""):
		return usagef("--cluster-embedded runs a NATS server here; --cluster, --cluster-creds and --cluster-ca are for others")
	case c.embedded && !natsd.Built:
		return usagef("--cluster-embedded: %w", natsd.ErrNotBuilt)
	case c.replicas != 0 && c.replicas != 1 && c.replicas != 3 && c.replicas != 5:
		return usagef("--cluster-replicas is %d; it may be 1, 3 or 5", c.replicas)
	}
	for _, addr := range c.nats {
		if u, err := url.Parse(addr); err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" && u.Scheme != "ws" && u.Scheme != "wss" {
			return usagef("--cluster %q is not the address of a NATS server; write it as nats://nats-0:4222, or tls://…", addr)
		}
	}
	if err := natsd.Check(c.peers, c.routes); err != nil {
		return usagef("--cluster-peers, --cluster-listen: %w", err)
	}
	if c.listen != "" {
		if _, _, err := net.SplitHostPort(c.listen); err != nil {
			return usagef("--node-listen %q is not an address; write it as 0.0.0.0:3301", c.listen)
		}
	}
	_, err = c.readSecret()
	return err
}

// hasPassword reports whether an address of NATS has a user, a password or a token in it.
func (c *clusterConfig) hasPassword() bool {
	return slices.ContainsFunc(c.nats, func(addr string) bool {
		u, err := url.Parse(addr)
		return err != nil || u.User != nil
	})
}

// minSecret is how many bytes the secret of a cluster must have.
const minSecret = 32

// readSecret returns the secret of the cluster.
func (c *clusterConfig) readSecret() ([]byte, error) {
	b, err := os.ReadFile(c.secret)
	if err != nil {
		return nil, usagef("--cluster-secret cannot be read: %w", private.Explain(err))
	}
	if b = bytes.TrimSpace(b); len(b) < minSecret {
		return nil, usagef("--cluster-secret: %s holds %d bytes; it must be %d or more, such as `openssl rand -hex 32` makes", c.secret, len(b), minSecret)
	}
	return b, nil
}

// nodeName returns the name of this node.
func (c *clusterConfig) nodeName() (string, error) {
	if c.name != "" {
		return c.name, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return "", usagef("this machine has no name (%w); pass --node-name", err)
	}
	return name, nil
}

// nodeListen returns the address to listen on for other nodes.
func (c *clusterConfig) nodeListen() string {
	if c.listen != "" {
		return c.listen
	}
	host, err := cluster.ParseURL(c.url)
	if err != nil {
		panic(fmt.Sprintf("check has let pass %q", c.url))
	}
	return host
}
