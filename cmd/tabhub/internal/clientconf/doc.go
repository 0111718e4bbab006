// Package clientconf knows the configurations of MCP clients: where each is, how an entry goes
// into a JSON file and out again without touching anything else, how to show the change without
// other servers' secrets, and what the user, or the client's command, writes into other files.
package clientconf
