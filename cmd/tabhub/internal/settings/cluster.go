package settings

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/cluster"
	"tabhub/storage/private"
)

// clusterConfig is what the flags say of the cluster that the hub is a node of.
type clusterConfig struct {
	Nats   []string // addresses; none: there is no cluster
	Creds  string
	Ca     string
	secret string
	name   string
	URL    string
}

// On reports whether the hub is a node.
func (c *clusterConfig) On() bool { return len(c.Nats) > 0 }

func (c *clusterConfig) check() error {
	if !c.On() {
		if c.secret != "" || c.URL != "" || c.name != "" || c.Creds != "" || c.Ca != "" {
			return command.Usagef("node-… and cluster-… are for nodes of a cluster: they need cluster with the address of NATS")
		}
		return nil
	}
	_, err := cluster.ParseURL(c.URL)
	switch {
	case c.URL == "":
		return command.Usagef("cluster needs node-url, the address by which the other nodes reach this one, such as https://10.0.0.5:3301")
	case err != nil:
		return command.Usagef("node-url %q is not an address; write it with https, a host and a port, such as https://10.0.0.5:3301", c.URL)
	case c.secret == "":
		return command.Usagef("cluster needs cluster-secret, a file with a secret that all nodes have; `openssl rand -hex 32` makes one")
	}
	_, err = c.ReadSecret()
	return err
}

// checkNATS returns an error if that is not where a NATS server is.
func checkNATS(addr string) error {
	if u, err := url.Parse(addr); err != nil || u.Host == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
		return errors.New("it is not the address of a NATS server; write it as nats://nats-0:4222, or tls://…")
	}
	return nil
}

// HasPassword reports whether an address of NATS has a user, a password or a token in it.
func (c *clusterConfig) HasPassword() bool {
	return slices.ContainsFunc(c.Nats, func(addr string) bool {
		u, err := url.Parse(addr)
		return err != nil || u.User != nil
	})
}

// MinSecret is how many bytes the secret of a cluster must have.
const MinSecret = 32

// ReadSecret returns the secret of the cluster.
func (c *clusterConfig) ReadSecret() ([]byte, error) {
	b, err := os.ReadFile(c.secret)
	if err != nil {
		return nil, command.Usagef("cluster-secret cannot be read: %w", private.Explain(err))
	}
	if b = bytes.TrimSpace(b); len(b) < MinSecret {
		return nil, command.Usagef("cluster-secret: %s holds %d bytes; it must be %d or more, such as `openssl rand -hex 32` makes", c.secret, len(b), MinSecret)
	}
	return b, nil
}

// NodeName returns the name of this node.
func (c *clusterConfig) NodeName() (string, error) {
	if c.name != "" {
		return c.name, nil
	}
	name, err := os.Hostname()
	if err != nil {
		return "", command.Usagef("this machine has no name (%w); pass node-name", err)
	}
	return name, nil
}

// NodeListen returns the address to listen on for other nodes: that of node-url if it is one of
// IP. A name may lead here by way of another address, so its port is open at all.
func (c *clusterConfig) NodeListen() string {
	addr, err := cluster.ParseURL(c.URL)
	if err != nil {
		panic(fmt.Sprintf("check has let pass %q", c.URL))
	}
	host, port, _ := net.SplitHostPort(addr)
	if _, err := netip.ParseAddr(host); err != nil {
		return ":" + port
	}
	return addr
}
