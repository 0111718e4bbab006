package tabtest

import (
	"os"
	"os/exec"
	"testing"
)

// NodeTest runs the tests of scripts that need no browser, *.test.mjs, with node --test. Where
// Node is not installed the test is skipped, or fails if the environment says CI=true.
func NodeTest(t *testing.T, patterns ...string) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if out, err := exec.CommandContext(t.Context(), "node", append([]string{"--test"}, patterns...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
