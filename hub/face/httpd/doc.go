// Package httpd is the door of a hub: its HTTP server, with all endpoints behind one guard.
//
// The table routes in route.go has a row for each endpoint: the path and method, the origins that
// may use it, the kinds of credential that are good for it, and what serves it. The rows of the
// admin API come from package admin, with their purpose; apiAccess maps that to an access.
//
// The Guard checks each request and upgrade in a fixed order: Host (against DNS rebinding), then
// Origin (what a browser says about the page that sent the request), then the credential. Refused
// requests are answered 403 or 401, with one sentence that says what to do.
//
// Bridges and commands are programs of the user who runs the hub. They connect to a listener that
// accepts only that user's programs (Server.ServeOwner). They need no credential, and no other
// program can use /attach.
//
// There are no cookies: a browser sends those to every port of a host. The dashboard is a page that
// everybody may load and that holds no data. It logs in with the code in the address that it was
// opened with, and reads its data from the admin API; login.go has both. A page may write only at an
// origin that no other program can have used before; host.go makes its name.
//
// Clients that know only the hub's address sign in by OAuth: the owner lets them in on a page that
// asks no question before a click. oauth.go has the endpoints, package hub/trust/auth/oauth the rest.
//
// The WebSocket endpoints and the pages are handlers that the Server is given. Where the credential
// comes in the first message of a socket, the handler calls Guard.Admit then, or Guard.AdmitPaired
// for a browser that has proved its pairing (package pairing).
package httpd
