package instance

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tabhub/hub"
	"tabhub/spec"
	"tabhub/tabtransport/extension"
)

// Config says what to start. The zero value is any browser with the profile
// DefaultProfile, in a window where there is a display.
type Config struct {
	Mode       Mode     // "" is the first that is found, or that of a machine's profile
	Profile    string   // as Profile.Directory names it; see Options.UserProfiles
	URL        string   // http or https; "" for none
	Headless   *bool    // nil: if there is no display
	Extensions []string // further unpacked ones, by directory; see Options.Extensions
	// ForOwner says that the owner wants the browser, and no client does: it may ask the
	// owner's questions.
	ForOwner bool
	// DevTools has the browser speak the DevTools protocol with who starts it, over pipes:
	// Info.DevTools. The browser ends when that is closed.
	DevTools bool
	// Hosts are rules of Chromium by which other addresses are reached than those that pages
	// name, such as "MAP a.example:80 127.0.0.1:8080"; "" for none.
	Hosts string
}

func invalid(format string, args ...any) error {
	return &hub.Failure{Code: spec.FailInvalidArguments, Message: fmt.Sprintf(format, args...)}
}

func denied(format string, args ...any) error {
	return &hub.Failure{Code: spec.FailDenied, Message: fmt.Sprintf(format, args...)}
}

// plan decides what is to be started, and checks what can be checked before.
func (s *Instances) plan(ctx context.Context, c Config) (*running, error) {
	if c.Profile == "" {
		c.Profile = DefaultProfile
	}
	if !s.opts.UserProfiles && machineName.MatchString(c.Profile) {
		return nil, denied("profile %.80q: this hub does not use the profiles of the user's own browsers, which hold their logins, unless the user starts it with --instance-user-profiles; name another profile, without a slash", c.Profile)
	}
	if !s.opts.Extensions && len(c.Extensions) > 0 {
		return nil, denied("this hub loads no further extensions, unless the user starts it with --instance-extensions; leave extensions out")
	}
	p, err := resolve(c.Profile)
	if err != nil {
		return nil, err
	}
	if p.Machine {
		if c.Mode != "" && c.Mode != p.mode {
			return nil, invalid("profile %q is one of %s; leave mode out, or name another profile", p.Directory, p.mode)
		}
		c.Mode = p.mode
	}
	headless := !hasDisplay()
	if c.Headless != nil {
		if !*c.Headless && headless {
			return nil, invalid("this machine has no display to show a window on; pass headless: true")
		}
		headless = *c.Headless
	}
	b, err := findBrowser(ctx, c.Mode, s.opts.Browser)
	if err != nil {
		return nil, err
	}
	r := &running{
		Info: Info{
			ID: "inst_" + strings.ToLower(rand.Text()[:8]), Mode: b.mode, Profile: p.Directory,
			Headless: headless, Loaded: b.loads,
		},
		path: b.path, gone: make(chan struct{}),
		forOwner: c.ForOwner, launch: launch{headless: headless, url: c.URL, devTools: c.DevTools, hosts: c.Hosts},
	}
	s.place(r, p)
	if err := r.extend(b, c.Extensions); err != nil {
		return nil, err
	}
	return r, nil
}

// place says where the instance keeps its things.
func (s *Instances) place(r *running, p Profile) {
	if p.Machine {
		// No own profile can have a name with a dot.
		r.Extension = filepath.Join(s.opts.Dir, ".machine", filepath.FromSlash(p.Directory), "extension")
		r.launch.data, r.launch.profile = p.data, p.profile
		r.key = p.data // one browser for all of its profiles
		return
	}
	home := filepath.Join(s.opts.Dir, p.Directory)
	r.Extension = filepath.Join(home, "extension")
	r.Downloads = filepath.Join(home, "downloads")
	r.launch.data, r.launch.own = filepath.Join(home, string(r.Mode)), true
	r.key = p.Directory // its modes share the extension's copy
}

// extend gives the instance its extensions.
func (r *running) extend(b browser, further []string) error {
	if !b.loads {
		if len(further) > 0 {
			return invalid("%s does not take extensions from the command line any more; load them by hand, or use mode chromium or testing", b.mode)
		}
		r.awaited = loadedBefore(r.launch)
		return nil
	}
	for _, dir := range further {
		if !filepath.IsAbs(dir) {
			return invalid("extension %q: name its directory by its full path", dir)
		}
		if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err != nil {
			return invalid("extension %q: there is no manifest.json in it", dir)
		}
	}
	r.awaited = true
	r.launch.extensions = append([]string{r.Extension}, further...)
	for _, dir := range r.launch.extensions {
		if strings.Contains(dir, ",") {
			return invalid("%q: a browser loads no extension from a path with a comma", dir)
		}
	}
	return nil
}

// loadedBefore reports whether the profile has the companion extension because the
// user has loaded it by hand: it has stored something there.
func loadedBefore(l launch) bool {
	profile := l.profile
	if profile == "" {
		profile = "Default"
	}
	_, err := os.Stat(filepath.Join(l.data, profile, "Local Extension Settings", extension.ID))
	return err == nil
}
