package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// `tabhub dashboard` opens the dashboard signed in. No other user of the machine can be first:
// the secret is in no process's arguments.
func TestDashboardCommand(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve("--demo")
	bin, seen := t.TempDir(), filepath.Join(t.TempDir(), "seen")
	opener := "#!/bin/sh\nprintf %s \"$*\" > " + seen + "\n"
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(opener), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := p.command("dashboard")
	cmd.Env = append(slices.Clone(cmd.Env), "PATH="+bin+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	opened, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	path, ok := strings.CutPrefix(string(opened), "file://")
	if fi, err := os.Stat(path); !ok || err != nil || fi.Mode().Perm() != 0o600 {
		t.Fatalf("it opens %s, %v", opened, err)
	}
	page := chromium.Shared(t, chromium.Options{}).Open(string(opened))
	page.AwaitDocument("http:")
	page.WaitFor(`document.querySelector("#count-tools")?.textContent === "7"`)
	if got := page.Eval(`location.hash`); strings.Contains(got, "code") {
		t.Errorf("the code stays in the address: %s", got)
	}

	// Where nothing can open it, the command says what to do.
	cmd = p.command("dashboard")
	cmd.Env = append(slices.Clone(cmd.Env), "PATH="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "tabhub dashboard --print") {
		t.Errorf("%v: %s", err, out)
	}
}
