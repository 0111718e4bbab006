package mcpserver

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"tabhub/hub/telemetry"
)

// sessions holds the sessions that requests refer to by id, and counts the requests
// that have none.
type sessions struct {
	srv *Server

	mu    sync.Mutex
	byID  map[string]*session
	alone map[string]int // requests of revision 2026-07-28 under way, by identity
	sweep *time.Timer    // nil while byID is empty
}

func (all *sessions) init(s *Server) {
	all.srv, all.byID, all.alone = s, map[string]*session{}, map[string]int{}
}

// add gives ses an id. If there are too many, one that is not in use makes room; it
// reports whether there is room.
func (all *sessions) add(ses *session) bool {
	id := rand.Text()
	if revoked := ses.identity.revoked; revoked != nil {
		ses.unbind = context.AfterFunc(revoked, func() {
			all.remove(ses)
			ses.end(errRevoked)
		})
	}
	all.mu.Lock()
	if all.srv.ctx.Err() != nil {
		all.mu.Unlock()
		return false
	}
	var old *session
	if len(all.byID) >= all.srv.opts.MaxSessions {
		for _, o := range all.byID {
			if o.users == 0 && (old == nil || o.lastUsed.Before(old.lastUsed)) {
				old = o
			}
		}
		if old == nil {
			all.mu.Unlock()
			return false
		}
		delete(all.byID, old.id)
	}
	ses.id, ses.lastUsed = id, time.Now()
	all.byID[id] = ses
	if all.sweep == nil {
		all.sweep = time.AfterFunc(all.srv.opts.IdleSession/4, all.expire)
	}
	all.mu.Unlock()
	if old != nil {
		old.end(errGone)
	}
	return true
}

// get returns the session of that id and identity, in use until release, or nil.
func (all *sessions) get(id, identity string, sse bool) *session {
	all.mu.Lock()
	defer all.mu.Unlock()
	ses := all.byID[id]
	if ses == nil || ses.identity.name != identity || (ses.transport == telemetry.SSE) != sse {
		return nil
	}
	ses.users++
	return ses
}

func (all *sessions) release(ses *session) {
	all.mu.Lock()
	defer all.mu.Unlock()
	ses.users--
	ses.lastUsed = time.Now()
}

// remove forgets ses; its owner ends it.
func (all *sessions) remove(ses *session) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.byID, ses.id)
}

// expire ends the sessions that nobody has used for long.
func (all *sessions) expire() {
	idle := all.srv.opts.IdleSession
	var old []*session
	all.mu.Lock()
	for id, ses := range all.byID {
		if ses.users == 0 && time.Since(ses.lastUsed) >= idle {
			delete(all.byID, id)
			old = append(old, ses)
		}
	}
	switch {
	case all.sweep == nil: // closed
	case len(all.byID) > 0:
		all.sweep.Reset(idle / 4)
	default:
		all.sweep = nil
	}
	all.mu.Unlock()
	for _, ses := range old {
		ses.end(errGone)
	}
}

// close ends all sessions.
func (all *sessions) close() {
	all.mu.Lock()
	open := all.byID
	all.byID = map[string]*session{}
	if all.sweep != nil {
		all.sweep.Stop()
		all.sweep = nil
	}
	all.mu.Unlock()
	for _, ses := range open {
		ses.end(errClosing)
	}
}

// stateless returns a session for a single request; releaseStateless ends it.
func (all *sessions) stateless(ctx context.Context, of identity) *session {
	ses := all.srv.newSession(ctx, of)
	all.mu.Lock()
	defer all.mu.Unlock()
	ses.full = all.alone[of.name] >= all.srv.opts.MaxInFlight
	all.alone[of.name]++
	return ses
}

func (all *sessions) releaseStateless(ses *session) {
	ses.end(errGone)
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.alone[ses.identity.name]--; all.alone[ses.identity.name] == 0 {
		delete(all.alone, ses.identity.name)
	}
}
