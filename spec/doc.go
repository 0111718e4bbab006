// Package spec holds what tabhub and its peers agree on: the messages of the tab
// protocol tabhub.v1 (an extension of the hub protocol of MCP-B), its identities,
// limits and error codes. PROTOCOL.md beside it is the protocol in prose, schema/
// the same types as JSON Schema and as TypeScript declarations.
//
// The package holds no state and does no I/O; every other package may import it
// and it imports none of them.
package spec

//go:generate go run ./internal/genschema
