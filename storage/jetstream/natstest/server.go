package natstest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
)

// envServer, if set, makes a process serve by the config that it holds.
const envServer = "NATSTEST_SERVER"

// What a server says.
const (
	sayOpen  = "open"  // takes connections
	sayReady = "ready" // takes part in JetStream
)

// config is a server's configuration.
type config struct {
	Options
	Name            string
	Dir             string
	Peers           int // that must be there until the leader is ready
	Port, RoutePort int // RoutePort is 0 if there is one server
	Routes          []string
	Accounts        int // which are made; the directory is removed at the end
}

func init() {
	conf := os.Getenv(envServer)
	if conf == "" {
		return
	}
	if err := serve(conf); err != nil {
		fmt.Fprintln(os.Stderr, "NATS server:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve serves until the standard input ends, and shuts down.
func serve(conf string) error {
	var c config
	if err := json.Unmarshal([]byte(conf), &c); err != nil {
		return err
	}
	opts := &natsserver.Options{
		ServerName: c.Name,
		Host:       "127.0.0.1",
		Port:       c.Port,
		NoSigs:     true,
		NoLog:      true,
		JetStream:  !c.NoJetStream,
		StoreDir:   c.Dir,
		Username:   c.User,
		Password:   c.Password,
		MaxPayload: c.MaxPayload,
		SyncAlways: c.SyncAlways,
	}
	for i := range c.Accounts {
		a := natsserver.NewAccount(accountName(i))
		opts.Accounts = append(opts.Accounts, a)
		opts.Users = append(opts.Users, &natsserver.User{Username: a.Name, Password: a.Name, Account: a})
	}
	if c.RoutePort != 0 {
		opts.Cluster = natsserver.ClusterOpts{
			Name: "natstest", Host: "127.0.0.1", Port: c.RoutePort,
			NoAdvertise: true, // a client behind a proxy must not find the way around it
		}
		for _, r := range c.Routes {
			u, err := url.Parse(r)
			if err != nil {
				return err
			}
			opts.Routes = append(opts.Routes, u)
		}
	}
	s, err := natsserver.NewServer(opts)
	if err != nil {
		return err
	}
	go func() {
		s.Start()
		if !s.ReadyForConnections(startTimeout) {
			fmt.Fprintln(os.Stderr, c.Name, "does not open")
			return
		}
		fmt.Println(sayOpen)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for c.RoutePort != 0 && !c.NoJetStream &&
			(!s.JetStreamIsCurrent() || s.JetStreamIsLeader() && len(s.JetStreamClusterPeers()) < c.Peers) {
			<-tick.C
		}
		fmt.Println(sayReady)
	}()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		a, err := s.LookupAccount(in.Text())
		if err == nil {
			err = a.EnableJetStream(nil, nil)
		}
		if err != nil {
			return err
		}
		fmt.Println(in.Text())
	}
	s.Shutdown()
	s.WaitForShutdown()
	if c.Accounts > 0 {
		return os.RemoveAll(c.Dir)
	}
	return nil
}
