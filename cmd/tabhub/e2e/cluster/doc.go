// Package cluster tests tabhub on several nodes, as a company runs it: processes of the real
// program, a NATS of three servers in processes of their own, a balancer in front, and 50 users
// with tabs and MCP clients, while nodes are killed, paused, cut off and replaced.
//
// What each client was told, what each page has run, what the record says and what nodes have
// written is a history, which is checked. All of this is nightly; TestUsersNodeDies of package e2e runs
// with every change. TABHUB_CLUSTER_FOR says how long faults go on (2m), TABHUB_CLUSTER_USERS how many
// users there are (50), and TABHUB_CLUSTER_HISTORY names a file that the history is written to.
package cluster
