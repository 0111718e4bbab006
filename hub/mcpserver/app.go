package mcpserver

import (
	"errors"
	"slices"

	"tabhub/hub"
	"tabhub/naming"
	"tabhub/spec"
)

// A host shows the app of a page (MCP Apps) and passes on what the app asks for, by the
// names that the page has for its tools and resources. Such a name is looked up in the
// pages whose apps the session has read.

// maxApps is how many apps a session remembers; older ones are forgotten.
const maxApps = 64

// readApp notes that a client has read a resource, which may be an app.
func (ses *session) readApp(uri string) {
	if !naming.IsApp(uri) {
		return
	}
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if slices.Contains(ses.apps, uri) {
		return
	}
	ses.apps = append(ses.apps, uri)
	ses.apps = ses.apps[max(0, len(ses.apps)-maxApps):]
}

// fromApp runs ask for a name, and if that is nobody's once more for the one thing that
// apps of the session can mean by it.
func fromApp[T any](ses *session, kind spec.Kind, name string, ask func(name string) (T, error)) (T, error) {
	r, err := ask(name)
	if _, unknown := errors.AsType[*hub.UnknownError](err); !unknown {
		return r, err
	}
	ses.mu.Lock()
	apps := slices.Clone(ses.apps)
	ses.mu.Unlock()
	found := ""
	for _, app := range apps {
		public, ok := ses.srv.hub.FromApp(app, kind, name)
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
