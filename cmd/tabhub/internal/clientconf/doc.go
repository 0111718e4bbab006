// Package clientconf edits the configuration files of MCP clients: where each is, how
// an entry goes in and out without touching anything else, and how the change is shown
// without what others keep secret there.
package clientconf
