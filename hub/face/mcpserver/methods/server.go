package methods

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/call"
	"tabhub/hub/call/ledger"
	"tabhub/hub/face/mcpserver/expose"
	"tabhub/hub/lists"
	"tabhub/hub/telemetry"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/storage"
)

// Hub is what is served: a *hub.ClientView. Its methods are safe for concurrent use.
type Hub interface {
	List(lists.ListKind) *lists.Listing
	ListFor(*consent.Caller, lists.ListKind) *lists.Listing
	FindFor(by *consent.Caller, kind spec.Kind, name string) (lists.Item, error)
	Settled(context.Context) error
	Shows(*policy.Action) bool
	Call(context.Context, call.Request) (json.RawMessage, error)
	ReadResource(ctx context.Context, by *consent.Caller, uri string) (json.RawMessage, error)
	GetPrompt(ctx context.Context, by *consent.Caller, name string, args json.RawMessage) (json.RawMessage, error)
	Complete(ctx context.Context, by *consent.Caller, kind spec.Kind, name string, argument, given json.RawMessage) (json.RawMessage, error)
	SubscribeResource(ctx context.Context, by *consent.Caller, uri string) (stop func(), err error)
	Watch(func(lists.Change)) (stop func())
	IsBound(*consent.Caller) bool
	ChangeFor(*consent.Caller, lists.Change) lists.Change
	Connected(*consent.Caller) (gone func(final bool))
	Documents(kind string) []storage.Document
	SaveDocument(d storage.Document, synced func(error))
	DeleteDocument(kind, id string, synced func(error))
	Capabilities() hub.Capabilities
	Ledger() *ledger.Ledger
	Record(record.Entry)
}

// TaskAfter is how long a call may take until it becomes a task, if nothing else is said.
const TaskAfter = 2 * time.Second

// Options configure a Server. The zero value of each field is a usable default.
type Options struct {
	Name         string             // "" means tabhub
	Version      string             // "" means dev
	Instructions string             // for the model
	Log          *slog.Logger       // nil discards
	Telemetry    telemetry.Observer // nil: telemetry.Nobody

	// Builtin are the builtin tools. They are listed first, in this order, and their
	// names win over those of pages.
	Builtin []builtin.Tool

	Expose       expose.Mode // "" means ExposeAll
	ExposeBudget int         // tokens of what pages offer that ExposeAuto lists at most, for each list; 0 means 10,000

	TaskAfter   time.Duration // a call that has taken so long becomes a task, if its client takes one; 0 means the constant
	MaxInFlight int           // requests under way in a session; 0 means 256
}

// Server answers the requests of sessions on behalf of one Hub. Its methods are safe for
// concurrent use.
type Server struct {
	// static after construction
	hub       Hub
	opts      Options
	lists     *listing
	log       *slog.Logger
	serverRef string // member of _meta that names this server
	seal      sealer
	AskPrefix string // of the ids of requests to clients; a bridge's client may answer another hub's late
	unwatch   func()
	leaving   context.Context // ends when drain begins: what is a task is left to another process
	leave     context.CancelFunc

	active  Group // requests that are answered
	runs    Group // calls that may become tasks
	listens Group

	mu       sync.Mutex
	watching map[*Session]*watcher // notified of changes
	alone    map[string]int        // requests of revision 2026-07-28 under way, by identity
}

// ErrClosing is why a request or a stream has ended that Server.Close has cut short.
var ErrClosing = errors.New("the hub is shutting down")

// Other causes of a cancelled request.
var (
	ErrCancelled = errors.New("cancelled by the client")
	ErrGone      = errors.New("the client is gone")
	ErrRevoked   = errors.New("the client's credential is not good any more")
)

// New returns a Server for h.
func New(h Hub, o Options) *Server {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Name = cmp.Or(o.Name, "tabhub")
	o.Version = cmp.Or(o.Version, "dev")
	o.Telemetry = cmp.Or(o.Telemetry, telemetry.Nobody)
	o.Expose = cmp.Or(o.Expose, expose.All)
	o.ExposeBudget = cmp.Or(o.ExposeBudget, 10_000)
	o.TaskAfter = cmp.Or(o.TaskAfter, TaskAfter)
	o.MaxInFlight = cmp.Or(o.MaxInFlight, 256)
	s := &Server{hub: h, opts: o, lists: &listing{hub: h, builtin: o.Builtin, mode: o.Expose, budget: o.ExposeBudget}, log: o.Log, watching: map[*Session]*watcher{}, alone: map[string]int{}}
	s.leaving, s.leave = context.WithCancel(context.Background())
	for i := range o.Builtin {
		s.lists.definitions = append(s.lists.definitions, o.Builtin[i].Definition())
	}
	ref := append([]byte(`"io.modelcontextprotocol/serverInfo":{"name":`), rawjson.AppendString(nil, o.Name)...)
	ref = append(append(ref, `,"version":`...), rawjson.AppendString(nil, o.Version)...)
	s.serverRef = string(append(ref, '}'))
	_, _ = rand.Read(s.seal[:]) // never fails
	s.AskPrefix = "tabhub-" + rand.Text()[:8] + "-"
	unwatch, untold := h.Watch(s.changed), h.Ledger().WatchTasks(s.taskChanged)
	s.unwatch = func() { unwatch(); untold() }
	s.lists.visible(lists.Change{Tools: true, Resources: true, Prompts: true}) // what there is now
	return s
}

// Drain refuses new requests and waits for those under way until ctx is done. It is idempotent.
func (s *Server) Drain(ctx context.Context) error {
	s.leave()
	err := s.active.Close(ctx)
	s.unwatch()
	return err
}

// Wait waits, after drain and the end of all sessions, for what these have begun.
func (s *Server) Wait() {
	_ = s.runs.Close(context.Background())
	_ = s.listens.Close(context.Background())
}

// Listed returns which tools of the hub's list clients are listed; those of listsOnce
// may be listed less.
func (s *Server) Listed(l *lists.Listing) func(*lists.Item) bool { return s.lists.listed(l) }
