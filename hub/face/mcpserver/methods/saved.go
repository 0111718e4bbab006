package methods

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabhub/hub/lists"
	"tabhub/hub/trust/consent"
)

// SavedSession is what makes a session, beside its ID and its client's credential: enough for
// another Server to go on with it.
type SavedSession struct {
	Began         time.Time        `json:"began"`
	Version       string           `json:"version"`
	Client        string           `json:"client,omitempty"` // as identified by itself, with its version
	ClientVersion string           `json:"clientVersion,omitempty"`
	Capabilities  json.RawMessage  `json:"capabilities,omitempty"`
	Level         mcp.LoggingLevel `json:"level,omitempty"`
	Follows       []string         `json:"follows,omitempty"` // URIs of resources
}

// Saved returns what another Server restores the session from.
func (ses *Session) Saved() SavedSession {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	return SavedSession{
		Began: ses.Began, Version: ses.version, Client: ses.client, ClientVersion: ses.clientVer,
		Capabilities: ses.capabilities, Level: ses.level,
		Follows: append(slices.Sorted(maps.Keys(ses.subs)), ses.missing...),
	}
}

// Restore makes a session of what was saved of it. What has changed meanwhile is not known, so
// its client is notified of each list and each resource that it follows.
func (s *Server) Restore(parent context.Context, id string, k SavedSession, of Identity) *Session {
	ses := s.NewSession(parent, of)
	ses.ID, ses.Began = id, k.Began
	ses.version, ses.agreed, ses.ready = k.Version, time.Now(), true
	ses.client, ses.clientVer, ses.capabilities, ses.level = k.Client, k.ClientVersion, bytes.Clone(k.Capabilities), k.Level
	ses.changes = changes{Tools: true, Resources: true, Prompts: true}
	ses.missing = k.Follows
	return ses
}

// Resume has a restored session notified of changes again.
func (ses *Session) Resume() {
	ses.srv.opts.Telemetry.BeginSession(ses.Transport)
	ses.srv.watchSession(ses, ses.info(), ses.caller())
	ses.mu.Lock()
	follows := slices.Clone(ses.missing)
	ses.mu.Unlock()
	ses.followAgain(follows)
}

// followAgain has the client notified of updates of resources that it followed with an earlier
// Server. It does not wait for their pages. A resource that no page has now may still come back.
func (ses *Session) followAgain(uris []string) {
	if len(uris) == 0 || !ses.calls.Enter() {
		return
	}
	go func() {
		defer ses.calls.Leave()
		for _, uri := range uris {
			err := ses.follow(ses.Ctx, ses.caller(), uri)
			if _, unknown := errors.AsType[*lists.UnknownError](err); unknown {
				continue
			}
			ses.mu.Lock()
			ses.missing = slices.DeleteFunc(ses.missing, func(m string) bool { return m == uri })
			ses.mu.Unlock()
			// Only from here on does the next change notify.
			ses.changed(lists.Change{Updated: []string{uri}})
		}
	}()
}

// caller is on whose behalf the hub acts for the session itself.
func (ses *Session) caller() *consent.Caller {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	return &consent.Caller{Principal: ses.Identity.Principal, Said: ses.client, Session: ses.ID, Bound: ses.Identity.Bound, Began: ses.Began}
}
