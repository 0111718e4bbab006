// Package node is what a hub process has as a node of a cluster: its lease, its connections to NATS
// and to other nodes, the journals and records of users, and the credentials that all nodes share.
package node
