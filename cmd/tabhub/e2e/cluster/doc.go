// Package cluster tests tabhub on several nodes, as a company runs it: processes of the real
// program, a NATS of three servers in processes of their own, a balancer in front, and 50 users
// with tabs and MCP clients, while nodes are killed, paused, cut off and replaced.
//
// A history collects the outcomes that clients saw, the calls that pages ran, the record's lines and
// the nodes' writes; the tests check it. All of this is nightly; TestUsersNodeDies of package e2e
// runs with every change. TABHUB_CLUSTER_FOR says how long faults go on (2m), TABHUB_CLUSTER_USERS
// how many users there are (50), and TABHUB_CLUSTER_HISTORY names a file for the history.
package cluster
