// Package cluster tests tabhub on several nodes, as a company runs it: processes of the real
// program, a NATS of three servers in processes of their own, a balancer in front, and 50 users
// with tabs and MCP clients, while nodes are killed, paused, cut off and replaced.
//
// What each client was told, what each page has run, what the record says and what nodes have
// written is a history, which package history checks. Without TABHUB_LONG there are 8 users and two
// of the faults. TABHUB_CLUSTER_FOR says how long faults go on (2m), TABHUB_CLUSTER_USERS how many
// users there are (50), and TABHUB_CLUSTER_HISTORY names a file that the history is written to.
package cluster
