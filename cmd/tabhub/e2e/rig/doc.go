// Package rig builds tabhub and runs it in processes, for the tests of package e2e and of
// those below it.
package rig
