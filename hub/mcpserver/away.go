package mcpserver

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"tabhub/hub"
	"tabhub/hub/consent"
	"tabhub/storage"
)

// A subscriptions/listen over HTTP ends with its connection, and the client that lost it asks
// again. Between the two, and from one hub to the next, what it has listened for is followed
// on its behalf: the next listen begins with what has changed.

// followers are the clients that listen over HTTP, or have until a short while ago. Its
// methods are safe for concurrent use.
type followers struct {
	srv *Server

	mu     sync.Mutex
	byKey  map[string]*follower
	closed bool
}

// follower is one agent: who asks with one credential and one name. It is guarded by the
// mutex of followers.
type follower struct {
	key     string
	whose   string            // identity.name
	by      *consent.Caller   // nil if an earlier Server had it
	live    int               // its listens
	wanted  changes           // by any of them, live or not
	gone    changes           // wanted by listens that have ended, and by none since
	pending changes           // of gone: what has changed
	stops   map[string]func() // by URI: ends the subscription to one of gone
	timer   *time.Timer       // ends it; nil while it listens
}

const (
	followerKind = "listen"
	maxFollowers = 256
	// awayLimit is how long a client may be away and still be told what has changed.
	awayLimit = 10 * time.Minute
)

// keptFollower is the document of a follower.
type keptFollower struct {
	Whose     string   `json:"whose,omitempty"`
	Tools     bool     `json:"tools,omitempty"`
	Resources bool     `json:"resources,omitempty"`
	Prompts   bool     `json:"prompts,omitempty"`
	Updated   []string `json:"updated,omitempty"`
}

// init takes over those that have listened to an earlier Server: all that they wanted may
// have changed.
func (all *followers) init(s *Server) {
	all.srv, all.byKey = s, map[string]*follower{}
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, d := range s.hub.Documents(followerKind) {
		var k keptFollower
		if json.Unmarshal(d.Body, &k) != nil || len(all.byKey) >= maxFollowers {
			s.hub.DeleteDocument(followerKind, d.ID)
			continue
		}
		f := &follower{key: d.ID, whose: k.Whose, wanted: changes{tools: k.Tools, resources: k.Resources, prompts: k.Prompts, updated: k.Updated}}
		f.gone, f.pending = f.wanted.clone(), f.wanted.clone()
		all.byKey[f.key] = f
		all.startTimerLocked(f)
	}
}

// followerKey names the agent of a request; the document of its follower has the same name.
func (rq *request) followerKey() string {
	sum := sha256.Sum256([]byte(rq.ses.identity.name + "\x00" + rq.caller(nil, nil).Agent))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// begin notes that an agent listens for what is wanted, and returns what of that has changed
// since it did so before. It is nil if there are too many.
func (all *followers) begin(key, whose string, by *consent.Caller, want *changes) (f *follower, missed changes) {
	all.mu.Lock()
	f = all.byKey[key]
	var idle *follower
	if f == nil && len(all.byKey) >= maxFollowers {
		if idle = all.idleLocked(); idle == nil {
			all.mu.Unlock()
			return nil, missed
		}
	}
	if f == nil {
		f = &follower{key: key, whose: whose}
		all.byKey[key] = f
	}
	f.by = by
	f.live++
	if f.timer != nil {
		f.timer.Stop()
		f.timer = nil
	}
	missed = f.pending.take(want)
	f.gone.take(want)
	var stops []func()
	for _, uri := range want.updated {
		if stop := f.stops[uri]; stop != nil {
			stops = append(stops, stop)
			delete(f.stops, uri)
		}
	}
	grown := f.wanted.merge(want)
	body, _ := json.Marshal(keptFollower{f.whose, f.wanted.tools, f.wanted.resources, f.wanted.prompts, f.wanted.updated})
	all.mu.Unlock()
	if idle != nil {
		all.drop(idle)
	}
	for _, stop := range stops {
		stop()
	}
	if grown && len(body) <= maxKept {
		all.srv.hub.SaveDocument(storage.Document{Kind: followerKind, ID: key, Body: body}, nil)
	}
	return f, missed
}

// leave notes that a listen ends: what it wanted is followed from now on.
func (all *followers) leave(f *follower, want *changes) {
	if f != nil {
		all.mu.Lock()
		defer all.mu.Unlock()
		f.gone.merge(want)
	}
}

// end notes that a listen has ended whose client has not been told untold; stops are its
// subscriptions, by URI. f may be nil.
func (all *followers) end(f *follower, untold *changes, stops map[string]func()) {
	all.mu.Lock()
	if f != nil {
		f.live--
		f.pending.merge(untold)
		if f.live == 0 && f.by != nil && all.srv.hub.IsBound(f.by) {
			f.pending.add(hub.Change{Tools: true, Resources: true, Prompts: true}, &f.gone) // nobody looks what changes in its browsers
		}
		stays := all.byKey[f.key] == f // not closed, nor forgotten
		if stays && f.stops == nil {
			f.stops = map[string]func(){}
		}
		for uri, stop := range stops {
			if f.stops[uri] == nil && stays && slices.Contains(f.gone.updated, uri) {
				f.stops[uri] = stop
				delete(stops, uri)
			}
		}
		if f.live == 0 && stays {
			all.startTimerLocked(f)
		}
	}
	all.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
}

func (all *followers) startTimerLocked(f *follower) {
	f.timer = time.AfterFunc(awayLimit, func() {
		all.mu.Lock()
		over := f.live == 0 && all.byKey[f.key] == f && !all.closed
		if over {
			delete(all.byKey, f.key)
		}
		all.mu.Unlock()
		if over {
			all.drop(f)
		}
	})
}

// idleLocked takes out one that does not listen, of whoever has the most: who begins many pushes
// out their own. It returns nil if all listen.
func (all *followers) idleLocked() (idle *follower) {
	count := map[string]int{}
	for _, f := range all.byKey {
		count[f.whose]++
	}
	for _, f := range all.byKey {
		if f.live == 0 && (idle == nil || count[f.whose] > count[idle.whose]) {
			idle = f
		}
	}
	if idle != nil {
		idle.timer.Stop()
		delete(all.byKey, idle.key)
	}
	return idle
}

// forget forgets those of a client, also those that listen yet.
func (all *followers) forget(client string) {
	var gone []*follower
	all.mu.Lock()
	for key, f := range all.byKey {
		if !isOf(f.whose, client) {
			continue
		}
		if f.timer != nil {
			f.timer.Stop()
		}
		delete(all.byKey, key)
		gone = append(gone, f)
	}
	all.mu.Unlock()
	for _, f := range gone {
		all.drop(f)
	}
}

// drop forgets one that was taken out.
func (all *followers) drop(f *follower) {
	for _, stop := range f.stops {
		stop()
	}
	all.srv.hub.DeleteDocument(followerKind, f.key)
}

// changed notes what those that are away have to be told.
func (all *followers) changed(c hub.Change) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, f := range all.byKey {
		switch {
		case f.by == nil || !all.srv.hub.IsBound(f.by):
			f.pending.add(c, &f.gone)
		default:
			f.pending.add(all.srv.hub.ChangeFor(f.by, c), &f.gone)
		}
	}
}

// close ends what is followed. What is stored stays, for the next Server.
func (all *followers) close() {
	all.mu.Lock()
	all.closed = true
	open := all.byKey
	all.byKey = map[string]*follower{}
	for _, f := range open {
		if f.timer != nil {
			f.timer.Stop()
		}
	}
	all.mu.Unlock()
	for _, f := range open {
		for _, stop := range f.stops {
			stop()
		}
	}
}

func (c *changes) clone() changes {
	to := *c
	to.updated = slices.Clone(c.updated)
	return to
}

// merge adds what is in from, up to maxSubscriptions resources, and reports whether anything was added.
func (c *changes) merge(from *changes) (added bool) {
	all := changes{tools: true, resources: true, prompts: true, updated: from.updated}
	if len(c.updated)+len(from.updated) > maxSubscriptions {
		all.updated = nil
	}
	was := *c
	c.add(hub.Change{Tools: from.tools, Resources: from.resources, Prompts: from.prompts, Updated: from.updated}, &all)
	return was.tools != c.tools || was.resources != c.resources || was.prompts != c.prompts || len(was.updated) != len(c.updated)
}

// take takes what is in want out of c, and returns it.
func (c *changes) take(want *changes) (out changes) {
	one := func(from *bool, want bool) bool {
		both := *from && want
		*from = *from && !want
		return both
	}
	out.tools, out.resources, out.prompts = one(&c.tools, want.tools), one(&c.resources, want.resources), one(&c.prompts, want.prompts)
	c.updated = slices.DeleteFunc(c.updated, func(uri string) bool {
		if slices.Contains(want.updated, uri) {
			out.updated = append(out.updated, uri)
			return true
		}
		return false
	})
	return out
}
