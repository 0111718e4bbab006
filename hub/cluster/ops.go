package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"tabhub/spec"
)

// Asker sends a request to another node, on its own behalf, and returns the answer's status and
// body. It blocks. An error wraps ErrUnreachable if there was no connection by which the request
// could be sent, the handshake of TLS with the node included.
type Asker func(ctx context.Context, node, method, path string) (status int, body []byte, err error)

// pathAge is where nodes ask each other, by POST, how long ago the node has renewed its lease, in ns.
const pathAge = "/.cluster/age"

// ErrNowhere says that no node has a user's hub open.
var ErrNowhere = errors.New("the user's hub is on no node; whichever is asked for it next opens it")

// ServeHTTP serves what other nodes ask of this one.
func (u *Users) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != pathAge {
		http.NotFound(w, r)
		return
	}
	fmt.Fprint(w, int64(u.node.Lease().Age()))
}

// Self is this node.
func (u *Users) Self() Member { return u.node.Self() }

// Members are all nodes, this one with them, by name.
func (u *Users) Members() []Member { return u.node.Members() }

// Where returns the node that has a user's hub. The error is ErrNowhere if none has it open.
func (u *Users) Where(ctx context.Context, user spec.UserID) (Member, error) {
	if u.tenants.Has(user) {
		return u.node.Self(), nil
	}
	w, err := u.journals.Writer(ctx, user)
	if err != nil {
		return Member{}, err
	}
	if m, ok := u.node.Member(w.Node); ok && !w.Released {
		return m, nil
	}
	return Member{}, ErrNowhere
}

// unreachedAfter is how long a node may take to answer that is taken for out of reach then.
const unreachedAfter = 2 * time.Second

// Unreached returns the names of the nodes that this one has no connection to now. It asks all, and
// blocks for 2 s at most.
func (u *Users) Unreached(ctx context.Context) []string {
	names := u.askOthers(ctx, unreachedAfter, func(_ []byte, err error) bool { return err != nil })
	slices.Sort(names)
	return names
}

// askOthers asks all other nodes how long ago they have renewed their leases, and returns the names
// of those whose answer, or failure to answer within a time, is of a kind. It blocks until then.
func (u *Users) askOthers(ctx context.Context, within time.Duration, is func(age []byte, err error) bool) (names []string) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	self := u.node.ID()
	var mu sync.Mutex
	var asking sync.WaitGroup
	for _, m := range u.node.Members() {
		if m.ID() == self {
			continue
		}
		asking.Go(func() {
			_, age, err := u.ask(ctx, m.ID(), http.MethodPost, pathAge)
			if is(age, err) {
				mu.Lock()
				defer mu.Unlock()
				names = append(names, m.Name)
			}
		})
	}
	asking.Wait()
	return names
}
