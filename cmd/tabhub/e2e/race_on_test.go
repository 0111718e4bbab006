//go:build race

package e2e

// buildFlags make the program's data races fail the tests, as those of the tests do.
var buildFlags = []string{"-race"}
