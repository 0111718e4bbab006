package telemetry

import (
	"time"

	"tabhub/spec"
)

// Observer learns what a hub does. Its methods are called on the path of requests, by many
// goroutines at once: they must not block, and must not retain their arguments.
type Observer interface {
	// EndRequest is called when the answer to a request of an MCP client is ready.
	EndRequest(*Request)

	// BeginSession and EndSession are called when an MCP client has agreed on a version, and
	// when it is gone.
	BeginSession(Transport)
	EndSession(Session)

	// EndPhase is called at the end of a part of a call, with a word or a failure's code for how
	// it went.
	EndPhase(p Phase, took time.Duration, result string)

	// Called is called at the end of a call of what a page offers; took is without the time
	// that the owner took to answer.
	Called(kind spec.Kind, outcome string, took time.Duration)
}

// Request is one request of an MCP client.
type Request struct {
	Method    string
	Transport Transport
	Began     time.Time

	// Set at the end.
	Code      int  // of a JSON-RPC error; 0: the answer is a result
	ToolError bool // the result says that the tool has failed
	Cancelled bool // the client has taken it back, so there is no answer
}

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

// Nobody is an Observer that does nothing.
var Nobody Observer = nobody{}

type nobody struct{}

func (nobody) EndRequest(*Request)                     {}
func (nobody) BeginSession(Transport)                  {}
func (nobody) EndSession(Session)                      {}
func (nobody) EndPhase(Phase, time.Duration, string)   {}
func (nobody) Called(spec.Kind, string, time.Duration) {}

// Span is a phase that is under way.
type Span struct {
	o     Observer
	phase Phase
	began time.Time
}

// Begin begins a phase.
func Begin(o Observer, p Phase) Span { return Span{o, p, time.Now()} }

// End tells the Observer that the phase has ended, and how.
func (s Span) End(result string) { s.o.EndPhase(s.phase, time.Since(s.began), result) }
