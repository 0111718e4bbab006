package mcpserver

import (
	"slices"
	"tabhub/hub/consent"
	"time"

	"tabhub/describe"
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

// sessionInfo says who has sent the request that begins a session, or listens.
func (rq *request) sessionInfo() SessionInfo {
	ses := rq.ses
	version, _ := rq.text("clientInfo", "version")
	protocol, _ := rq.text("_meta", metaVersion)
	if rq.modern {
		version, _ = rq.text("_meta", metaClientInfo, "version")
	} else {
		protocol = ses.agreedVersion()
	}
	return SessionInfo{
		Client: ses.identity.who.ID, Said: rq.clientName(), Version: describe.Clean(version, maxVersion),
		Transport: ses.transport.String(), Protocol: protocol, Since: ses.began,
	}
}
