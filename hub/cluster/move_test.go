package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"tabhub/spec"
	"tabhub/storage/jetstream"
	"tabhub/storage/jetstream/natstest"
)

// place is a node.
type place struct {
	*Users
	hubs *hubs
}

// hubs are the hubs of a node's users: journals, and nothing else.
type hubs struct {
	store *jetstream.Store
	users *Users
	may   chan struct{} // said when a user may be taken over, and waited for then; nil: neither

	mu   sync.Mutex
	open map[spec.UserID]*hubOf
}

type hubOf struct {
	opened chan struct{}
	epoch  spec.Epoch
	err    error
}

// places are nodes that reach each other, by name.
type places map[string]*place

func (ps places) add(t testing.TB, nc *nats.Conn, name string) *place {
	t.Helper()
	h := &hubs{open: map[spec.UserID]*hubOf{}}
	n := ready(t, nc, name)
	var err error
	h.store, err = jetstream.Open(t.Context(), nc, jetstream.Options{
		Node: n.ID, Replicas: 1,
		May: func(ctx context.Context, user spec.UserID, from jetstream.Writer) error {
			err := h.users.May(ctx, user, from)
			if h.may != nil {
				h.may <- struct{}{}
				<-h.may
			}
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.store.Close() })
	h.users = NewUsers(UsersOptions{Node: n, Journals: h.store, Tenants: h})
	h.users.forward = func(to Member, _ spec.UserID) http.Handler { return remoteAt(to.Name) }
	h.users.ask = func(ctx context.Context, id, method, path string) (int, []byte, error) {
		name, _, err := splitID(id)
		if err != nil || ps[name] == nil {
			return 0, nil, errors.New("out of reach")
		}
		w := httptest.NewRecorder()
		ps[name].ServeHTTP(w, httptest.NewRequestWithContext(ctx, method, path, nil))
		return w.Code, w.Body.Bytes(), nil
	}
	p := &place{h.users, h}
	ps[name] = p
	for _, other := range ps {
		until(t, n, "it knows the others", func() bool { return n.Alive(other.node.ID()) })
		until(t, other.node, "the others know that it is ready", func() bool {
			m, _ := other.node.Member(n.ID())
			return m.State == Ready
		})
	}
	return p
}

type remoteAt string

func (remoteAt) ServeHTTP(http.ResponseWriter, *http.Request) {}

// serve serves a user's request that comes to a node, and returns the node that served it.
func (ps places) serve(t testing.TB, entrance string, user spec.UserID) string {
	t.Helper()
	at, err := ps[entrance].Locate(t.Context(), user)
	for range 5 {
		if err != nil {
			t.Fatalf("%s, by %s: %v", user, entrance, err)
		}
		if at == nil {
			return entrance
		}
		name := string(at.(remoteAt))
		if err = ps[name].Take(t.Context(), user); err == nil {
			return name
		}
		if by, ok := errors.AsType[*OwnedError](err); ok {
			at, err = remoteAt(by.By.Name), nil
		}
	}
	t.Fatalf("%s, by %s: forwarded in circles", user, entrance)
	return ""
}

// Has implements Tenants.
func (t *hubs) Has(user spec.UserID) bool {
	h := t.hub(user)
	if h == nil {
		return false
	}
	select {
	case <-h.opened:
		return h.err == nil
	default:
		return false
	}
}

func (t *hubs) hub(user spec.UserID) *hubOf {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open[user]
}

// lose closes a user's hub without releasing the journal, like a node that has lost touch.
func (t *hubs) lose(user spec.UserID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, user)
}

// Open implements Tenants.
func (t *hubs) Open(ctx context.Context, user spec.UserID) error {
	t.mu.Lock()
	h, mine := t.open[user], false
	if h == nil {
		h, mine = &hubOf{opened: make(chan struct{})}, true
		t.open[user] = h
	}
	t.mu.Unlock()
	if !mine {
		<-h.opened
		return h.err
	}
	state, err := t.store.Load(ctx, user, time.Time{})
	if h.err = err; err == nil {
		h.epoch = state.Epoch
	} else {
		t.lose(user)
	}
	close(h.opened)
	return err
}

// LetGo implements Tenants.
func (t *hubs) LetGo(ctx context.Context, user spec.UserID) error {
	h := t.hub(user)
	defer t.lose(user)
	return t.store.Release(ctx, user, h.epoch)
}

// Users implements Tenants.
func (t *hubs) Users() []spec.UserID {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Keys(t.open))
}

// Settle implements Tenants.
func (t *hubs) Settle(_ context.Context, user spec.UserID) error {
	if h := t.hub(user); h != nil {
		<-h.opened
	}
	return nil
}

// Busy implements Tenants.
func (t *hubs) Busy(spec.UserID) bool { return false }

// A user whose hub closed without releasing the journal still belongs to the node, and no other may
// take the user: the node must serve the user even while it drains.
func TestUserLeftBehind(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	ps := places{}
	a := ps.add(t, c.Conn(t), "a")
	ps.add(t, c.Conn(t), "b")
	if err := a.hubs.Open(t.Context(), "ann"); err != nil {
		t.Fatal(err)
	}
	a.hubs.lose("ann")
	if err := a.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, entrance := range []string{"b", "a"} {
		if by := ps.serve(t, entrance, "ann"); by != "a" {
			t.Errorf("by %s: served by %s", entrance, by)
		}
	}
}

// A drain that would leave users without a node is refused, and each drain can be undone.
func TestDrainLastNode(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	ps := places{}
	a := ps.add(t, c.Conn(t), "a")
	if err := a.Drain(t.Context()); !errors.Is(err, ErrNoNode) || a.node.Self().State != Ready {
		t.Errorf("the only node: %v, and is %s", err, a.node.Self().State)
	}
	b := ps.add(t, c.Conn(t), "b")
	ps.serve(t, "b", "ann")
	if err := a.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, b.node, "it knows", func() bool { m, _ := b.node.Member(a.node.ID()); return m.State == Draining })
	if err := b.Drain(t.Context()); !errors.Is(err, ErrNoNode) || b.node.Self().State != Ready {
		t.Errorf("the last node: %v, and is %s", err, b.node.Self().State)
	}
	if by := ps.serve(t, "a", "ann"); by != "b" {
		t.Errorf("served by %s", by)
	}
	a.Undrain()
	until(t, b.node, "it knows", func() bool { m, _ := b.node.Member(a.node.ID()); return m.State == Ready })
	if err := b.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if by := ps.serve(t, "b", "ann"); by != "a" {
		t.Errorf("served by %s", by)
	}
}

// A user whose hub is being opened when a drain begins does not stay on the node.
func TestDrainWhileOpening(t *testing.T) {
	t.Parallel()
	c := natstest.Shared(t)
	ps := places{}
	a := ps.add(t, c.Conn(t), "a")
	a.hubs.may = make(chan struct{})
	opened := make(chan error, 1)
	go func() { opened <- a.hubs.Open(t.Context(), "ann") }()
	<-a.hubs.may // the node was ready then
	ps.add(t, c.Conn(t), "b")
	drained := make(chan error, 1)
	go func() { drained <- a.Drain(t.Context()) }()
	until(t, a.node, "the drain begins", func() bool { return a.node.Self().State == Draining })
	close(a.hubs.may)
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
	if err := <-drained; err != nil || len(a.hubs.Users()) != 0 {
		t.Errorf("%v, with %q left", err, a.hubs.Users())
	}
	if by := ps.serve(t, "a", "ann"); by != "b" {
		t.Errorf("served by %s", by)
	}
}

// crowd are users, some of whom have calls that never end.
type crowd struct {
	Tenants
	mu    sync.Mutex
	users []spec.UserID
	left  func(spec.UserID)
}

func (c *crowd) Users() []spec.UserID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.users)
}

func (c *crowd) Has(user spec.UserID) bool { return slices.Contains(c.Users(), user) }

func (c *crowd) Settle(context.Context, spec.UserID) error { return nil }

func (c *crowd) Busy(user spec.UserID) bool { return user[0] == 'b' }

func (c *crowd) LetGo(_ context.Context, user spec.UserID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.users = slices.DeleteFunc(c.users, func(u spec.UserID) bool { return u == user })
	c.left(user)
	return nil
}

// Users with long calls must not keep other users on a draining node, which may be about to end.
func TestDrainWithCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := &crowd{left: func(user spec.UserID) {
			if took := time.Since(began); took > 0 == (user[0] == 'q') {
				t.Errorf("%s leaves after %s", user, took)
			}
		}}
		for _, kind := range []string{"busy", "quiet"} {
			for i := range 2 * maxMoves {
				c.users = append(c.users, spec.UserID(fmt.Sprint(kind, i)))
			}
		}
		here, there := Member{Name: "a", Incarnation: incarnationAt(began, ""), State: Ready}, Member{Name: "b", Incarnation: incarnationAt(began, ""), State: Ready}
		n := &Node{self: here, lease: Lease{hold: time.Hour}, entries: map[string]*entry{"b": {record: record{Member: there}, at: began}}}
		n.opts.timing.hold = time.Hour
		n.lease.grant(now())
		u := NewUsers(UsersOptions{Node: n, Tenants: c})
		if err := u.Drain(t.Context()); err != nil || len(c.users) != 0 {
			t.Errorf("%v, with %q left", err, c.users)
		}
	})
}
