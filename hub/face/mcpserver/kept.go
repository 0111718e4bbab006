package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/hub"
	"tabhub/hub/trust/consent"
	"tabhub/storage"
)

// Streamable HTTP sessions outlive the Server: what makes one is a document of the store,
// from the answer to initialize until the client ends it or has not used it for long. A
// request that names one which this Server has not begun goes on with it. What has changed
// meanwhile nobody knows, so the client is told that each list, and each resource that it
// follows, may have.

// keptSession is the document of a session. Its ID is the session's.
type keptSession struct {
	Whose         string           `json:"whose"` // identity.name
	Began         time.Time        `json:"began"`
	Used          time.Time        `json:"used"` // last, or up to a quarter of Options.IdleSession earlier
	Version       string           `json:"version"`
	Client        string           `json:"client,omitempty"` // as identified by itself, with its version
	ClientVersion string           `json:"clientVersion,omitempty"`
	Capabilities  json.RawMessage  `json:"capabilities,omitempty"`
	Level         mcp.LoggingLevel `json:"level,omitempty"`
	Follows       []string         `json:"follows,omitempty"` // URIs of resources
}

const (
	keptKind = "http"
	// maxKept bounds the document of a session. One that does not fit ends with the Server.
	maxKept = 64 << 10
)

// loadKept returns the sessions of earlier Servers by id, without those that nobody has used
// for long.
func (s *Server) loadKept() map[string]keptSession {
	all := map[string]keptSession{}
	for _, d := range s.hub.Documents(keptKind) {
		var k keptSession
		if err := json.Unmarshal(d.Body, &k); err != nil || time.Since(k.Used) >= s.opts.IdleSession || len(all) >= s.opts.MaxSessions {
			s.hub.DeleteDocument(keptKind, d.ID)
			continue
		}
		all[d.ID] = k
	}
	return all
}

// keep stores what makes ses, and blocks until that is on disk: what the client is answered
// after it holds for the next Server, too.
func (ses *session) keep() {
	synced := make(chan error, 1)
	if !ses.save(func(err error) { synced <- err }) {
		return
	}
	select {
	case err := <-synced:
		if err != nil {
			ses.srv.log.Warn("a client's session will not outlive the hub", "client", ses.identity.who.ID, "err", err)
		}
	case <-ses.ctx.Done():
	}
}

// save is keep without waiting. It reports whether there is something to wait for.
func (ses *session) save(synced func(error)) bool {
	ses.saving.Lock()
	defer ses.saving.Unlock()
	if !ses.outlasts {
		return false
	}
	body, _ := json.Marshal(ses.document()) // strings, times and valid JSON
	if len(body) > maxKept {
		ses.srv.hub.DeleteDocument(keptKind, ses.id)
		return false
	}
	ses.srv.hub.SaveDocument(storage.Document{Kind: keptKind, ID: ses.id, Body: body}, synced)
	return true
}

// forget deletes what is kept of a session that has ended for good.
func (ses *session) forget() {
	ses.saving.Lock()
	defer ses.saving.Unlock()
	if ses.outlasts {
		ses.outlasts = false
		ses.srv.hub.Ledger().Drop(ses.identity.session(ses.id))
		ses.srv.hub.DeleteDocument(keptKind, ses.id)
	}
}

func (ses *session) document() keptSession {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	return keptSession{
		Whose: ses.identity.name, Began: ses.began, Used: time.Now(), Version: ses.version,
		Client: ses.client, ClientVersion: ses.clientVer, Capabilities: ses.capabilities, Level: ses.level,
		Follows: append(slices.Sorted(maps.Keys(ses.subs)), ses.missing...),
	}
}

// restore makes a session of what was kept of it. It is the caller's, in use by nobody.
func (s *Server) restore(id string, k keptSession, of identity) *session {
	ses := s.newSession(s.ctx, of)
	ses.id, ses.began, ses.outlasts = id, k.Began, true
	ses.version, ses.agreed, ses.ready = k.Version, time.Now(), true
	ses.client, ses.clientVer, ses.capabilities, ses.level = k.Client, k.ClientVersion, bytes.Clone(k.Capabilities), k.Level
	ses.changes = changes{tools: true, resources: true, prompts: true}
	ses.missing = k.Follows
	return ses
}

// resume has a restored session told of changes again.
func (ses *session) resume() {
	ses.srv.opts.Telemetry.BeginSession(ses.transport)
	ses.srv.watchSession(ses, ses.info(), ses.caller())
	ses.mu.Lock()
	follows := slices.Clone(ses.missing)
	ses.mu.Unlock()
	ses.followAgain(follows)
}

// followAgain has the client told of updates of resources that it followed with an earlier
// Server. It does not wait for their pages. What is nobody's now may still come back.
func (ses *session) followAgain(uris []string) {
	if len(uris) == 0 || !ses.calls.enter() {
		return
	}
	go func() {
		defer ses.calls.leave()
		for _, uri := range uris {
			err := ses.follow(ses.ctx, ses.caller(), uri)
			if _, unknown := errors.AsType[*hub.UnknownError](err); unknown {
				continue
			}
			ses.mu.Lock()
			ses.missing = slices.DeleteFunc(ses.missing, func(m string) bool { return m == uri })
			ses.mu.Unlock()
			// Only from here on is the next change told.
			ses.changed(hub.Change{Updated: []string{uri}})
		}
	}()
}

// caller is on whose behalf the hub acts for the session itself.
func (ses *session) caller() *consent.Caller {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	return &consent.Caller{Who: ses.identity.who, Said: ses.client, Session: ses.id, Bound: ses.identity.bound, Began: ses.began}
}
