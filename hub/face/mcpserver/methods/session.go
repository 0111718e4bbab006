package methods

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/hub/call/ledger"
	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/telemetry"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
)

// Session is one client: a stream, an SSE connection, a Streamable HTTP session or,
// from revision 2026-07-28 on, a single HTTP request.
type Session struct {
	// static after construction
	srv       *Server
	ID        string // "" of a single request
	Began     time.Time
	Identity  Identity
	Ctx       context.Context // ends with the session
	values    context.Context // the parent of its requests, which never ends: see interrupt
	Cancel    context.CancelCauseFunc
	Transport telemetry.Transport // over SSE, 2024-11-05 is the version of a client that names none
	full      bool                // has no room for a request
	Stream    uint64              // its number, if it is a stream; else 0
	Outlives  bool                // its client finds another Server when this one is closed
	calls     Group               // requests that are answered in other goroutines
	jobs      chan func()         // to the idle ones of these
	idle      atomic.Int32
	watched   bool   // is notified of changes; owned by the reader of a stream
	Store     func() // is called when saved returns something else than before; nil: it is not stored

	mu           sync.Mutex
	out          *jsonrpc.Outbox                 // for notifications; nil while no stream is open
	version      string                          // agreed at initialize, "" before
	agreed       time.Time                       // when
	client       string                          // its name, as it says
	clientVer    string                          // and its version
	capabilities json.RawMessage                 // as it declared them at initialize
	asked        map[string]chan jsonrpc.Message // requests of ours, by jsonrpc.IDKey
	lastAsked    int
	level        mcp.LoggingLevel
	ready        bool // initialize was answered and the client has sent something since
	ended        bool
	left         bool               // its client has said that it goes for good
	detach       func() bool        // takes interrupt off the end of ctx; nil while no request was begun
	subs         map[string]func()  // by URI: ends the subscription
	missing      []string           // URIs that it followed with an earlier Server, and that no page has now
	listens      map[string]*listen // by jsonrpc.IDKey
	changes      changes            // not sent yet
}

func (s *Server) NewSession(parent context.Context, of Identity) *Session {
	ses := &Session{srv: s, Identity: of, Began: time.Now(), jobs: make(chan func())}
	ses.Ctx, ses.Cancel = context.WithCancelCause(parent)
	ses.values = context.WithoutCancel(parent)
	return ses
}

// endWithSession has what is under way end with the session. The contexts of requests do not end by themselves with
// the session's, so that what a request has begun, and is a task, can go on without it.
func (ses *Session) endWithSession() {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.detach == nil {
		ses.detach = context.AfterFunc(ses.Ctx, ses.interrupt)
	}
}

// interrupt ends the requests under way when the session has ended.
func (ses *Session) interrupt() {
	cause := context.Cause(ses.Ctx)
	if cause == context.Canceled && (ses.Outlives || ses.Transport != telemetry.Stdio) {
		cause = ErrGone // as net/http has it
	}
	ses.srv.hub.Ledger().StopAll(ses, cause)
	ses.srv.hub.Ledger().StopAll(listening{ses}, cause)
}

// cancelRequest serves notifications/cancelled: the request of this session, if it
// is still under way, gets no answer any more.
func (ses *Session) cancelRequest(id json.RawMessage) {
	if id != nil && ses.ID != "" {
		ses.srv.hub.Ledger().StopRequest(ses.Identity.Session(ses.ID), jsonrpc.IDKey(id), ErrCancelled)
	}
}

// EndListens ends all subscriptions/listen without an answer.
func (ses *Session) EndListens() { ses.srv.hub.Ledger().StopAll(listening{ses}, ErrGone) }

// Leave says that the client goes for good: its end is that of its session.
func (ses *Session) Leave() {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	ses.left = true
}

// AgreedVersion returns the version that the client and the hub have agreed on, "" before that.
func (ses *Session) AgreedVersion() string {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	return ses.version
}

// initialized notes that the client has sent something after initialize: it may be notified of
// changes from now on.
func (ses *Session) initialized() {
	ses.mu.Lock()
	tell := ses.version != "" && !ses.ready && !ses.changes.empty()
	ses.ready = ses.version != ""
	out := ses.out
	ses.mu.Unlock()
	if tell && out != nil {
		out.Wake()
	}
}

// maxIdle is how many goroutines a session keeps for the next request. A new one
// would have to grow its stack first, which is a tenth of what a call costs.
const maxIdle = 64

// spawn runs answer in another goroutine and sends what it returns. The caller has entered calls before
// it began what is answered: what is begun must end.
func (ses *Session) spawn(out *jsonrpc.Outbox, answer func() (jsonrpc.Frame, bool)) {
	job := func() {
		defer ses.calls.Leave()
		if f, ok := answer(); ok {
			out.Put(f)
		}
	}
	select {
	case ses.jobs <- job:
	default:
		go ses.work(job)
	}
}

// work runs job, and further ones until the session ends.
func (ses *Session) work(job func()) {
	for {
		job()
		if ses.idle.Add(1) > maxIdle {
			ses.idle.Add(-1)
			return
		}
		select {
		case job = <-ses.jobs:
			ses.idle.Add(-1)
		case <-ses.Ctx.Done():
			return
		}
	}
}

// FinishCalls waits for the goroutines of spawn, but no longer than limit; then it
// cancels what they do and reports false.
func (ses *Session) FinishCalls(limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if ses.calls.Close(ctx) != nil {
		ses.Cancel(ErrGone)
		return false
	}
	return true
}

// End drops what the session holds in the hub. It is idempotent and does not wait
// for requests under way.
func (ses *Session) End(cause error) {
	ses.mu.Lock()
	first := !ses.ended
	ses.ended = true
	left := ses.left
	final := left || ses.ID != "" && ses.Transport != telemetry.Stdio && cause != ErrClosing
	subs := ses.subs
	over := telemetry.Session{Transport: ses.Transport, Version: ses.version, Took: time.Since(ses.agreed)}
	ses.subs, ses.out = nil, nil
	detach := ses.detach
	ses.mu.Unlock()
	if first && over.Version != "" {
		ses.srv.opts.Telemetry.EndSession(over)
	}
	ses.srv.unwatchSession(ses, final)
	if left {
		ses.srv.hub.Ledger().Drop(ses.Identity.Session(ses.ID))
	}
	now := detach != nil && detach()
	ses.Cancel(cause)
	if now {
		ses.interrupt()
	}
	for _, stop := range subs {
		stop()
	}
}

// Connect makes out the outbox for the client's notifications; nil: there is none.
func (ses *Session) Connect(out *jsonrpc.Outbox) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if !ses.ended {
		ses.out = out
	}
}

// Connection returns the outbox for the client's notifications, nil if there is none.
func (ses *Session) Connection() *jsonrpc.Outbox {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	return ses.out
}

// Stateless returns a session for a single request; releaseStateless ends it.
func (s *Server) Stateless(ctx context.Context, of Identity) *Session {
	ses := s.NewSession(ctx, of)
	s.mu.Lock()
	defer s.mu.Unlock()
	ses.full = s.alone[of.Name] >= s.opts.MaxInFlight
	s.alone[of.Name]++
	return ses
}

func (s *Server) ReleaseStateless(ses *Session) {
	ses.mu.Lock()
	if ses.detach != nil { // its request is answered: nothing is to be looked for in the ledger
		ses.detach()
		ses.detach = nil
	}
	ses.mu.Unlock()
	ses.End(ErrGone)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alone[ses.Identity.Name]--; s.alone[ses.Identity.Name] == 0 {
		delete(s.alone, ses.Identity.Name)
	}
}

// NotifyAll has the client notified of each list.
func (ses *Session) NotifyAll() {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	ses.changes.Tools, ses.changes.Resources, ses.changes.Prompts = true, true, true
}

// saveChange has the session stored if it outlives the Server.
func (ses *Session) saveChange() {
	if ses.Store != nil {
		ses.Store()
	}
}

type identityKey struct{}

// Identity is whose a request is.
type Identity struct {
	Name      string // of the user, the client and the browsers that it is for; a session answers only to those that began it
	Principal *policy.Principal
	Bound     []string        // the names of the browsers that its connection is for; nil: all
	Revoked   context.Context // may be nil
}

// WithIdentity returns a context for a request, or a stream, that carries the credential
// of id. What begins with it, and stored it, ends when it is revoked.
func WithIdentity(ctx context.Context, id *auth.Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, Identity{string(id.User) + "\x00" + id.Principal.ID + "\x00" + strings.Join(id.Bound, ","), id.Principal, id.Bound, id.Revoked})
}

// IsOf reports whether an identity.name is of the client of an ID.
func IsOf(name, client string) bool {
	_, rest, _ := strings.Cut(name, "\x00")
	return consent.IsParty(rest, client)
}

// IdentityOf returns the identity of the client that sent a request; without a credential it is
// policy.Nobody's.
func IdentityOf(ctx context.Context) Identity {
	id, ok := ctx.Value(identityKey{}).(Identity)
	if !ok {
		id.Principal = policy.Nobody
	}
	return id
}

// Session names a session of the client, as far as its calls go.
func (of *Identity) Session(id string) ledger.Session {
	return ledger.Session{Client: consent.Party(of.Principal, of.Bound), ID: id}
}
