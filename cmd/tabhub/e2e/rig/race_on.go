//go:build race

package rig

// buildFlags make the program's data races fail the tests, as those of the tests do.
var buildFlags = []string{"-race"}
