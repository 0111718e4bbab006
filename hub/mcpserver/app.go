package mcpserver

import (
	"errors"
	"slices"
	"sync"

	"tabhub/hub"
	"tabhub/hub/consent"
	"tabhub/naming"
	"tabhub/spec"
)

// A host shows the app of a page (MCP Apps) and passes on what the app asks for, by the
// names that the page has for its tools and resources. Such a name is looked up in the
// pages whose apps the client has read.

// apps are the public URIs of the apps that a client has read, oldest first.
type apps struct {
	mu   sync.Mutex
	uris []string
}

// Bounds on what is remembered; what is older is forgotten.
const (
	maxApps      = 64
	maxStateless = 256 // clients without sessions
)

// apps returns the apps that the client of rq has read: in its session or, for requests
// without one, those that come with one credential and client's name.
func (rq *request) apps() *apps {
	if rq.header == nil {
		return &rq.ses.apps
	}
	key := rq.ses.identity.name + "\x00" + rq.clientName()
	s := rq.ses.srv
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

// hasRead notes that the client of rq has read a resource, which may be an app.
func (rq *request) hasRead(uri string) {
	if !naming.IsApp(uri) {
		return
	}
	a := rq.apps()
	a.mu.Lock()
	known := slices.Contains(a.uris, uri)
	if !known {
		a.uris = append(a.uris, uri)
		a.uris = a.uris[max(0, len(a.uris)-maxApps):]
	}
	a.mu.Unlock()
	if !known {
		rq.ses.save(nil)
	}
}

// fromApp runs ask for a name, and if that is nobody's once more for the one thing that
// apps of the client can mean by it.
func fromApp[T any](rq *request, by *consent.Caller, kind spec.Kind, name string, ask func(by *consent.Caller, name string) (T, error)) (T, error) {
	r, err := ask(by, name)
	if _, unknown := errors.AsType[*hub.UnknownError](err); !unknown {
		return r, err
	}
	a := rq.apps()
	a.mu.Lock()
	uris := a.uris // of which no element changes
	a.mu.Unlock()
	found := ""
	for _, uri := range uris {
		public, ok := rq.ses.srv.hub.FromApp(by, uri, kind, name)
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
	return ask(by.Through(consent.ViaApp), found)
}
