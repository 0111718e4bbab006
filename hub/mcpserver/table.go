package mcpserver

import (
	"context"
	"crypto/rand"
	"sync"
	"time"
)

// table holds the sessions that requests refer to by id, and counts the requests
// that have none.
type table struct {
	srv *Server

	mu    sync.Mutex
	byID  map[string]*session
	alone map[string]int // requests of revision 2026-07-28 under way, by identity
	sweep *time.Timer    // nil while byID is empty
}

func (t *table) init(s *Server) {
	t.srv, t.byID, t.alone = s, map[string]*session{}, map[string]int{}
}

// add gives ses an id. If there are too many, one that is not in use makes room; it
// reports whether there is room.
func (t *table) add(ses *session) bool {
	id := rand.Text()
	t.mu.Lock()
	if t.srv.ctx.Err() != nil {
		t.mu.Unlock()
		return false
	}
	var old *session
	if len(t.byID) >= t.srv.opts.MaxSessions {
		for _, o := range t.byID {
			if o.users == 0 && (old == nil || o.lastUsed.Before(old.lastUsed)) {
				old = o
			}
		}
		if old == nil {
			t.mu.Unlock()
			return false
		}
		delete(t.byID, old.id)
	}
	ses.id, ses.lastUsed = id, time.Now()
	t.byID[id] = ses
	if t.sweep == nil {
		t.sweep = time.AfterFunc(t.srv.opts.IdleSession/4, t.expire)
	}
	t.mu.Unlock()
	if old != nil {
		old.end(errGone)
	}
	return true
}

// get returns the session of that id and identity, in use until release, or nil.
func (t *table) get(id, identity string, sse bool) *session {
	t.mu.Lock()
	defer t.mu.Unlock()
	ses := t.byID[id]
	if ses == nil || ses.identity != identity || ses.sse != sse {
		return nil
	}
	ses.users++
	return ses
}

func (t *table) release(ses *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ses.users--
	ses.lastUsed = time.Now()
}

// remove forgets ses; its owner ends it.
func (t *table) remove(ses *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, ses.id)
}

// expire ends the sessions that nobody has used for long.
func (t *table) expire() {
	idle := t.srv.opts.IdleSession
	var old []*session
	t.mu.Lock()
	for id, ses := range t.byID {
		if ses.users == 0 && time.Since(ses.lastUsed) >= idle {
			delete(t.byID, id)
			old = append(old, ses)
		}
	}
	switch {
	case t.sweep == nil: // closed
	case len(t.byID) > 0:
		t.sweep.Reset(idle / 4)
	default:
		t.sweep = nil
	}
	t.mu.Unlock()
	for _, ses := range old {
		ses.end(errGone)
	}
}

// close ends all sessions.
func (t *table) close() {
	t.mu.Lock()
	all := t.byID
	t.byID = map[string]*session{}
	if t.sweep != nil {
		t.sweep.Stop()
		t.sweep = nil
	}
	t.mu.Unlock()
	for _, ses := range all {
		ses.end(errClosing)
	}
}

// stateless returns a session for a single request; releaseStateless ends it.
func (t *table) stateless(ctx context.Context, identity string) *session {
	ses := t.srv.newSession(ctx, identity)
	t.mu.Lock()
	defer t.mu.Unlock()
	ses.full = t.alone[identity] >= t.srv.opts.MaxInFlight
	t.alone[identity]++
	return ses
}

func (t *table) releaseStateless(ses *session) {
	ses.end(errGone)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.alone[ses.identity]--; t.alone[ses.identity] == 0 {
		delete(t.alone, ses.identity)
	}
}
