package mcpserver

import (
	"encoding/json"
	"time"

	"tabhub/hub/face/mcpserver/methods"
	"tabhub/storage"
)

// Streamable HTTP sessions outlive the Server: what makes one is a document of the store,
// from the answer to initialize until the client ends it or has not used it for long. A
// request that names one which this Server has not begun goes on with it. What has changed
// meanwhile is not known, so the client is notified of each list and each resource that it
// follows.

// storedSession is the document of a session. Its ID is the session's.
type storedSession struct {
	Whose string    `json:"whose"` // identity.name
	Used  time.Time `json:"used"`  // last, or up to a quarter of Options.IdleSession earlier
	methods.SavedSession
}

const (
	storedKind = "http"
	// maxStored bounds the document of a session. One that does not fit ends with the Server.
	maxStored = 64 << 10
)

// loadStored returns the sessions of earlier Servers by id, without those that were not used
// for long.
func (s *Server) loadStored() map[string]storedSession {
	all := map[string]storedSession{}
	for _, d := range s.hub.Documents(storedKind) {
		var k storedSession
		if err := json.Unmarshal(d.Body, &k); err != nil || time.Since(k.Used) >= s.opts.IdleSession || len(all) >= s.opts.MaxSessions {
			s.hub.DeleteDocument(storedKind, d.ID, nil)
			continue
		}
		all[d.ID] = k
	}
	return all
}

// saveAndWait stores what makes ses, and blocks until that is on disk: what the client is answered
// after it holds for the next Server, too.
func (ses *webSession) saveAndWait() {
	synced := make(chan error, 1)
	if !ses.save(func(err error) { synced <- err }) {
		return
	}
	select {
	case err := <-synced:
		if err != nil {
			ses.web.log.Warn("a client's session will not outlive the hub", "client", ses.Identity.Principal.ID, "err", err)
		}
	case <-ses.Ctx.Done():
	}
}

// save is saveAndWait without waiting. It reports whether there is something to wait for.
func (ses *webSession) save(synced func(error)) bool {
	ses.saving.Lock()
	defer ses.saving.Unlock()
	if !ses.stored {
		return false
	}
	body, _ := json.Marshal(storedSession{ses.Identity.Name, time.Now(), ses.Saved()}) // strings, times and valid JSON
	if len(body) > maxStored {
		ses.web.hub.DeleteDocument(storedKind, ses.ID, nil)
		return false
	}
	ses.web.hub.SaveDocument(storage.Document{Kind: storedKind, ID: ses.ID, Body: body}, synced)
	return true
}

// forget deletes the document of a session that has ended for good.
func (ses *webSession) forget() {
	ses.saving.Lock()
	defer ses.saving.Unlock()
	if ses.stored {
		ses.stored = false
		ses.web.hub.Ledger().Drop(ses.Identity.Session(ses.ID))
		ses.web.hub.DeleteDocument(storedKind, ses.ID, nil)
	}
}
