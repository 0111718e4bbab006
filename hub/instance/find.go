package instance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"tabhub/hub"
	"tabhub/spec"
)

// Mode is a kind of browser.
type Mode string

// The modes, in the order in which a browser is looked for when none is asked for:
// first those that take an extension from the command line.
const (
	Chromium Mode = "chromium"
	Testing  Mode = "testing" // Chrome for Testing
	Chrome   Mode = "chrome"  // Google's branded one
)

var modes = []Mode{Chromium, Testing, Chrome}

func (m Mode) String() string {
	switch m {
	case Testing:
		return "Chrome for Testing"
	case Chrome:
		return "Chrome"
	}
	return "Chromium"
}

// browser is a browser that is installed.
type browser struct {
	path string
	mode Mode
	// loads says that it takes extensions from the command line. Branded Chrome does
	// not since version 137.
	loads bool
}

// findBrowser returns the browser of a mode, or the first of any if mode is "". named,
// if not "", is the executable to use.
func findBrowser(ctx context.Context, mode Mode, named string) (browser, error) {
	if named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return browser{}, &hub.Failure{Code: spec.FailToolError, Message: cannotRun(named, err).Error()}
		}
		b := identify(ctx, path)
		if mode != "" && mode != b.mode {
			return browser{}, &hub.Failure{Code: spec.FailInvalidArguments, Message: fmt.Sprintf("mode is %q, but the hub was started with browser-program %s, which is %s; leave mode out", mode, path, b.mode)}
		}
		return b, nil
	}
	wanted := modes
	if mode != "" {
		wanted = []Mode{mode}
	}
	b, err := search(wanted)
	if err != nil {
		return browser{}, &hub.Failure{Code: spec.FailToolError, Message: err.Error()}
	}
	if b.mode == Chrome {
		b = identify(ctx, b.path)
	}
	return b, nil
}

// search returns the first browser that is installed, by where it is found.
func search(wanted []Mode) (browser, error) {
	var others []string
	for _, b := range FindInstalled() {
		if slices.Contains(wanted, b.mode) {
			return browser{path: b.Path, mode: b.mode, loads: true}, nil
		}
		others = append(others, b.Name)
	}
	var names []string
	for _, m := range wanted {
		names = append(names, m.String())
	}
	err := fmt.Errorf("no %s is installed where it is looked for (PATH and the usual places); install one, or start the hub with --set browser-program=FILE", strings.Join(names, ", "))
	if len(others) > 0 {
		err = fmt.Errorf("%w, as of one that is here: %s", err, strings.Join(others, ", "))
	}
	return browser{}, err
}

// Available returns why no browser could be started: named, if not "", cannot be run,
// or none is installed. It runs nothing.
func Available(named string) error {
	if named == "" {
		_, err := search(modes)
		return err
	}
	if _, err := exec.LookPath(named); err != nil {
		return cannotRun(named, err)
	}
	return nil
}

func cannotRun(named string, err error) error {
	if cause, ok := errors.AsType[*exec.Error](err); ok {
		err = cause.Err
	}
	return fmt.Errorf("the browser that browser-program names, %s, cannot be run: %v", named, err)
}

// identify finds out what an executable is.
func identify(ctx context.Context, path string) browser {
	b := browser{path: path}
	said := says(ctx, path)
	b.mode = modeOf(said)
	b.loads = b.mode != Chrome || major(said) > 0 && major(said) < 137
	return b
}

// modeOf reads the mode from what `--version` prints, or from a path. What cannot be
// told apart is taken for Chromium, as the makers of other browsers do.
func modeOf(said string) Mode {
	said = strings.ToLower(strings.ReplaceAll(said, `\`, "/"))
	switch {
	case strings.Contains(said, "for testing"), strings.Contains(said, "for-testing"):
		return Testing
	case strings.Contains(said, "google chrome"), strings.Contains(said, "google-chrome"), strings.Contains(said, "google/chrome"):
		return Chrome
	}
	return Chromium
}

var versionNumber = regexp.MustCompile(`\b(\d+)\.\d+\.\d+\.\d+\b`)

// major returns the first number of the version in said; 0 if there is none.
func major(said string) int {
	m := versionNumber.FindStringSubmatch(said)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// says returns what a browser says of itself; its path if it says nothing.
func says(ctx context.Context, path string) string {
	if runtime.GOOS == "windows" {
		// It would open a window. The directory of its version lies beside it.
		said := path
		beside, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.*.*.*"))
		for _, dir := range beside {
			said += " " + filepath.Base(dir)
		}
		return said
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil || len(bytes.TrimSpace(out)) == 0 {
		return path
	}
	return string(out)
}

// confinement is a hint for when a browser does not start or join that may see only
// parts of the disk; "" for others.
func confinement(path string) string {
	if !confined(path) {
		return ""
	}
	return "; a browser from snap or Flatpak sees only some directories: start the hub with a --data-dir that it sees, such as one below ~/snap/chromium/common, or with --set browser-program=FILE for another browser"
}
