package auth

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tabhub/describe"
	"tabhub/hub/policy"
	"tabhub/spec"
)

const (
	// tokenPrefix begins the tokens of clients, which are tbh_<id>_<secret>.
	tokenPrefix = "tbh_"
	// maxClientName is the length of a client's name in bytes.
	maxClientName = 64
	// maxClients is how many clients a user may have.
	maxClients = 256
	// saveUsed is how long the file may lack when a client was used last.
	saveUsed = time.Minute
)

// Clients are the MCP clients of a hub that have credentials of their own, those of all
// users. They are in a file, which only one process at a time may have open. Clients is
// safe for concurrent use. Verify and Identity do not block; what changes something blocks
// for as long as it takes to write a small file.
type Clients struct {
	path    string
	known   atomic.Pointer[known]
	unsaved atomic.Bool // somebody was used since the file was written

	mu      sync.Mutex // held for changes
	closed  bool
	revoked func(user spec.UserID, id string) // see OnRevoke; may be nil
}

// known is who there is. It is immutable.
type known struct {
	all   []*credential // the oldest first
	byID  map[string]*credential
	bySum map[sum]*credential // of those that have a token
}

func knownOf(all []*credential) *known {
	k := &known{all: all, byID: make(map[string]*credential), bySum: make(map[sum]*credential)}
	for _, c := range all {
		k.byID[c.ID] = c
		if c.sum != (sum{}) {
			k.bySum[c.sum] = c
		}
	}
	return k
}

// OpenClients reads the clients in the file at path. There are none if there is no file.
func OpenClients(path string) (*Clients, error) {
	all, err := readClients(path)
	if err != nil {
		return nil, err
	}
	c := &Clients{path: path}
	c.known.Store(knownOf(all))
	return c, nil
}

// Close writes what the file lacks. Nothing is changed from then on.
func (c *Clients) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.saveUsedLocked()
	c.closed = true
	return err
}

// ErrNoClient says that the hub does not know a client, or not any more.
var ErrNoClient = errors.New("the hub knows no such client; `tabhub token list` shows those that it knows")

// BadClientError is why a client is not made that was asked for; the text says it to who asks.
type BadClientError struct{ err error }

func (e *BadClientError) Error() string { return e.err.Error() }

func badClient(format string, args ...any) error { return &BadClientError{fmt.Errorf(format, args...)} }

var (
	errUnknownToken = errors.New("the hub does not know this client's token: it was revoked, or is another hub's; `tabhub install` and `tabhub token mint` make one")
	errExpiredToken = errors.New("this client's token has expired; `tabhub token mint` makes another")
)

// Verify returns who a token of Mint stands for.
func (c *Clients) Verify(token string) (Identity, error) {
	found := c.known.Load().bySum[sha256.Sum256([]byte(token))]
	switch {
	case found == nil:
		return Identity{}, errUnknownToken
	case found.expired():
		return Identity{}, errExpiredToken
	}
	return c.use(found), nil
}

// Identity returns whom the client of that id stands for, which has proved by another
// credential than a token of Mint who it is.
func (c *Clients) Identity(id string) (Identity, bool) {
	found := c.known.Load().byID[id]
	if found == nil || found.expired() {
		return Identity{}, false
	}
	return c.use(found), true
}

// use notes that a client is used now.
func (c *Clients) use(found *credential) Identity {
	found.used.Store(time.Now().Unix())
	if c.unsaved.CompareAndSwap(false, true) {
		time.AfterFunc(saveUsed, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			_ = c.saveUsedLocked() // of no weight; who changes something hears of the file
		})
	}
	return found.identity()
}

func (c *Clients) saveUsedLocked() error {
	if c.closed || !c.unsaved.CompareAndSwap(true, false) {
		return nil
	}
	return writeClients(c.path, c.known.Load().all, false)
}

// Mint is Add for a client that shows a token, which it returns. Nothing else has it.
func (c *Clients) Mint(client Client) (made Client, token string, err error) {
	client.ID = newClientID()
	token = tokenPrefix + client.ID + "_" + rand.Text()
	made, err = c.add(client, sha256.Sum256([]byte(token)))
	return made, token, err
}

// Add makes a client that has another credential than a token; see Identity. Its ID and
// Made are set here, and its name is cleaned. A client that was not named by the owner
// gets a number behind its name if that is taken.
func (c *Clients) Add(client Client) (Client, error) {
	client.ID = newClientID()
	return c.add(client, sum{})
}

// ClientID returns the ID of the client that a token of Mint is for.
func ClientID(token string) (string, bool) {
	rest, ok := strings.CutPrefix(token, tokenPrefix)
	id, _, whole := strings.Cut(rest, "_")
	return id, ok && whole
}

func newClientID() string { return strings.ToLower(rand.Text()[:16]) }

func (c *Clients) add(client Client, s sum) (Client, error) {
	client.Name = describe.Clean(client.Name, maxClientName)
	client.Made, client.LastUsed = time.Now().Round(time.Second), time.Time{}
	if client.expired() {
		return Client{}, badClient("the client's credential would have expired already")
	}
	if err := client.Scope.Check(); err != nil {
		return Client{}, badClient("%w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	rest := slices.DeleteFunc(slices.Clone(c.known.Load().all), (*credential).expired)
	name, err := freeName(rest, client)
	if err != nil {
		return Client{}, err
	}
	client.Name = name
	return client, c.changeLocked(append(rest, newCredential(client, s)))
}

// freeName returns the name that a client of its name gets beside the others.
func freeName(others []*credential, client Client) (string, error) {
	var taken []string // names, and IDs, which rules go by just as well
	n := 0
	for _, o := range others {
		if o.User == client.User {
			taken = append(taken, o.ID, o.Name)
			n++
		}
	}
	isTaken := func(name string) bool {
		return slices.ContainsFunc(taken, func(other string) bool { return strings.EqualFold(other, name) })
	}
	switch name := client.Name; {
	case n >= maxClients:
		return "", badClient("there are %d clients already; `tabhub token revoke` makes room", n)
	case name == "":
		return "", badClient("the client needs a name")
	case slices.Contains([]string{policy.OwnerID, policy.TokenID, policy.UnnamedID}, strings.ToLower(name)):
		return "", badClient("no client can be named %q: the hub itself means something else by it", name)
	case !isTaken(name):
		return name, nil
	case client.Kind == ClientToken:
		return "", badClient("there is a client named %q already; `tabhub token revoke` ends its token", name)
	}
	for i := 2; ; i++ {
		number := fmt.Sprintf(" %d", i)
		if name := describe.Clean(client.Name, maxClientName-len(number)) + number; !isTaken(name) {
			return name, nil
		}
	}
}

// changeLocked makes all the clients that there are, once they are in the file. It must
// not be changed any more.
func (c *Clients) changeLocked(all []*credential) error {
	if c.closed {
		return errors.New("the hub has ended")
	}
	c.unsaved.Store(false)
	if err := writeClients(c.path, all, true); err != nil {
		return err
	}
	c.known.Store(knownOf(all))
	return nil
}

// List returns the clients of a user, by name.
func (c *Clients) List(user spec.UserID) []Client {
	list := []Client{}
	for _, k := range c.known.Load().all {
		if k.User == user {
			list = append(list, k.client())
		}
	}
	slices.SortFunc(list, func(a, b Client) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return list
}

// Find returns the client of a user that has the ID or the name.
func (c *Clients) Find(user spec.UserID, idOrName string) (Client, error) {
	for _, k := range c.known.Load().all {
		if k.User == user && (k.ID == idOrName || strings.EqualFold(k.Name, idOrName)) {
			return k.client(), nil
		}
	}
	return Client{}, ErrNoClient
}

// OnRevoke has f called with each client that is revoked from now on, once it is. f must not
// call c.
func (c *Clients) OnRevoke(f func(user spec.UserID, id string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revoked = f
}

// Revoke takes the credential of a user's client back: all that was admitted with it ends.
// The error is ErrNoClient or that of the file.
func (c *Clients) Revoke(user spec.UserID, id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.known.Load()
	found := k.byID[id]
	if found == nil || found.User != user {
		return ErrNoClient
	}
	rest := slices.DeleteFunc(slices.Clone(k.all), func(o *credential) bool { return o == found })
	if err := c.changeLocked(rest); err != nil {
		return err
	}
	found.revoke()
	if c.revoked != nil {
		c.revoked(user, id)
	}
	return nil
}
