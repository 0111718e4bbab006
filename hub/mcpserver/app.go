package mcpserver

import (
	"errors"
	"slices"
	"sync"

	"tabhub/hub"
	"tabhub/naming"
	"tabhub/spec"
)

// A host shows the app of a page (MCP Apps) and passes on what the app asks for, by the
// names that the page has for its tools and resources. Such a name is looked up in the
// pages whose apps the client has read.

// apps are the public URIs of the apps that a client has read, oldest first: in a session,
// or of the requests without one that come with one credential and client's name.
type apps struct {
	mu   sync.Mutex
	uris []string
}

// Bounds on what is remembered; what is older is forgotten.
const (
	maxApps      = 64
	maxStateless = 256 // clients without sessions
)

// read notes that a client has read a resource, which may be an app.
func (a *apps) read(uri string) {
	if !naming.IsApp(uri) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Contains(a.uris, uri) {
		a.uris = append(a.uris, uri)
		a.uris = a.uris[max(0, len(a.uris)-maxApps):]
	}
}

// statelessApps returns the apps of a client that has no sessions.
func (s *Server) statelessApps(identity, client string) *apps {
	key := identity + "\x00" + client
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.apps[key]
	if a == nil {
		if len(s.apps) >= maxStateless {
			clear(s.apps)
		}
		a = &apps{}
		s.apps[key] = a
	}
	return a
}

// fromApp runs ask for a name, and if that is nobody's once more for the one thing that
// apps of the client can mean by it.
func fromApp[T any](ses *session, kind spec.Kind, name string, ask func(name string) (T, error)) (T, error) {
	r, err := ask(name)
	if _, unknown := errors.AsType[*hub.UnknownError](err); !unknown {
		return r, err
	}
	ses.apps.mu.Lock()
	uris := ses.apps.uris // of which no element changes
	ses.apps.mu.Unlock()
	found := ""
	for _, uri := range uris {
		public, ok := ses.srv.hub.FromApp(uri, kind, name)
		if ok && found != "" && public != found {
			return r, err
		}
		if ok {
			found = public
		}
	}
	if found == "" {
		return r, err
	}
	return ask(found)
}
