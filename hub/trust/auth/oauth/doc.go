// Package oauth is the authorization server of a hub without accounts: an MCP client that knows only
// the hub's address gets a credential from it. It is what the authorization of MCP (revisions
// 2025-06-18 to 2026-07-28) asks for: metadata of the
// resource and of the server (RFC 9728, RFC 8414), clients that register themselves
// (RFC 7591) or are described by a document at their address (client ID metadata
// documents), authorization codes with PKCE (S256 alone) and resource (RFC 8707), and
// refresh tokens that are replaced at each use (RFC 9700).
//
// Anyone may open the authorization page, so the page decides nothing. It shows a code, and the owner
// types that into a question of the hub (Options.Approve): in the window of a paired browser, or with
// `tabhub approve`. A grant is an auth.Client of kind "oauth", with the scope that was chosen on the
// page, and ends with it.
//
// The package speaks no HTTP but to fetch a client's document; hub/face/httpd has the endpoints
// and the page.
//
// Nothing of this is from an OAuth library. go-oauth2/oauth2 accepts any redirect host that
// ends in a registered one unless told otherwise, consumes a code in two steps, and knows
// neither resource, nor iss, nor families of refresh tokens; ory/fosite and zitadel/oidc are
// of the right kind, but bring 7 MB and more of OpenID, sessions and stores that a hub with
// one owner has no use for; the types of go-sdk/oauthex are for clients (jwks_uri is
// required). What is taken from others is the list of addresses that are not public
// (code.dny.dev/ssrf).
package oauth
