package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/call/ledger"
	"tabhub/hub/telemetry"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/storage"
)

// Hub is what is served: a *hub.Hub. Its methods are safe for concurrent use and
// behave as that type's documentation says.
type Hub interface {
	List(hub.ListKind) *hub.Listing
	ListFor(*consent.Caller, hub.ListKind) *hub.Listing
	FindFor(by *consent.Caller, kind spec.Kind, name string) (hub.Item, error)
	Settled(context.Context) error
	Shows(*policy.Action) bool
	Call(context.Context, hub.Call) (json.RawMessage, error)
	ReadResource(ctx context.Context, by *consent.Caller, uri string) (json.RawMessage, error)
	GetPrompt(ctx context.Context, by *consent.Caller, name string, args json.RawMessage) (json.RawMessage, error)
	Complete(ctx context.Context, by *consent.Caller, kind spec.Kind, name string, argument, given json.RawMessage) (json.RawMessage, error)
	SubscribeResource(ctx context.Context, by *consent.Caller, uri string) (stop func(), err error)
	Watch(func(hub.Change)) (stop func())
	IsBound(*consent.Caller) bool
	ChangeFor(*consent.Caller, hub.Change) hub.Change
	Connected(*consent.Caller) (gone func(final bool))
	Documents(kind string) []storage.Document
	SaveDocument(d storage.Document, synced func(error))
	DeleteDocument(kind, id string)
	Capabilities() hub.Capabilities
	Ledger() *ledger.Ledger
	Record(record.Entry)
}

// defaultWriteLimit is how long an HTTP client may take nothing of what it is sent.
const defaultWriteLimit = 30 * time.Second

// TaskAfter is how long a call may take until it becomes a task, if nothing else is said.
const TaskAfter = 2 * time.Second

// Options configure a Server. The zero value of each field is a usable default.
type Options struct {
	Name         string             // "" means tabhub
	Version      string             // "" means dev
	Instructions string             // for the model
	Log          *slog.Logger       // nil discards
	Telemetry    telemetry.Observer // nil: telemetry.Nobody

	// Builtin are the hub's own tools. They are listed first, in this order, and their
	// names win over those of pages.
	Builtin []builtin.Tool

	Expose       Expose // "" means ExposeAll
	ExposeBudget int    // tokens of what pages offer that ExposeAuto lists at most, for each list; 0 means 10,000

	// PublicURL is where clients reach the hub, without the endpoint's path. It is
	// what the endpoint event of /sse begins with; "" takes it from the request.
	PublicURL string
	// BehindProxy lets X-Forwarded-Proto and X-Forwarded-Host say what was asked for.
	BehindProxy bool

	TaskAfter   time.Duration // a call that has taken so long becomes a task, if its client takes one; 0 means the constant
	KeepAlive   time.Duration // between comments on an idle event stream; 0 means spec.KeepAlive
	IdleSession time.Duration // a Streamable HTTP session that is not used; 0 means 30 min
	WriteLimit  time.Duration // a write to an HTTP client; 0 means defaultWriteLimit
	MaxBody     int64         // bytes of a message; 0 means spec.MaxFrame
	MaxInFlight int           // requests under way in a session; 0 means 256
	MaxSessions int           // Streamable HTTP and SSE sessions; 0 means 4096
}

// Server is one Hub as an MCP server, over any number of connections. Its methods
// are safe for concurrent use.
type Server struct {
	// static after construction
	hub         Hub
	opts        Options
	log         *slog.Logger
	definitions [][]byte // of the hub's own tools
	serverRef   string   // member of _meta that names this server
	stateKey    [32]byte
	askPrefix   string // of the ids of requests to clients; a bridge's client may answer another hub's late
	ctx         context.Context
	cancel      context.CancelCauseFunc
	unwatch     func()
	leaving     context.Context // ends when Close begins: what is a task is left to another Server
	leave       context.CancelFunc

	expose   [4]exposure // by list; for ExposeAuto
	sessions sessions
	replays  replays
	opened   atomic.Uint64 // streams
	active   gate          // requests that are answered
	runs     gate          // calls that may become tasks
	streams  gate          // connections that stay open: streams, event streams, listens

	mu       sync.Mutex
	watching map[*session]*watcher // told of changes
}

// ErrClosing is why a request or a stream has ended that Server.Close has cut short.
var ErrClosing = errors.New("the hub is shutting down")

// Other causes of a cancelled request.
var (
	errCancelled = errors.New("cancelled by the client")
	errGone      = errors.New("the client is gone")
	errRevoked   = errors.New("the client's credential is not good any more")
)

// New returns a Server for h. Close it before the Hub is closed.
func New(h Hub, o Options) *Server {
	if o.Name == "" {
		o.Name = "tabhub"
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	orDefault(&o.Telemetry, telemetry.Nobody)
	orDefault(&o.Expose, ExposeAll)
	orDefault(&o.ExposeBudget, 10_000)
	orDefault(&o.TaskAfter, TaskAfter)
	orDefault(&o.KeepAlive, spec.KeepAlive)
	orDefault(&o.IdleSession, 30*time.Minute)
	orDefault(&o.WriteLimit, defaultWriteLimit)
	orDefault(&o.MaxBody, spec.MaxFrame)
	orDefault(&o.MaxInFlight, 256)
	orDefault(&o.MaxSessions, 4096)
	s := &Server{hub: h, opts: o, log: o.Log, watching: map[*session]*watcher{}}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.leaving, s.leave = context.WithCancel(context.Background())
	for i := range o.Builtin {
		s.definitions = append(s.definitions, o.Builtin[i].Definition())
	}
	ref := append([]byte(`"io.modelcontextprotocol/serverInfo":{"name":`), rawjson.AppendString(nil, o.Name)...)
	ref = append(append(ref, `,"version":`...), rawjson.AppendString(nil, o.Version)...)
	s.serverRef = string(append(ref, '}'))
	_, _ = rand.Read(s.stateKey[:]) // never fails
	s.askPrefix = "tabhub-" + rand.Text()[:8] + "-"
	s.sessions.init(s)
	unwatch, untold := h.Watch(s.changed), h.Ledger().WatchTasks(s.taskChanged)
	s.unwatch = func() { unwatch(); untold() }
	s.visible(hub.Change{Tools: true, Resources: true, Prompts: true}) // what there is now
	return s
}

// ForgetClient forgets the sessions that are kept of a client whose credential was taken back.
func (s *Server) ForgetClient(client string) {
	s.sessions.forget(client)
}

func orDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// Close refuses new requests (those of ServeBridge get no answer) and waits for those
// under way until ctx is done; what is left then is answered with NOT_CONNECTED. Then it
// ends all streams and waits for them. It is idempotent. The error is ctx's if it cut
// something short.
//
// Calls that are tasks are left to the Server of another process.
func (s *Server) Close(ctx context.Context) error {
	s.leave()
	err := s.active.close(ctx)
	s.unwatch()
	s.cancel(ErrClosing)
	s.sessions.close()
	_ = s.runs.close(context.Background())    // as their requests and tasks have
	_ = s.streams.close(context.Background()) // they end by themselves now
	return err
}
