// Package httpd is the HTTP server of a hub: all its endpoints, behind one guard.
//
// The table routes in route.go has a row for each endpoint: the path and method, the
// origins that may ask, the kinds of credential that are good for it, and what serves it. The Guard looks
// at each request and upgrade in a fixed order: Host (against DNS rebinding), then Origin
// (what a browser says about the page that asks), then the credential. What it refuses is
// answered 403 or 401 with one sentence that says what to do.
//
// Bridges and commands, which are programs of the user who runs the hub, come by a listener
// that takes nobody else (Server.ServeOwner): they need no credential, and only they get to
// /attach.
//
// There are no cookies: a browser sends those to every port of a host. The dashboard is
// a page that everybody may load and that holds no data. It gets those from the admin
// API with a session, which it is given for the code in the address that it was opened
// with; signin.go has both. To write, it needs an origin at which nobody was before;
// host.go makes its name.
//
// Clients that know nothing but the address are let in by their owner, on a page that asks
// nobody anything before a click; oauth.go has that page and what leads to it, package
// hub/trust/auth/oauth the rest.
//
// The package serves MCP and the admin API of each user's tenant (package tenant). The
// WebSocket endpoints and the pages are handlers that it is given. Where the credential
// comes in the first message of a socket, the handler asks Guard.Admit then, or
// Guard.AdmitPaired for a browser that has proved its pairing (package pairing).
package httpd
