package tabtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// NodeTest runs the tests of scripts that need no browser, *.test.mjs, with node --test. Without a
// Node that loads TypeScript (22.18 or later) the test is skipped, or fails if the environment says
// CI=true.
func NodeTest(t *testing.T, patterns ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "node", "--print", "process.features.typescript").CombinedOutput()
	if loads := strings.TrimSpace(string(out)); err != nil || loads == "false" || loads == "undefined" {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no Node that loads TypeScript: %v %s", err, out)
		}
		t.Skipf("no Node that loads TypeScript: %v %s", err, out)
	}
	args := []string{"--test", "--test-force-exit"}
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 { // some versions of Node pass over what is not there
			t.Fatalf("there is no %s: %v", pattern, err)
		}
		args = append(args, files...)
	}
	if out, err := exec.CommandContext(t.Context(), "node", args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Bundle returns a script with all that it imports.
func Bundle(t testing.TB, file string, flags ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"tool", "esbuild", file, "--bundle", "--format=iife", "--charset=utf8", "--log-level=error"}, flags...)...)
	var failed strings.Builder
	cmd.Stderr = &failed
	script, err := cmd.Output()
	if err != nil {
		t.Fatalf("bundling %s: %v\n%s", file, err, &failed)
	}
	return string(script)
}

// Module returns an expression that evaluates a script's module, with all that it imports, and
// leaves what it exports in window.name.
func Module(t testing.TB, file, name string) string {
	t.Helper()
	return fmt.Sprintf("void (window.%s = (() => {%s\nreturn %[1]s;})())", name, Bundle(t, file, "--global-name="+name))
}
