// Package build says which build of tabhub this is: its version, the file that it was started from
// and the one that clients can start tomorrow.
package build
