package chromium

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Display starts an X display without a screen, and a window manager on it, for the test and
// returns its name, for Options.Display. Where there is no Xvfb the test is skipped, or fails if
// the environment says CI=true.
func Display(t testing.TB) string {
	t.Helper()
	for _, program := range []string{"Xvfb", "openbox"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	says, told, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer says.Close()
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1280x800x24", "-nolisten", "tcp")
	x.ExtraFiles = []*os.File{told}
	start(t, x)
	told.Close()
	number, err := bufio.NewReader(says).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb names no display: %v", err)
	}
	display := ":" + strings.TrimSpace(number)
	wm := exec.Command("openbox", "--sm-disable")
	wm.Env = append(os.Environ(), "DISPLAY="+display, "HOME="+t.TempDir())
	start(t, wm)
	return display
}

// start starts a program that is ended with the test.
func start(t testing.TB, c *exec.Cmd) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
}

// Picture writes what a display shows to $TABHUB_PICTURES, for people to look at, if that is set
// and ImageMagick is installed.
func Picture(t testing.TB, display, name string) {
	t.Helper()
	dir := os.Getenv("TABHUB_PICTURES")
	if _, err := exec.LookPath("import"); err != nil || dir == "" {
		return
	}
	c := exec.Command("import", "-display", display, "-window", "root", filepath.Join(dir, name+".png"))
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", c, err, out)
	}
}
