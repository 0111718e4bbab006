package natstest

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
)

// sharedAccounts is how many accounts a server has that tests share. When they are used up, as by
// -count, another one is started.
const sharedAccounts = 200

// shared is the server that the tests of this process share.
var shared struct {
	sync.Mutex
	server *server // nil: there is none yet
	used   int     // accounts
}

func accountName(i int) string { return "t" + strconv.Itoa(i) }

// Shared returns a server that the process starts once for all tests, with an account of it for this
// test alone: streams of one name in two of them have nothing to do with each other. The server
// cannot be killed or paused, and ends with the process.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	s, account, err := takeAccount()
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{t: t, opts: Options{User: account, Password: account}, servers: []*server{s}, shared: true}
	t.Cleanup(c.close)
	return c
}

// takeAccount creates a fresh account.
func takeAccount() (*server, string, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil || shared.used == sharedAccounts {
		s, err := startShared()
		if err != nil {
			return nil, "", err
		}
		shared.server, shared.used = s, 0
	}
	s, account := shared.server, accountName(shared.used)
	shared.used++
	if _, err := fmt.Fprintln(s.stdin, account); err != nil {
		return nil, "", err
	}
	return s, account, s.await(account)
}

// startShared starts a server that ends with this process.
func startShared() (*server, error) {
	port, _, err := hold()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "natstest-")
	if err != nil {
		return nil, err
	}
	s := &server{config: config{Name: "shared", Dir: dir, Port: port, Accounts: sharedAccounts}}
	if err := s.start(); err != nil {
		return nil, err
	}
	return s, s.await(sayReady)
}
