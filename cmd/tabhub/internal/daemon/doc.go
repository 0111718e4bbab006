// Package daemon is one hub process, and the commands serve and stdio that run one. process.go takes
// the data directory's lock, the ports and the store, makes the servers and ends them; tenant.go
// opens what belongs to one user, builtin.go says which of the hub's tools that user has, and
// admission.go whose tab or browser joins. What only nodes of a cluster have is in package node.
package daemon
