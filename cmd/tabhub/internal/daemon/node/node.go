package node

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/cmd/tabhub/internal/telemetry"
	"tabhub/hub/cluster"
	"tabhub/hub/face/httpd"
	"tabhub/hub/tenant"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/storage/jetstream"
	"tabhub/storage/jetstream/streamlog"
	"tabhub/storage/jetstream/streams"
	"tabhub/tabtransport/pairing"
)

const (
	// joinTimeout is how long a node may take to join: that of its name that has died is waited
	// for, and NATS may be electing.
	joinTimeout = time.Minute
	// idleUser is how long the hub of a user stays open on a node without use.
	idleUser = 30 * time.Minute
	// lostGrace is how long the hubs of a node that has lost its lease may take to end.
	lostGrace = 8 * time.Second
	// giveBackTimeout is how long a node may take to say that others may have a user. A node that is
	// not notified waits until the lease has ended.
	giveBackTimeout = 2 * time.Second
	// leaveTimeout is how long a node that ends takes to say so.
	leaveTimeout = 2 * time.Second
	// probeTime is how long another node may take to look at the listener for nodes.
	probeTime = 5 * time.Second
)

// EndReplaced is why a node ends whose name another has taken.
const EndReplaced = "replaced"

// Options are what a node is of its process.
type Options struct {
	Config  *settings.Config
	Dir     home.Dir
	Log     *slog.Logger
	Version string
	Tenants *tenant.Registry
	Streams func(spec.UserID) int // event streams of dashboards
	End     func(why string)      // asks the process to end

	Written func(time.Duration) // a write of a journal took so long
	Opened  func(time.Duration) // so did the opening of a user's hub
}

// Node is what a process has as a node of a cluster.
type Node struct {
	Options
	*cluster.Node
	Shared   *Shared
	conn     *streams.Conn // of the lease and what is brief
	data     *streams.Conn // of journals and records: what users write must not keep the lease waiting
	Store    *jetstream.Store
	records  *streamlog.Logs
	deferred *record.Deferred // lines of users that are no longer the node's
	secret   []byte
	Users    *cluster.Users
	ln       *net.TCPListener // for other nodes
	server   *http.Server     // of ln
	probing  sync.WaitGroup   // answers on ln until the hub is served there
	watching sync.WaitGroup
	stop     context.CancelFunc
}

// Join makes the process a node of its cluster. It takes no users before Begin.
// The caller calls close.
func Join(ctx context.Context, o Options) (*Node, error) {
	joining, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	n := &Node{Options: o, deferred: record.NewDeferred(maxDeferred)}
	err := n.join(joining)
	if err == nil {
		return n, nil
	}
	_ = n.Close() // err says more
	if joining.Err() != nil && ctx.Err() == nil {
		return nil, command.Usagef("the cluster was not joined within %s: %w", joinTimeout, err)
	}
	return nil, err
}

func (n *Node) join(ctx context.Context) (err error) {
	c := &n.Config.Cluster
	if n.secret, err = c.ReadSecret(); err != nil {
		return err
	}
	name, err := c.NodeName()
	if err != nil {
		return err
	}
	log := n.Log.With("node", name)
	urls := strings.Join(c.Nats, ",")
	connect := func(of string) (*streams.Conn, error) {
		return streams.Connect(ctx, streams.ConnectOptions{URLs: urls, Credentials: c.Creds, CA: c.Ca, Name: name + " " + of, Log: log.With("of", of)})
	}
	if n.conn, err = connect("lease"); err != nil {
		return command.Usage(err)
	}
	if n.data, err = connect("data"); err != nil {
		return command.Usage(err)
	}
	replicas := streams.Replicas(n.conn)
	n.Node, err = cluster.Join(ctx, cluster.Options{
		Conn: n.conn, Name: name, URL: c.URL, Secret: n.secret, Version: n.Version, Replicas: replicas,
		HasUsers: func(ctx context.Context) (bool, error) { return jetstream.HasUsers(ctx, n.data) },
		Serve:    n.listen, Lost: n.lost, Log: log,
	})
	if err != nil {
		return command.Usage(err)
	}
	if n.Shared, err = n.share(ctx); err != nil {
		return err
	}
	n.Store, err = jetstream.Open(ctx, n.data, jetstream.Options{
		Node: n.ID, Replicas: replicas, Log: log,
		Written: n.Written,
		May: func(ctx context.Context, user spec.UserID, from jetstream.Writer) error {
			return n.Users.May(ctx, user, from)
		},
	})
	if err != nil {
		return command.Usage(err)
	}
	if n.records, err = n.openRecords(ctx, replicas); err != nil {
		return command.Usage(err)
	}
	n.Users = cluster.NewUsers(cluster.UsersOptions{
		Node: n.Node, Journals: n.Store, Tenants: nodeTenants{n.Tenants}, Log: log,
		Opened: n.Opened,
	})
	return nil
}

// hubDocument is what all nodes must agree on for browsers to take them for one hub.
type hubDocument struct {
	ID  string      `json:"id"`
	Key pairing.Key `json:"key"` // of copies of the extension
}

// The documents that all nodes share.
const (
	hubDoc   = "hub"
	tokenDoc = "token"
)

// documentTimeout is how long a document that all nodes share may take.
const documentTimeout = 5 * time.Second

// share returns what the nodes have in common. What there is not yet this one gives.
func (n *Node) share(ctx context.Context) (*Shared, error) {
	id, err := n.Dir.Instance()
	if err != nil {
		return nil, command.Usage(err)
	}
	own, err := json.Marshal(hubDocument{id, pairing.NewKey()})
	if err != nil {
		return nil, err
	}
	common, err := n.Documents().Create(ctx, hubDoc, own)
	if err != nil {
		return nil, err
	}
	var hub hubDocument
	if err := json.Unmarshal(common, &hub); err != nil {
		return nil, fmt.Errorf("what the nodes have in common cannot be read: %w", err)
	}
	s := &Shared{Hub: hub.ID, Key: hub.Key, Seal: n.Documents(), Token: n.token, NewToken: n.newToken}
	switch n.Config.Auth {
	case "jwt":
		s.Dir = n.Hints()
	case "token": // `tabhub token` prints the nodes' from now on
		_, err = n.token()
	}
	return s, err
}

// token returns the token of a hub without accounts, which the file of the data directory then
// has, too.
func (n *Node) token() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), documentTimeout)
	defer cancel()
	own, err := n.Dir.MakeToken()
	if err != nil {
		return "", err
	}
	common, err := n.Documents().Create(ctx, tokenDoc, []byte(own))
	if err == nil && string(common) != own {
		err = n.Dir.SetToken(string(common))
	}
	return string(common), err
}

// followToken has the file of the data directory follow when another node replaces the token.
func (n *Node) followToken(ctx context.Context) {
	for {
		err := n.Documents().Follow(ctx, tokenDoc, func(token []byte) {
			if err := n.Dir.SetToken(string(token)); err != nil {
				n.Log.Warn("`tabhub token` prints an old token", "err", err)
			}
		})
		if ctx.Err() != nil {
			return
		}
		n.Log.Warn("`tabhub token` may print an old token if another node replaces it now", "err", err)
		select {
		case <-time.After(documentTimeout):
		case <-ctx.Done():
			return
		}
	}
}

// newToken replaces it for all nodes.
func (n *Node) newToken() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), documentTimeout)
	defer cancel()
	token := rand.Text() + rand.Text()
	if err := n.Documents().Replace(ctx, tokenDoc, []byte(token)); err != nil {
		return "", err
	}
	return token, n.Dir.SetToken(token)
}

// listen opens the listener for other nodes, which try to reach it while the node joins.
func (n *Node) listen(config *tls.Config) error {
	addr := n.Config.Cluster.NodeListen()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return command.Usagef("the address for other nodes cannot be listened on; set node-url to another address: %w", err)
	}
	n.ln = ln.(*net.TCPListener)
	n.probing.Go(func() {
		for {
			conn, err := n.ln.Accept()
			if err != nil {
				return
			}
			n.probing.Go(func() {
				defer conn.Close()
				conn.SetDeadline(time.Now().Add(probeTime))
				if secure := tls.Server(conn, config); secure.Handshake() == nil {
					_, _ = io.Copy(io.Discard, secure)
				}
			})
		}
	})
	return nil
}

// Begin serves other nodes, and takes users from now on. serve has a listener served until it ends;
// forwarded serves a request that another node has taken.
func (n *Node) Begin(ctx context.Context, serve func(net.Listener, func(net.Listener) error), forwarded func(http.ResponseWriter, *http.Request) error, errorLog *log.Logger) {
	n.ln.SetDeadline(time.Unix(1, 0))
	n.probing.Wait()
	n.ln.SetDeadline(time.Time{})
	n.server = cluster.NewServer(n.Users.Forwarded(forwarded), errorLog)
	go serve(n.Listen(n.ln), func(ln net.Listener) error {
		if err := n.server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	ctx, n.stop = context.WithCancel(context.WithoutCancel(ctx))
	n.watching.Go(func() {
		select {
		case <-n.Done():
			n.End(EndReplaced)
		case <-ctx.Done():
		}
	})
	n.watching.Go(func() { n.letIdleGo(ctx) })
	if n.Config.Auth == "token" {
		n.watching.Go(func() { n.followToken(ctx) })
	}
	n.watching.Go(func() { n.Users.Watch(ctx, n.lost) })
	n.SetUsers(n.Tenants.Len)
	n.Ready()
}

// StopServing ends the connections of other nodes, once what they have asked is answered or ctx is done.
func (n *Node) StopServing(ctx context.Context) error {
	err := n.server.Shutdown(ctx)
	if err != nil {
		n.server.Close()
	}
	return err
}

// locator is an httpd.Locator.
type locator struct {
	*cluster.Users
	node        *Node
	credentials auth.Verifier
}

// Locator returns what finds users for the door, which credentials lets in.
func (n *Node) Locator(credentials auth.Verifier) httpd.Locator {
	return locator{n.Users, n, credentials}
}

// UserOf implements httpd.Locator.
func (l locator) UserOf(ctx context.Context, credential string) (spec.UserID, error) {
	if id, ok := auth.HintOf(credential); ok {
		return l.node.Hints().UserOf(ctx, id)
	}
	id, err := l.credentials.Verify(credential)
	if err != nil {
		return "", nil // its check says so
	}
	return id.User, nil
}

// lost ends all hubs at once: others serve the users now, or will.
func (n *Node) lost(why error) {
	var closing sync.WaitGroup
	ctx, cancel := context.WithTimeout(context.Background(), lostGrace)
	defer cancel()
	for _, t := range n.Tenants.Open() {
		t.Hub.Core.Supersede(why)
		closing.Go(func() { _ = n.Tenants.LetGo(ctx, t.User) }) // closing logs what goes wrong
	}
	closing.Wait()
}

// IsUsed reports whether a browser, a page, a client or a dashboard is with a user's hub now, of
// which dashboards have so many streams.
func IsUsed(t *tenant.Tenant, streams int) bool {
	status := t.Hub.Status()
	return status.Browsers+status.Pages+status.InFlight+len(t.MCP.Sessions())+streams > 0
}

// letIdleGo closes the hubs that nobody uses. The node that is asked for one next
// opens it.
func (n *Node) letIdleGo(ctx context.Context) {
	type seen struct {
		calls uint64
		since time.Time
	}
	users := map[spec.UserID]seen{}
	look := time.NewTicker(idleUser / 30)
	defer look.Stop()
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
		now := map[spec.UserID]seen{}
		for _, t := range n.Tenants.Open() {
			if IsUsed(t, n.Streams(t.User)) {
				continue
			}
			calls := t.Hub.Status().Calls
			s, ok := users[t.User]
			if !ok || s.calls != calls {
				s = seen{calls, time.Now()}
			}
			if time.Since(s.since) < idleUser {
				now[t.User] = s
				continue
			}
			if err := n.Tenants.LetGo(ctx, t.User); err != nil {
				return // ctx has ended
			}
		}
		users = now
	}
}

// GiveBack returns what gives a user's journal back when the hub is closed. Until then the end
// of the term in which it was opened stops the hub, also if lost came before it was open.
func (n *Node) GiveBack(t *tenant.Tenant, term *cluster.Term) func(context.Context) error {
	stop := context.AfterFunc(term.Context(), func() { t.Hub.Core.Supersede(context.Cause(term.Context())) })
	return func(ctx context.Context) error {
		stop()
		if !term.Held() || t.Hub.Core.IsSuperseded() {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, giveBackTimeout)
		defer cancel()
		return n.Store.Release(ctx, t.User, t.Hub.Core.Epoch())
	}
}

// Measure says how the node is.
func (n *Node) Measure() telemetry.Node {
	return telemetry.Node{
		Stats: n.Stats(), Members: n.Members(), Users: n.Users.Stats(),
		Forward: n.Users.Forwarder().Stats(), Links: n.Users.Forwarder().Len(), Journal: n.Store.Stats(),
	}
}

// Drain gives the users of a node that is to end to others, while it goes on. It gives up when the
// lease is lost: then others take them.
func (n *Node) Drain() {
	ctx, cancel := context.WithTimeout(context.Background(), command.DrainGrace)
	defer cancel()
	n.Node.Drain() // it ends, whether or not there are others
	var watching sync.WaitGroup
	watching.Go(func() {
		for changed := n.Changed().Wait(); n.Lease().Held(); changed = n.Changed().Wait() {
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
		cancel()
	})
	if err := n.Users.Drain(ctx); err != nil && !errors.Is(err, cluster.ErrNoNode) {
		n.Log.Warn("not all users were given to other nodes before the end", "err", err)
	}
	cancel()
	watching.Wait()
	ctx, cancel = context.WithTimeout(context.Background(), command.RetireGrace)
	defer cancel()
	n.Users.RetireSockets(ctx)
}

// Close ends what the node has. Nobody is served any more.
func (n *Node) Close() error {
	var errs []error
	if n.stop != nil {
		n.stop()
		n.watching.Wait()
	}
	if n.Users != nil {
		n.Users.Forwarder().Close()
	}
	closing, end := context.WithTimeout(context.Background(), leaveTimeout)
	defer end()
	n.deferred.Close(closing)
	if n.Store != nil {
		errs = append(errs, n.Store.Close())
	}
	if n.Node != nil {
		ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
		defer cancel()
		errs = append(errs, n.Leave(ctx))
	}
	if n.ln != nil {
		n.ln.Close()
		n.probing.Wait()
	}
	for _, conn := range []*streams.Conn{n.data, n.conn} {
		if conn != nil {
			conn.Close()
		}
	}
	return errors.Join(errs...)
}

// nodeTenants are the tenants of the process as the cluster knows them.
type nodeTenants struct{ *tenant.Registry }

func (t nodeTenants) Has(user spec.UserID) bool {
	_, ok := t.Registry.Has(user)
	return ok
}

func (t nodeTenants) Open(ctx context.Context, user spec.UserID) error {
	_, err := t.Get(ctx, user)
	return err
}

func (t nodeTenants) Busy(user spec.UserID) bool {
	open, ok := t.Registry.Has(user)
	if !ok {
		return false
	}
	_, under := open.Hub.Owner.Running()
	return under > 0
}
