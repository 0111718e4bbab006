package mcpserver

import (
	"context"
	"slices"
	"sync"
	"time"

	"tabhub/hub/face/mcpserver/methods"
	"tabhub/hub/quota"
	"tabhub/hub/telemetry"
)

// sessions holds the sessions that requests refer to by id.
type sessions struct {
	srv *Server

	mu     sync.Mutex
	byID   map[string]*webSession
	stored map[string]storedSession // of earlier Servers, not asked for yet
	sweep  *time.Timer              // nil while there are none
}

func (all *sessions) init(s *Server) {
	all.srv, all.byID, all.stored = s, map[string]*webSession{}, s.loadStored()
	all.mu.Lock()
	defer all.mu.Unlock()
	all.startSweepLocked()
}

// startSweepLocked has unused sessions end after a while.
func (all *sessions) startSweepLocked() {
	if all.sweep == nil && len(all.byID)+len(all.stored) > 0 {
		all.sweep = time.AfterFunc(all.srv.opts.IdleSession/4, all.expire)
	}
}

// add has requests find ses by its id. It reports whether there is room.
func (all *sessions) add(ses *webSession) bool {
	ses.stored = ses.Transport != telemetry.SSE
	all.bind(ses)
	all.mu.Lock()
	if all.srv.ctx.Err() != nil {
		all.mu.Unlock()
		return false
	}
	old, ok := all.makeRoomLocked(ses.Identity.Name)
	if !ok {
		all.mu.Unlock()
		return false
	}
	now := time.Now()
	ses.lastUsed, ses.storedAt = now, now
	all.byID[ses.ID] = ses
	all.startSweepLocked()
	all.mu.Unlock()
	if old != nil {
		old.forget()
		old.end(methods.ErrGone)
	}
	return true
}

// bind has ses end with its credential.
func (all *sessions) bind(ses *webSession) {
	if revoked := ses.Identity.Revoked; revoked != nil {
		ses.unbind = context.AfterFunc(revoked, func() {
			all.remove(ses)
			ses.end(methods.ErrRevoked)
		})
	}
}

// maxIdleSessions is how many sessions of one client there may be before one that is not in use
// makes room for the next. Clients that go without DELETE leave theirs.
const maxIdleSessions = 128

// makeRoomLocked makes room for one more session of a client. If there are too many, of the client
// or of all, it takes out the one that was not used for the longest time, of the client that has most:
// a client that begins many pushes out its own. It returns one that the caller ends, or nil; ok is false if
// there is no room, as all are in use.
func (all *sessions) makeRoomLocked(whose string) (old *webSession, ok bool) {
	type one struct {
		id, whose string
		used      time.Time
		idle      bool
	}
	var there []one
	mine := 0
	add := func(o one) {
		there = append(there, o)
		if o.whose == whose {
			mine++
		}
	}
	for id, ses := range all.byID {
		add(one{id, ses.Identity.Name, ses.lastUsed, ses.users == 0})
	}
	for id, k := range all.stored {
		add(one{id, k.Whose, k.Used, true})
	}
	full := len(there) >= all.srv.opts.MaxSessions
	if !full && mine < maxIdleSessions {
		return nil, true
	}
	goes, found := quota.GivesWay(slices.Values(there), func(o one) quota.Usage {
		return quota.Usage{Owner: o.whose, Weight: 1, Goes: o.idle && (full || o.whose == whose)}
	}, func(a, b one) bool { return a.used.Before(b.used) })
	if !found {
		return nil, !full
	}
	old = all.byID[goes.id]
	delete(all.byID, goes.id)
	all.dropStoredLocked(goes.id)
	return old, true
}

// dropStoredLocked forgets a stored session that was not asked for, if there is one of that id.
func (all *sessions) dropStoredLocked(id string) {
	if _, ok := all.stored[id]; ok {
		delete(all.stored, id)
		all.srv.hub.DeleteDocument(storedKind, id, nil)
	}
}

// forget forgets the stored sessions of a client that were not asked for. The others end with their
// credential.
func (all *sessions) forget(client string) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for id, k := range all.stored {
		if methods.IsOf(k.Whose, client) {
			all.dropStoredLocked(id)
		}
	}
}

// get returns the session of that id and identity, in use until release, or nil. One of an
// earlier Server is restored.
func (all *sessions) get(id string, of methods.Identity, sse bool) *webSession {
	all.mu.Lock()
	ses := all.byID[id]
	k, isStored := all.stored[id]
	restores := isStored && !sse && k.Whose == of.Name && all.srv.ctx.Err() == nil
	if restores {
		delete(all.stored, id)
		ses = all.srv.newWebSession(all.srv.methods.Restore(all.srv.ctx, id, k.SavedSession, of))
		ses.stored = true
		all.byID[id] = ses
	}
	if ses == nil || ses.Identity.Name != of.Name || (ses.Transport == telemetry.SSE) != sse {
		all.mu.Unlock()
		return nil
	}
	ses.users++
	all.mu.Unlock()
	if restores {
		all.bind(ses)
		ses.Resume()
	}
	return ses
}

func (all *sessions) release(ses *webSession) {
	all.mu.Lock()
	defer all.mu.Unlock()
	ses.users--
	ses.lastUsed = time.Now()
}

// remove forgets ses; its owner ends it.
func (all *sessions) remove(ses *webSession) {
	all.mu.Lock()
	delete(all.byID, ses.ID)
	all.mu.Unlock()
	ses.forget()
}

// expire ends the sessions that were not used for long, and stores which ones are used.
func (all *sessions) expire() {
	idle := all.srv.opts.IdleSession
	var old, used []*webSession
	all.mu.Lock()
	for id, ses := range all.byID {
		switch {
		case ses.users == 0 && time.Since(ses.lastUsed) >= idle:
			delete(all.byID, id)
			old = append(old, ses)
		case ses.users > 0, ses.lastUsed.After(ses.storedAt):
			ses.storedAt = time.Now()
			used = append(used, ses)
		}
	}
	for id, k := range all.stored {
		if time.Since(k.Used) >= idle {
			all.dropStoredLocked(id)
		}
	}
	if all.sweep != nil { // not closed
		all.sweep = nil
		all.startSweepLocked()
	}
	all.mu.Unlock()
	for _, ses := range old {
		ses.forget()
		ses.end(methods.ErrGone)
	}
	for _, ses := range used {
		ses.save(nil)
	}
}

// close ends all sessions.
func (all *sessions) close() {
	all.mu.Lock()
	open := all.byID
	all.byID, all.stored = map[string]*webSession{}, map[string]storedSession{}
	if all.sweep != nil {
		all.sweep.Stop()
		all.sweep = nil
	}
	all.mu.Unlock()
	for _, ses := range open {
		ses.end(methods.ErrClosing)
	}
}
