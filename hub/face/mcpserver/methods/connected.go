package methods

import (
	"maps"
	"slices"
	"time"

	"tabhub/describe"
	"tabhub/hub/face/mcpserver/expose"
	"tabhub/hub/lists"
	"tabhub/hub/trust/consent"
)

// SessionInfo describes a client that is connected, as it says itself: what stands there is
// believed for nothing.
type SessionInfo struct {
	Client    string    `json:"client,omitempty"`    // the ID of its credential
	Said      string    `json:"said,omitempty"`      // what it calls itself
	Version   string    `json:"version,omitempty"`   // of the client
	Transport string    `json:"transport,omitempty"` // "stdio", "http" or "sse", or another's
	Protocol  string    `json:"protocol,omitempty"`  // the revision of MCP
	Since     time.Time `json:"since,omitzero"`
	Bound     []string  `json:"bound,omitempty"` // the names of the browsers that its connection is for; none: all
}

// watcher is a session that is notified of changes.
type watcher struct {
	info SessionInfo
	by   *consent.Caller
	gone func(final bool) // is called when it is not any more
}

// Sessions describes the clients that have a session, or listen, the first to come first.
func (s *Server) Sessions() []SessionInfo {
	s.mu.Lock()
	all := make([]SessionInfo, 0, len(s.watching))
	for _, w := range s.watching {
		all = append(all, w.info)
	}
	s.mu.Unlock()
	slices.SortFunc(all, func(a, b SessionInfo) int { return a.Since.Compare(b.Since) })
	return all
}

// MaxVersion bounds what is shown of the version of a client.
const MaxVersion = 40

// sessionInfo describes the client that listens.
func (rq *Request) sessionInfo() SessionInfo {
	version, _ := rq.Text("_meta", metaClientInfo, "version")
	protocol, _ := rq.Text("_meta", MetaVersion)
	return rq.ses.infoOf(rq.clientName(), describe.Clean(version, MaxVersion), protocol)
}

// info describes the client of a session that has agreed on a revision.
func (ses *Session) info() SessionInfo {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	return ses.infoOf(ses.client, ses.clientVer, ses.version)
}

func (ses *Session) infoOf(said, version, protocol string) SessionInfo {
	return SessionInfo{
		Client: ses.Identity.Principal.ID, Said: said, Version: version,
		Transport: ses.Transport.String(), Protocol: protocol, Since: ses.Began, Bound: ses.Identity.Bound,
	}
}

// changed tells all clients of a change of the hub.
func (s *Server) changed(c lists.Change) {
	listed := s.lists.visible(c)
	s.mu.Lock()
	all := maps.Clone(s.watching)
	s.mu.Unlock()
	for ses, w := range all {
		if !s.hub.IsBound(w.by) {
			ses.changed(listed)
			continue
		}
		of := s.hub.ChangeFor(w.by, c)
		of.Tools = of.Tools && (of.Policy || s.opts.Expose != expose.Proxy)
		ses.changed(of)
	}
}

// watchSession has ses notified of changes until it ends. info describes its client, on whose
// behalf by is.
func (s *Server) watchSession(ses *Session, info SessionInfo, by *consent.Caller) {
	s.mu.Lock()
	_, known := s.watching[ses]
	s.mu.Unlock()
	if known {
		return
	}
	w := &watcher{info, by, s.hub.Connected(by)} // which may make lists, so it is not done with the lock
	s.mu.Lock()
	if _, known = s.watching[ses]; !known { // no other request was faster
		s.watching[ses] = w
	}
	s.mu.Unlock()
	if known {
		w.gone(false)
		return
	}
	ses.mu.Lock()
	ended := ses.ended
	ses.mu.Unlock()
	if ended { // it may have been taken out before it was put in
		s.unwatchSession(ses, false)
	}
}

func (s *Server) unwatchSession(ses *Session, final bool) {
	s.mu.Lock()
	w := s.watching[ses]
	delete(s.watching, ses)
	s.mu.Unlock()
	if w != nil {
		w.gone(final)
	}
}
