// Package clientconf knows the configurations of MCP clients: where each is, how an entry goes
// into a file of JSON and out again without touching anything else, how the change is shown
// without what others keep secret there, and what the user or the client's own command writes
// into files of another notation.
package clientconf
