// Package auth checks the JSON Web Tokens of a hub that many users share, and mints
// them for those who host one themselves. The claims are those of the MCP Proxy
// Protocol 1.0: user_id says whose world a bearer enters, connection_url which
// endpoint the token was made for.
//
// Clients and extensions read their tokens without checking them, so the hub is the
// only verifier: signature, algorithm, times and claims are all judged here.
package auth
