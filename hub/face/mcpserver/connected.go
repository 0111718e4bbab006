package mcpserver

import (
	"slices"
	"time"

	"tabhub/describe"
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

// watcher is a session that is told of changes.
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

// maxVersion bounds what is shown of the version of a client.
const maxVersion = 40

// sessionInfo describes the client that listens.
func (rq *request) sessionInfo() SessionInfo {
	version, _ := rq.text("_meta", metaClientInfo, "version")
	protocol, _ := rq.text("_meta", metaVersion)
	return rq.ses.infoOf(rq.clientName(), describe.Clean(version, maxVersion), protocol)
}

// info describes the client of a session that has agreed on a revision.
func (ses *session) info() SessionInfo {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	return ses.infoOf(ses.client, ses.clientVer, ses.version)
}

func (ses *session) infoOf(said, version, protocol string) SessionInfo {
	return SessionInfo{
		Client: ses.identity.who.ID, Said: said, Version: version,
		Transport: ses.transport.String(), Protocol: protocol, Since: ses.began, Bound: ses.identity.bound,
	}
}
