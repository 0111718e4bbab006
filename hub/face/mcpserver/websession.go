package mcpserver

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/hub/face/mcpserver/jsonrpc"
	"tabhub/hub/face/mcpserver/methods"
)

// webSession is a session that HTTP requests refer to by its id: one of Streamable HTTP, or of SSE.
type webSession struct {
	*methods.Session
	web    *Server
	unbind func() bool // from the end of its credential; may be nil

	mu   sync.Mutex
	gets []*eventStream // open GET streams, newest last; Streamable HTTP only

	saving sync.Mutex // orders what is stored of it
	stored bool       // guarded by saving: it is stored until it ends

	// guarded by the mutex of Server.sessions
	users    int // requests that use it now
	lastUsed time.Time
	storedAt time.Time // when it was last stored that it is used
}

func (s *Server) newWebSession(ses *methods.Session) *webSession {
	w := &webSession{Session: ses, web: s}
	ses.Store = w.saveAndWait
	return w
}

// end ends the session and its streams. It is idempotent and does not wait for requests under way.
func (ses *webSession) end(cause error) {
	ses.Session.End(cause)
	if ses.unbind != nil {
		ses.unbind()
	}
	ses.mu.Lock()
	gets := ses.gets
	ses.gets = nil
	ses.mu.Unlock()
	for _, g := range gets {
		g.close()
	}
	ses.web.replays.drop(ses)
}

// takesPrimer reports whether the client takes an event without data, which is how it learns
// an id before there is a message. Clients before 2025-11-25 fail on one.
func (ses *webSession) takesPrimer() bool {
	return ses.AgreedVersion() >= mcp.ProtocolVersion20251125
}

// attach makes st the stream for the session's notifications.
func (ses *webSession) attach(st *eventStream) {
	ses.mu.Lock()
	if ses.Ctx.Err() != nil {
		ses.mu.Unlock()
		st.close()
		return
	}
	var oldest *eventStream
	if len(ses.gets) == maxGets {
		oldest = ses.gets[0]
		ses.gets = slices.Delete(ses.gets, 0, 1)
	}
	ses.gets = append(ses.gets, st)
	ses.Connect(st.out)
	ses.mu.Unlock()
	if oldest != nil {
		oldest.close()
	}
	st.out.Wake() // what has changed while there was none
}

func (ses *webSession) detach(st *eventStream) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if i := slices.Index(ses.gets, st); i >= 0 {
		ses.gets = slices.Delete(ses.gets, i, i+1)
	}
	if ses.Connection() == st.out {
		var out *jsonrpc.Outbox
		if n := len(ses.gets); n > 0 {
			out = ses.gets[n-1].out
		}
		ses.Connect(out)
	}
}

// missed is called when a stream of the session broke. Its latest notifications may not have arrived:
// they are sent again on the stream that there is, or on the next one, unless that resumes this one.
func (ses *webSession) missed(st *eventStream, err error) {
	if errors.Is(err, errTaken) || !st.events.log.changes {
		return
	}
	out := ses.Connection()
	if out == nil || out == st.out {
		ses.web.replays.miss(ses)
		return
	}
	ses.NotifyAll()
	out.Wake()
}
