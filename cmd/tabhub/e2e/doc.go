// Package e2e tests the program tabhub as its users have it: the real binary in a
// process of its own, its data in a directory, spoken to over pipes and sockets.
//
// Each test says what a user would lose. None waits for time to pass: they wait for
// what a user or a program would see (an answer, a notice, the end of a process),
// and fail if it has not come within 40 seconds.
package e2e
