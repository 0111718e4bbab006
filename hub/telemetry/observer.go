package telemetry

import (
	"context"
	"time"

	"tabhub/spec"
)

// Observer learns what a hub does. Its methods are called on the path of requests, by many
// goroutines at once: they must not block, and must not keep what they are given.
type Observer interface {
	// BeginRequest is called when a request of an MCP client is about to be served, with the
	// context that it returns; EndRequest with that context, when its answer is ready.
	BeginRequest(ctx context.Context, r *Request) context.Context
	EndRequest(ctx context.Context, r *Request)
	// Details reports whether those members of a Request are looked at that take time to find.
	Details() bool

	// BeginSession and EndSession are called when an MCP client has agreed on a version, and
	// when it is gone.
	BeginSession(Transport)
	EndSession(Session)

	// BeginPhase is called at the begin of a part of a call, which is done with the context
	// that it returns; EndPhase with that, and with a word or a failure's code for how it went.
	BeginPhase(context.Context, Phase) context.Context
	EndPhase(ctx context.Context, p Phase, took time.Duration, result string)

	// Called is called at the end of a call of what a page offers; took is without the time
	// that the owner took to answer.
	Called(kind spec.Kind, outcome string, took time.Duration)

	// Traceparent names the span of a context to whoever goes on from it, as the header of
	// W3C Trace Context does; "" if there is none.
	Traceparent(context.Context) string
}

// Request is one request of an MCP client.
type Request struct {
	Method    string
	Transport Transport
	Version   string // the protocol's, "" before one is agreed on
	Began     time.Time

	// Set only if the Observer wants Details. Each is as the client sent it, but at most
	// MaxDetail bytes.
	Tool, Prompt, URI string
	ID                string
	Session           string

	// Set at the end.
	Code      int  // of a JSON-RPC error; 0: the answer is a result
	ToolError bool // the result says that the tool has failed
	Cancelled bool // the client has taken it back, so there is no answer
}

// MaxDetail bounds what is told of a client's words.
const MaxDetail = 256

// Session is the session of an MCP client that has ended.
type Session struct {
	Transport Transport
	Version   string
	Took      time.Duration
}

// Transport is how an MCP client is connected.
type Transport uint8

// The transports.
const (
	HTTP Transport = iota
	SSE
	Stdio
)

func (t Transport) String() string { return [...]string{"http", "sse", "stdio"}[t] }

// Phase is a part of a call.
type Phase uint8

// The phases.
const (
	Decide  Phase = iota // what the owner's rules say; the result is "allow", "ask", "deny" or "" for none of them
	Ask                  // the owner
	Open                 // a tab for the call, until its page offers what is called
	Execute              // in the tab, from the request to the answer
)

func (p Phase) String() string { return [...]string{"decide", "ask", "open", "execute"}[p] }

// Nobody is an Observer that nothing is done with. A page is told of its client's span.
var Nobody Observer = nobody{}

type nobody struct{}

func (nobody) BeginRequest(ctx context.Context, _ *Request) context.Context { return ctx }
func (nobody) EndRequest(context.Context, *Request)                         {}
func (nobody) Details() bool                                                { return false }
func (nobody) BeginSession(Transport)                                       {}
func (nobody) EndSession(Session)                                           {}
func (nobody) BeginPhase(ctx context.Context, _ Phase) context.Context      { return ctx }
func (nobody) EndPhase(context.Context, Phase, time.Duration, string)       {}
func (nobody) Called(spec.Kind, string, time.Duration)                      {}
func (nobody) Traceparent(ctx context.Context) string                       { return ParentOf(ctx).Traceparent }

// Span is a phase that is under way.
type Span struct {
	o     Observer
	ctx   context.Context
	phase Phase
	began time.Time
}

// Begin tells o that a phase begins. The phase is done with the context that it returns.
func Begin(ctx context.Context, o Observer, p Phase) (context.Context, Span) {
	ctx = o.BeginPhase(ctx, p)
	return ctx, Span{o, ctx, p, time.Now()}
}

// End tells the Observer that the phase has ended, and how.
func (s Span) End(result string) { s.o.EndPhase(s.ctx, s.phase, time.Since(s.began), result) }
