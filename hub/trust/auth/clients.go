package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"tabhub/describe"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/storage/private"
	"tabhub/tabtransport"
)

const (
	// tokenPrefix begins the tokens of clients, which are tbh_<id>_<secret>.
	tokenPrefix = "tbh_"
	// maxClientName is the length of a client's name in bytes.
	maxClientName = 64
	// maxClients is how many clients a user may have.
	maxClients = 256
)

// Clients are the MCP clients of a hub that have a credential. They are stored in one file for all
// users, which only one process at a time may have open, or in a document for each user: then the
// clients of loaded documents are known. Clients is safe for concurrent use. Verify, Identity, List and
// Find do not block; methods that change something block until the change is stored.
type Clients struct {
	dir  Directory // nil: there is none
	file *clientSet

	mu      sync.RWMutex // never held while something is written
	byID    map[string]*credential
	users   map[spec.UserID]*clientSet        // of documents
	revoked func(user spec.UserID, id string) // see OnRevoke; may be nil
}

// OpenClients reads the clients in the file at path. There are none if there is no file.
func OpenClients(path string) (*Clients, error) {
	doc, err := private.OpenDocument(path)
	if err != nil {
		return nil, fmt.Errorf("the clients cannot be read: %w", err)
	}
	all, err := readClients(doc.Body, func(Client) error { return nil })
	if err != nil {
		return nil, fmt.Errorf("%s holds no clients; restore it, or delete it and run `tabhub install` and `tabhub token mint` again for yours", path)
	}
	c := NewClients(nil)
	c.file = &clientSet{doc: doc}
	c.set(c.file, all)
	return c, nil
}

// NewClients returns Clients of users whose documents are loaded. dir, if not nil, learns
// whose their tokens are.
func NewClients(dir Directory) *Clients {
	return &Clients{dir: dir, byID: make(map[string]*credential), users: make(map[spec.UserID]*clientSet)}
}

// Load makes a user's clients known that are in doc, and has them kept there. The user has
// been loaded no more than once, but for what was unloaded.
func (c *Clients) Load(user spec.UserID, doc private.Document) error {
	all, err := readClients(doc.Body, func(of Client) error {
		if of.User != user {
			return fmt.Errorf("one is user %q's", of.User)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("the clients of user %q cannot be read: %w", user, err)
	}
	s := &clientSet{doc: doc}
	c.mu.Lock()
	c.users[user] = s
	c.mu.Unlock()
	c.set(s, all)
	return nil
}

// Settle stores when a user's clients were used last. It does not block: a change that is being stored
// includes that.
func (c *Clients) Settle(user spec.UserID) {
	if s := c.setOf(user); s != nil && s.mu.TryLock() {
		defer s.mu.Unlock()
		_ = s.saveUsedLocked() // the times matter little
	}
}

// Unload forgets a user's clients. Connections with their credentials end with ErrGoingAway, and nothing
// of the user's changes until the next Load.
func (c *Clients) Unload(user spec.UserID) {
	s := c.setOf(user)
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = errUnloaded
	gone := s.all
	c.set(s, nil)
	c.mu.Lock()
	delete(c.users, user)
	c.mu.Unlock()
	for _, o := range gone {
		o.end(tabtransport.ErrGoingAway)
	}
}

// Close writes what the file or the documents lack. Nothing is changed from then on.
func (c *Clients) Close() error {
	c.mu.RLock()
	var sets []*clientSet
	if c.file != nil {
		sets = append(sets, c.file)
	}
	for _, s := range c.users {
		sets = append(sets, s)
	}
	c.mu.RUnlock()
	var errs []error
	for _, s := range sets {
		s.mu.Lock()
		errs = append(errs, s.saveUsedLocked())
		s.closed = errEnded
		s.mu.Unlock()
	}
	return errors.Join(errs...)
}

// setOf returns where a user's clients are kept, nil if they are not known here.
func (c *Clients) setOf(user spec.UserID) *clientSet {
	if c.file != nil {
		return c.file
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.users[user]
}

// set makes all the clients of s. The caller holds s.mu, or no other goroutine has s yet.
func (c *Clients) set(s *clientSet, all []*credential) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range s.all {
		delete(c.byID, o.ID)
	}
	for _, o := range all {
		if o.set == nil { // or it is read already
			o.set = s
		}
		c.byID[o.ID] = o
	}
	s.all = all
}

func (c *Clients) find(id string) *credential {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.byID[id]
}

// ErrNoClient says that the hub does not know a client, or not any more.
var ErrNoClient = errors.New("the hub knows no such client; `tabhub token list` shows those that it knows")

// BadClientError says why a client cannot be made, in words for the caller of the API.
type BadClientError struct{ err error }

func (e *BadClientError) Error() string { return e.err.Error() }

func badClient(format string, args ...any) error { return &BadClientError{fmt.Errorf(format, args...)} }

var (
	errUnknownToken = errors.New("the hub does not know this client's token: it was revoked, or is another hub's; `tabhub install` and `tabhub token mint` make one")
	errExpiredToken = errors.New("this client's token has expired; `tabhub token mint` makes another")
	errUnloaded     = fmt.Errorf("the clients cannot be changed here: %w", tabtransport.ErrGoingAway)
	errEnded        = errors.New("the hub has ended")
)

// Verify returns the identity of a token that Mint has made.
func (c *Clients) Verify(token string) (Identity, error) {
	id, _ := ClientID(token)
	found := c.find(id)
	switch {
	case found == nil || subtle.ConstantTimeCompare([]byte(sumOf(token)), []byte(found.sum)) != 1:
		return Identity{}, errUnknownToken
	case found.expired():
		return Identity{}, errExpiredToken
	}
	return c.use(found), nil
}

// Identity returns the identity of the client with an id, which it has proved by another credential than
// a token of Mint.
func (c *Clients) Identity(id string) (Identity, bool) {
	found := c.find(id)
	if found == nil || found.expired() {
		return Identity{}, false
	}
	return c.use(found), true
}

// use notes that a client is used now. The time is stored with the next change, or at the end, so that use
// does not wear out the disk.
func (c *Clients) use(found *credential) Identity {
	found.used.Store(time.Now().Unix())
	found.set.unsaved.Store(true)
	return found.identity()
}

func (s *clientSet) saveUsedLocked() error {
	if s.closed != nil || !s.unsaved.CompareAndSwap(true, false) {
		return nil
	}
	return s.save(s.all, false)
}

// Mint is Add for a client that shows a token, which it returns. Nothing else has it.
func (c *Clients) Mint(client Client) (made Client, token string, err error) {
	client.ID = newClientID()
	token = tokenPrefix + client.ID + "_" + rand.Text()
	made, err = c.add(client, sumOf(token))
	return made, token, err
}

// Add makes a client that has another credential than a token; see Identity. Its ID and
// Made are set here, and its name is cleaned. A client that was not named by the owner
// gets a number behind its name if that is taken.
func (c *Clients) Add(client Client) (Client, error) {
	client.ID = newClientID()
	return c.add(client, "")
}

// ClientID returns the ID of the client that a token of Mint is for.
func ClientID(token string) (string, bool) {
	rest, ok := strings.CutPrefix(token, tokenPrefix)
	id, _, whole := strings.Cut(rest, "_")
	return id, ok && whole
}

func newClientID() string { return strings.ToLower(rand.Text()[:16]) }

func (c *Clients) add(client Client, sum string) (Client, error) {
	client.Name = describe.Clean(client.Name, maxClientName)
	client.Made, client.LastUsed = time.Now().Round(time.Second), time.Time{}
	if client.expired() {
		return Client{}, badClient("the client's credential would have expired already")
	}
	if err := client.Scope.Check(); err != nil {
		return Client{}, badClient("%w", err)
	}
	s := c.setOf(client.User)
	if s == nil {
		return Client{}, errUnloaded
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := slices.DeleteFunc(slices.Clone(s.all), (*credential).expired)
	name, err := freeName(rest, client)
	if err != nil {
		return Client{}, err
	}
	client.Name = name
	hinted := c.dir != nil && sum != ""
	if hinted {
		// First, as a token that no node can place is worth nothing.
		if err := c.dir.Hint(client.ID, client.User, client.Expires); err != nil {
			return Client{}, err
		}
	}
	err = c.changeLocked(s, append(rest, newCredential(client, sum)))
	if err != nil && hinted {
		c.dir.Forget(client.ID)
	}
	return client, err
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

// changeLocked makes all the clients of s, once they are kept. It must not be changed any
// more.
func (c *Clients) changeLocked(s *clientSet, all []*credential) error {
	if s.closed != nil {
		return s.closed
	}
	s.unsaved.Store(false)
	if err := s.save(all, true); err != nil {
		return err
	}
	c.set(s, all)
	return nil
}

// all returns the clients of a user, and of others if they are in one file.
func (c *Clients) all(user spec.UserID) []*credential {
	s := c.setOf(user)
	if s == nil {
		return nil
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return s.all
}

// List returns the clients of a user, by name.
func (c *Clients) List(user spec.UserID) []Client {
	list := []Client{}
	for _, k := range c.all(user) {
		if k.User == user {
			list = append(list, k.client())
		}
	}
	slices.SortFunc(list, func(a, b Client) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return list
}

// Find returns the client of a user that has the ID or the name.
func (c *Clients) Find(user spec.UserID, idOrName string) (Client, error) {
	for _, k := range c.all(user) {
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
// The error is ErrNoClient or why that cannot be kept.
func (c *Clients) Revoke(user spec.UserID, id string) error {
	s := c.setOf(user)
	if s == nil {
		return ErrNoClient
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := c.find(id)
	if found == nil || found.User != user {
		return ErrNoClient
	}
	rest := slices.DeleteFunc(slices.Clone(s.all), func(o *credential) bool { return o == found })
	if err := c.changeLocked(s, rest); err != nil {
		return err
	}
	found.end(context.Canceled)
	c.mu.RLock()
	revoked := c.revoked
	c.mu.RUnlock()
	if revoked != nil {
		revoked(user, id)
	}
	if c.dir != nil {
		c.dir.Forget(id)
	}
	return nil
}
