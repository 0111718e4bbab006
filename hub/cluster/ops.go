package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync"
	"time"

	"tabhub/hub/cluster/forward"
	"tabhub/spec"
)

// Forwarder has the connections to other nodes.
func (u *Users) Forwarder() *forward.Forwarder { return u.forwarder }

// dial connects to another node.
func (u *Users) dial(ctx context.Context, id string) (net.Conn, error) {
	m, ok := u.node.Member(id)
	if !ok {
		return nil, errors.New("it is not, or no longer, a node of this cluster")
	}
	d := tls.Dialer{NetDialer: forward.Dialer(), Config: u.node.ClientTLS(m)}
	return d.DialContext(ctx, "tcp", m.Addr())
}

// askNode sends a request to another node, and returns the answer's status and body. It blocks. The error
// wraps ErrUnreachable if no connection could be made, the TLS handshake included.
func (u *Users) askNode(ctx context.Context, node, method, path string) (status int, body []byte, err error) {
	connected := false // in the last attempt: Do makes another when a reused connection has broken
	resp, err := u.forwarder.Do(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { connected = false },
		GotConn: func(httptrace.GotConnInfo) { connected = true },
	}), node, method, path)
	if err != nil && !connected {
		err = fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return resp.StatusCode, body, err
}

// cutDead closes the connections to and from dead nodes, until ctx ends: a stream through one would never
// end by itself.
func (u *Users) cutDead(ctx context.Context) {
	linked := map[string]bool{}
	for {
		changed := u.node.Changed().Wait()
		alive := map[string]bool{}
		for _, m := range u.node.Members() {
			alive[m.ID()] = true
		}
		for id := range linked {
			if !alive[id] {
				u.forwarder.CloseMember(id)
				u.node.peers.close(id)
			}
		}
		linked = alive
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// RetireSockets makes the tabs and browsers of remote users connect again through other nodes, after they
// have answered their pending requests. It blocks until they have gone or ctx is done.
func (u *Users) RetireSockets(ctx context.Context) {
	if u.forwarder.Stats().Splices == 0 {
		return
	}
	u.node.Leaving()
	if left := u.forwarder.AwaitWebSockets(ctx); left > 0 {
		u.log.Warn("tabs and browsers are disconnected before they have answered", "sockets", left)
	}
}

// pathAge answers a POST of another node with the time since this node renewed its lease, in ns.
const pathAge = "/.cluster/age"

// ErrNowhere says that no node has a user's hub open.
var ErrNowhere = errors.New("the user's hub is on no node; whichever is asked for it next opens it")

// ServeHTTP answers the requests that other nodes make to this one.
func (u *Users) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != pathAge {
		http.NotFound(w, r)
		return
	}
	fmt.Fprint(w, int64(u.node.Lease().Age()))
}

// Where returns a user's owner node. The error is ErrNowhere if there is none.
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

// unreachedAfter is how long a node may take to answer before it counts as unreached.
const unreachedAfter = 2 * time.Second

// Unreached returns the names of the nodes that this one has no connection to now. It asks all, and
// blocks for 2 s at most.
func (u *Users) Unreached(ctx context.Context) []string {
	names := u.askOthers(ctx, unreachedAfter, func(_ []byte, err error) bool { return err != nil })
	slices.Sort(names)
	return names
}

// askOthers asks all other nodes for the age of their leases, and returns the names of the nodes for
// whose answer, or failure to answer in time, is returns true. It blocks until all have answered.
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
