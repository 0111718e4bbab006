package instance

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tabhub/hub/core"
	"tabhub/spec"
	"tabhub/tabtransport/extension"
)

// Config says what to start. The zero value is any browser with the profile
// DefaultProfile, in a window where there is a display.
type Config struct {
	Mode     Mode   // "" is the first that is found
	Profile  string // as Profile.Directory names it, or a new name
	URL      string // http or https; "" for none
	Headless *bool  // nil: if there is no display
	// ForOwner says that the owner wants the browser, and no client does: it may ask the
	// owner's questions.
	ForOwner bool
	// DevTools has the browser speak the DevTools protocol over pipes, Info.DevTools. The browser ends when that is closed.
	DevTools bool
	// Hosts are rules of Chromium by which other addresses are reached than those that pages
	// name, such as "MAP a.example:80 127.0.0.1:8080"; "" for none.
	Hosts string
}

func invalid(format string, args ...any) error {
	return &core.Failure{Code: spec.FailInvalidArguments, Message: fmt.Sprintf(format, args...)}
}

// plan decides what is to be started, and checks what can be checked before.
func (s *Instances) plan(c Config) (*running, error) {
	if c.Profile == "" {
		c.Profile = DefaultProfile
	}
	if !isProfileName(c.Profile) {
		return nil, invalid("profile %.80q: a profile's name has 1 to 64 letters, digits, _ and -, and begins with a letter or digit; those of the user's own browsers, which hold their logins, are not used", c.Profile)
	}
	headless := !hasDisplay()
	if c.Headless != nil {
		if !*c.Headless && headless {
			return nil, invalid("this machine has no display to show a window on; pass headless: true")
		}
		headless = *c.Headless
	}
	b, err := findBrowser(c.Mode, s.opts.Browser)
	if err != nil {
		return nil, err
	}
	r := &running{
		Info: Info{
			ID: "inst_" + strings.ToLower(rand.Text()[:8]), Mode: b.mode, Profile: c.Profile,
			Headless: headless, Loaded: b.mode.loads(),
		},
		path: b.path, gone: make(chan struct{}),
		forOwner: c.ForOwner, launch: launch{headless: headless, url: c.URL, devTools: c.DevTools, hosts: c.Hosts},
	}
	home := filepath.Join(s.opts.Dir, c.Profile)
	r.Extension = filepath.Join(home, "extension")
	r.Downloads = filepath.Join(home, "downloads")
	r.launch.data = filepath.Join(home, string(r.Mode))
	r.awaited = true
	if !b.mode.loads() {
		r.awaited = loadedBefore(r.launch)
		return r, nil
	}
	if strings.Contains(r.Extension, ",") {
		return nil, invalid("%q: a browser loads no extension from a path with a comma", r.Extension)
	}
	r.launch.extension = r.Extension
	return r, nil
}

// loadedBefore reports whether the profile has the companion extension because the
// user has loaded it by hand: it has stored something there.
func loadedBefore(l launch) bool {
	_, err := os.Stat(filepath.Join(l.data, "Default", "Local Extension Settings", extension.ID))
	return err == nil
}
