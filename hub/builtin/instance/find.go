package instance

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"tabhub/hub/core"
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

// loads says that the browser takes extensions from the command line, as Chrome does not.
func (m Mode) loads() bool { return m != Chrome }

// browser is a browser that is installed.
type browser struct {
	path string
	mode Mode
}

// findBrowser returns the browser of a mode, or the first of any if mode is "". named,
// if not "", is the executable to use.
func findBrowser(mode Mode, named string) (browser, error) {
	if named != "" {
		path, err := exec.LookPath(named)
		if err != nil {
			return browser{}, &core.Failure{Code: spec.FailToolError, Message: cannotRun(named, err).Error()}
		}
		b := browser{path, modeOf(path)}
		if mode != "" && mode != b.mode {
			return browser{}, &core.Failure{Code: spec.FailInvalidArguments, Message: fmt.Sprintf("mode is %q, but the hub was started with browser-program %s, which is %s; leave mode out", mode, path, b.mode)}
		}
		return b, nil
	}
	wanted := modes
	if mode != "" {
		wanted = []Mode{mode}
	}
	b, err := search(wanted)
	if err != nil {
		return browser{}, &core.Failure{Code: spec.FailToolError, Message: err.Error()}
	}
	return b, nil
}

// search returns the first browser that is installed, by where it is found.
func search(wanted []Mode) (browser, error) {
	var others []string
	for _, b := range FindInstalled() {
		if slices.Contains(wanted, b.mode) {
			return browser{b.Path, b.mode}, nil
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

// modeOf reads the mode from the path of an executable: as its makers name it and the
// directories that it comes in. What cannot be told apart is taken for Chromium, as the makers of
// other browsers do.
func modeOf(path string) Mode {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path += " " + real
	}
	path = strings.ToLower(strings.ReplaceAll(path, `\`, "/"))
	has := func(part string) bool { return strings.Contains(path, part) }
	switch {
	case slices.ContainsFunc([]string{"for testing", "for-testing", "chrome-linux64", "chrome-mac-", "chrome-win"}, has):
		return Testing
	case slices.ContainsFunc([]string{"google chrome", "google-chrome", "google/chrome"}, has):
		return Chrome
	}
	return Chromium
}

// confinement is a hint for when a browser does not start or join that may see only
// parts of the disk; "" for others.
func confinement(path string) string {
	if !confined(path) {
		return ""
	}
	return "; a browser from snap or Flatpak sees only some directories: start the hub with a --data-dir that it sees, such as one below ~/snap/chromium/common, or with --set browser-program=FILE for another browser"
}
