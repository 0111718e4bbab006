// Package auth checks credentials: who a token stands for, and how long. A Token is the
// one secret of a hub without accounts; a JWT checks the JSON Web Tokens of a hub that many
// users share, and Mint makes them for those who host one themselves. Clients are the MCP
// clients with a credential of their own, on either kind of hub; Hub is the Verifier of all.
// They are kept in a file or, where the hubs of users move from process to process, in a
// document of each user's, which is loaded with the user's hub; a Directory then leads who
// shows one there.
//
// The claims of a JWT are those of the MCP Proxy Protocol 1.0: user_id says whose tenant a
// bearer may use, connection_url which endpoint the token was made for. Those of RFC 7519
// count, too: exp always, nbf where it is given, and iss and aud, which the tokens of an
// issuer that serves others must have. Clients and extensions read their tokens without
// checking them, so the hub is the only verifier: signature, algorithm, times and claims
// are all judged here.
package auth
