// Package auth checks credentials: what one proves, and for how long. A Token is the one secret of a hub
// without accounts. A JWT checks the JSON Web Tokens of a hub with several users, and Mint makes such
// tokens. Clients are the MCP clients that have a credential, on either kind of hub. Hub is the Verifier
// of all of them.
//
// Clients are stored in a file or, in a cluster, in a document of each user, which is loaded with the
// user's hub; a Directory then leads to that hub.
//
// The claims of a JWT are those of the MCP Proxy Protocol 1.0: user_id names the user, connection_url
// the endpoint for which the token was made. Those of RFC 7519 count, too: exp always, nbf where it is
// given, and iss and aud, which tokens must have if their issuer serves others. Clients and extensions
// read their tokens without checking them, so only the hub checks signature, algorithm, times and
// claims.
package auth
