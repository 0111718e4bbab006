package mcpserver

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/hub"
	"tabhub/hub/telemetry"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
)

// session is one client: a stream, an SSE connection, a Streamable HTTP session or,
// from revision 2026-07-28 on, a single HTTP request.
type session struct {
	// static after construction
	srv       *Server
	id        string // "" of a single request
	began     time.Time
	identity  identity
	ctx       context.Context // ends with the session
	values    context.Context // the parent of its requests, which never ends: see interrupt
	cancel    context.CancelCauseFunc
	transport telemetry.Transport // over SSE, 2024-11-05 is the version of a client that names none
	full      bool                // has no room for a request
	stream    uint64              // its number, if it is a stream; else 0
	outlives  bool                // its client goes on to another Server when this one is closed
	calls     gate                // requests that are answered in other goroutines
	jobs      chan func()         // to the idle ones of these
	idle      atomic.Int32
	unbind    func() bool // from the end of its credential; may be nil

	mu           sync.Mutex
	out          *outbox                 // where changes are told; nil while no stream is open
	version      string                  // agreed at initialize, "" before
	agreed       time.Time               // when
	client       string                  // its name, as it says
	clientVer    string                  // and its version
	capabilities json.RawMessage         // as it declared them at initialize
	asked        map[string]chan message // requests of ours, by idKey
	lastAsked    int
	level        mcp.LoggingLevel
	ready        bool // initialize was answered and the client went on
	ended        bool
	left         bool               // its client has said that it goes for good
	unhook       func() bool        // of interrupt; nil while no request was begun
	subs         map[string]func()  // by URI: ends the subscription
	missing      []string           // URIs that it followed with an earlier Server, and that are nobody's now
	listens      map[string]*listen // by idKey
	changes      changes            // not told yet
	gets         []*eventStream     // open GET streams, newest last; Streamable HTTP only

	saving   sync.Mutex // orders what is stored of it
	outlasts bool       // guarded by saving: it is stored until it ends

	// guarded by the mutex of Server.sessions
	users    int // requests that use it now
	lastUsed time.Time
	saved    time.Time // when it was last stored that it is used
}

// changes is what a client has to be told.
type changes struct {
	tools, resources, prompts bool
	updated                   []string // URIs, each once
	tasks                     []string // ids, each once
}

func (c *changes) empty() bool {
	return !c.tools && !c.resources && !c.prompts && len(c.updated) == 0 && len(c.tasks) == 0
}

func (s *Server) newSession(parent context.Context, of identity) *session {
	ses := &session{srv: s, identity: of, began: time.Now(), jobs: make(chan func())}
	ses.ctx, ses.cancel = context.WithCancelCause(parent)
	ses.values = context.WithoutCancel(parent)
	return ses
}

// hook has what is under way end with the session. The contexts of requests do not end by themselves with
// the session's, so that what a request has begun, and is a task, can go on without it.
func (ses *session) hook() {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.unhook == nil {
		ses.unhook = context.AfterFunc(ses.ctx, ses.interrupt)
	}
}

// interrupt ends the requests under way when the session has ended.
func (ses *session) interrupt() {
	cause := context.Cause(ses.ctx)
	if cause == context.Canceled && (ses.outlives || ses.transport != telemetry.Stdio) {
		cause = errGone // as net/http has it
	}
	ses.srv.hub.Ledger().StopAll(ses, cause)
	ses.srv.hub.Ledger().StopAll(listening{ses}, cause)
}

// cancelRequest serves notifications/cancelled: the request of this session, if it
// is still under way, gets no answer any more.
func (ses *session) cancelRequest(id json.RawMessage) {
	if id != nil && ses.id != "" {
		ses.srv.hub.Ledger().StopRequest(ses.identity.session(ses.id), idKey(id), errCancelled)
	}
}

// endListens ends all subscriptions/listen without an answer.
func (ses *session) endListens() { ses.srv.hub.Ledger().StopAll(listening{ses}, errGone) }

// leaves says that the client goes for good: its end is that of its session.
func (ses *session) leaves() {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	ses.left = true
}

// agreedVersion returns the version that the client and the hub have agreed on, "" before that.
func (ses *session) agreedVersion() string {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	return ses.version
}

// initialized notes that the client went on after initialize: it may be told of
// changes from now on.
func (ses *session) initialized() {
	ses.mu.Lock()
	tell := ses.version != "" && !ses.ready && !ses.changes.empty()
	ses.ready = ses.version != ""
	out := ses.out
	ses.mu.Unlock()
	if tell && out != nil {
		out.wake()
	}
}

// maxIdle is how many goroutines a session keeps for the next request. A new one
// would have to grow its stack first, which is a tenth of what a call costs.
const maxIdle = 64

// spawn runs answer in another goroutine and sends what it returns. The caller has entered calls before
// it began what is answered: what is begun must end.
func (ses *session) spawn(out *outbox, answer func() (frame, bool)) {
	job := func() {
		defer ses.calls.leave()
		if f, ok := answer(); ok {
			out.put(f)
		}
	}
	select {
	case ses.jobs <- job:
	default:
		go ses.work(job)
	}
}

// work runs job, and further ones until the session ends.
func (ses *session) work(job func()) {
	for {
		job()
		if ses.idle.Add(1) > maxIdle {
			ses.idle.Add(-1)
			return
		}
		select {
		case job = <-ses.jobs:
			ses.idle.Add(-1)
		case <-ses.ctx.Done():
			return
		}
	}
}

// finishCalls waits for the goroutines of spawn, but no longer than limit; then it
// cancels what they do and reports false.
func (ses *session) finishCalls(limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if ses.calls.close(ctx) != nil {
		ses.cancel(errGone)
		return false
	}
	return true
}

// end drops what the session holds in the hub. It is idempotent and does not wait
// for requests under way.
func (ses *session) end(cause error) {
	ses.mu.Lock()
	first := !ses.ended
	ses.ended = true
	left := ses.left
	final := left || ses.id != "" && ses.transport != telemetry.Stdio && cause != ErrClosing
	subs := ses.subs
	over := telemetry.Session{Transport: ses.transport, Version: ses.version, Took: time.Since(ses.agreed)}
	ses.subs, ses.out = nil, nil
	gets := ses.gets
	ses.gets = nil
	unhook := ses.unhook
	ses.mu.Unlock()
	if first && over.Version != "" {
		ses.srv.opts.Telemetry.EndSession(over)
	}
	ses.srv.unwatchSession(ses, final)
	if left {
		ses.srv.hub.Ledger().Drop(ses.identity.session(ses.id))
	}
	if ses.unbind != nil {
		ses.unbind()
	}
	now := unhook != nil && unhook()
	ses.cancel(cause)
	if now {
		ses.interrupt()
	}
	for _, stop := range subs {
		stop()
	}
	for _, g := range gets {
		g.close()
	}
	ses.srv.replays.drop(ses)
}

type identityKey struct{}

// identity is whose a request is.
type identity struct {
	name    string // of the user, the client and the browsers that it is for; a session answers only to those that began it
	who     *policy.Principal
	bound   []string        // the names of the browsers that its connection is for; nil: all
	revoked context.Context // may be nil
}

// WithIdentity returns a context for a request, or a stream, that carries the credential
// of id. What begins with it, and outlasts it, ends when it is revoked.
func WithIdentity(ctx context.Context, id *auth.Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, identity{string(id.User) + "\x00" + id.Who.ID + "\x00" + strings.Join(id.Bound, ","), id.Who, id.Bound, id.Revoked})
}

// isOf reports whether an identity.name is of the client of an ID.
func isOf(name, client string) bool {
	_, rest, _ := strings.Cut(name, "\x00")
	return consent.IsParty(rest, client)
}

// identityOf returns whose a request is; without a credential that is nobody.
func identityOf(ctx context.Context) identity {
	id, ok := ctx.Value(identityKey{}).(identity)
	if !ok {
		id.who = policy.Nobody
	}
	return id
}

// changed tells all clients of a change of the hub.
func (s *Server) changed(c hub.Change) {
	listed := s.visible(c)
	s.mu.Lock()
	all := maps.Clone(s.watching)
	s.mu.Unlock()
	for ses, w := range all {
		if !s.hub.IsBound(w.by) {
			ses.changed(listed)
			continue
		}
		of := s.hub.ChangeFor(w.by, c)
		of.Tools = of.Tools && (of.Policy || s.opts.Expose != ExposeProxy)
		ses.changed(of)
	}
}

// watchSession has ses told of changes until it ends. info describes its client, on whose
// behalf by is.
func (s *Server) watchSession(ses *session, info SessionInfo, by *consent.Caller) {
	s.mu.Lock()
	_, known := s.watching[ses]
	s.mu.Unlock()
	if known {
		return
	}
	w := &watcher{info, by, s.hub.Connected(by)} // which may make lists, so it is not done with the lock
	s.mu.Lock()
	if _, known = s.watching[ses]; !known { // nobody else was faster
		s.watching[ses] = w
	}
	s.mu.Unlock()
	if known {
		w.gone(false)
		return
	}
	ses.mu.Lock()
	ended := ses.ended
	ses.mu.Unlock()
	if ended { // it may have been taken out before it was put in
		s.unwatchSession(ses, false)
	}
}

func (s *Server) unwatchSession(ses *session, final bool) {
	s.mu.Lock()
	w := s.watching[ses]
	delete(s.watching, ses)
	s.mu.Unlock()
	if w != nil {
		w.gone(final)
	}
}
