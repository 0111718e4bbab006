// Package httpd is the hub's one HTTP door: every endpoint behind one guard.
//
// The Guard looks at each request and upgrade in a fixed order: Host (against DNS
// rebinding), then Origin (what a browser says about the page that asks), then the
// credential. Bridges and commands, which are programs of the user who runs the hub, come
// by a listener that takes nobody else (Server.ServeOwner): they need no credential, and
// only they get to /attach. Which origins and which credential an endpoint takes is one table,
// endpointOf in endpoint.go. What the guard refuses is answered 403 or 401 with one
// sentence that says what to do.
//
// There are no cookies: a browser sends those to every port of a host. The dashboard is
// a page that everybody may load and that holds no data. It gets those from the admin
// API with a session, which it is given for the code in the address that it was opened
// with; signin.go has both.
//
// The package knows the hub and its MCP face. The WebSocket endpoints and the pages
// are handlers that it is given; a handler whose credential comes in the first
// message of the socket asks Guard.Admit then, or Guard.AdmitPaired for a browser that has
// proved its pairing (package pairing).
package httpd
