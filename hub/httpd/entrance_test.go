//go:build nightly

package httpd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What a hub does for who comes to its node, it does for who comes to another. Left out are the
// tests of what is another node's own: what it has refused by itself, and sessions, which tell no
// node here whose they are.
func TestAllThroughEntrance(t *testing.T) {
	if os.Getenv(throughEntrance) != "" {
		t.Skip("this is through the entrance")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.timeout=4m",
		"-test.run=API|Attach|Bridge|Busy|Call|Client|Farewell|Lease|Log$|Owner|Pairing|Polic|Question|Rotate|Search|SSE|Shutdown|SignIn|Site|Status|Watch",
		"-test.skip=Entrance|Dashboard|RefusedClients|SignInToAccounts|^("+strings.Join(withBrowser(t), "|")+")$")
	cmd.Env = append(os.Environ(), throughEntrance+"=yes")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// withBrowser returns the tests of the files that start a browser, which take long.
func withBrowser(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "tabtest/chromium\"") {
			continue
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	return names
}
