package main

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"tabhub/hub/cluster"
	"tabhub/storage/private"
)

// clusterConfig is what the flags say of the cluster that the hub is a node of.
type clusterConfig struct {
	nats   []string // addresses; none: there is no cluster
	creds  string
	ca     string
	secret string
	name   string
	url    string
}

// clusterFlags are the names of addFlags' flags.
var clusterFlags = []string{"cluster", "cluster-creds", "cluster-ca", "cluster-secret", "node-name", "node-url"}

func (c *clusterConfig) addFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&c.nats, "cluster", nil, "be a node of the cluster whose NATS servers are at this `address`, such as nats://nats-0:4222; may be repeated")
	f.StringVar(&c.creds, "cluster-creds", "", "`file` with credentials for NATS")
	f.StringVar(&c.ca, "cluster-ca", "", "`file` with the authority that NATS's certificate is from (PEM; default: those of the system)")
	f.StringVar(&c.secret, "cluster-secret", "", "`file` with a secret that all nodes have, of 32 bytes or more")
	f.StringVar(&c.name, "node-name", "", "name of this node; no other has it (default: the host's name)")
	f.StringVar(&c.url, "node-url", "", "where the other nodes reach this one, such as https://tabhub-0.tabhub:3301, and where it listens for them (at all addresses if it has a name); only they do, and they need no certificate for it")
}

// on reports whether the hub is a node.
func (c *clusterConfig) on() bool { return len(c.nats) > 0 }

func (c *clusterConfig) check() error {
	if !c.on() {
		if c.secret != "" || c.url != "" || c.name != "" || c.creds != "" || c.ca != "" {
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
	}
	for _, addr := range c.nats {
		if u, err := url.Parse(addr); err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" && u.Scheme != "ws" && u.Scheme != "wss" {
			return usagef("--cluster %q is not the address of a NATS server; write it as nats://nats-0:4222, or tls://…", addr)
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

// nodeListen returns the address to listen on for other nodes: that of --node-url if it is one of
// IP. A name may lead here by way of another address, so its port is open at all.
func (c *clusterConfig) nodeListen() string {
	addr, err := cluster.ParseURL(c.url)
	if err != nil {
		panic(fmt.Sprintf("check has let pass %q", c.url))
	}
	host, port, _ := net.SplitHostPort(addr)
	if _, err := netip.ParseAddr(host); err != nil {
		return ":" + port
	}
	return addr
}
