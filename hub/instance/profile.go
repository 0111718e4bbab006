package instance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// DefaultProfile is the own profile that is used when none is named.
const DefaultProfile = "default"

// Profile is a profile that an instance can be started with.
type Profile struct {
	// Directory names it to Start: an own profile as it is, one of the machine's
	// browsers as BROWSER/DIRECTORY.
	Directory string `json:"directory"`
	Name      string `json:"name"`
	// Machine says that it belongs to a browser of the machine, with the user's own
	// logins.
	Machine bool   `json:"machine"`
	InUse   string `json:"inUse,omitempty"` // by what

	mode    Mode   // of a machine profile
	data    string // its user data directory
	profile string // the directory in it
}

// Of reports whether p is the profile of a machine's browser of that mode.
func (p Profile) Of(m Mode) bool { return p.Machine && p.mode == m }

// ownName is what an own profile may be called: also a directory on any system. At
// most maxOwnName bytes.
var ownName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

const maxOwnName = 64

func isOwnName(name string) bool { return len(name) <= maxOwnName && ownName.MatchString(name) }

// machineBrowsers are the browsers of the machine whose profiles are listed.
func machineBrowsers() []Profile {
	home, _ := os.UserHomeDir()
	var config, chrome, chromium string
	switch runtime.GOOS {
	case "darwin":
		config, chrome, chromium = filepath.Join(home, "Library", "Application Support"), "Google/Chrome", "Chromium"
	case "windows":
		config, chrome, chromium = os.Getenv("LocalAppData"), `Google\Chrome\User Data`, `Chromium\User Data`
	default:
		config, chrome, chromium = os.Getenv("XDG_CONFIG_HOME"), "google-chrome", "chromium"
		if config == "" {
			config = filepath.Join(home, ".config")
		}
	}
	if !filepath.IsAbs(config) {
		return nil
	}
	return []Profile{
		{Directory: "google-chrome", mode: Chrome, data: filepath.Join(config, chrome)},
		{Directory: "chromium", mode: Chromium, data: filepath.Join(config, chromium)},
	}
}

// machineProfiles lists the profiles of the machine's browsers. A browser that was
// never started has none.
func machineProfiles() []Profile {
	var found []Profile
	for _, b := range machineBrowsers() {
		text, err := os.ReadFile(filepath.Join(b.data, "Local State"))
		if err != nil {
			continue
		}
		var state struct {
			Profile struct {
				Cache map[string]struct {
					Name string `json:"name"`
				} `json:"info_cache"`
			} `json:"profile"`
		}
		if json.Unmarshal(text, &state) != nil {
			continue // written by a browser that is not as we know it
		}
		for dir, info := range state.Profile.Cache {
			if !filepath.IsLocal(dir) || strings.ContainsAny(dir, `/\`) {
				continue
			}
			found = append(found, Profile{
				Directory: b.Directory + "/" + dir, Name: info.Name, Machine: true,
				mode: b.mode, data: b.data, profile: dir,
			})
		}
	}
	slices.SortFunc(found, func(a, b Profile) int { return strings.Compare(a.Directory, b.Directory) })
	return found
}

// ownProfiles lists the profiles below dir.
func ownProfiles(dir string) ([]Profile, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list profiles: %w", err)
	}
	var found []Profile
	for _, e := range entries {
		if e.IsDir() && isOwnName(e.Name()) {
			found = append(found, Profile{Directory: e.Name(), Name: e.Name()})
		}
	}
	return found, nil
}

// resolve returns the profile that Start was given the name of.
func resolve(name string) (Profile, error) {
	if !strings.Contains(name, "/") {
		if !isOwnName(name) {
			return Profile{}, invalid("profile %.80q: a profile's name has 1 to 64 letters, digits, _ and -, and begins with a letter or digit", name)
		}
		return Profile{Directory: name, Name: name}, nil
	}
	known := machineProfiles()
	i := slices.IndexFunc(known, func(p Profile) bool { return p.Directory == name })
	if i < 0 {
		return Profile{}, invalid("profile %.80q: no browser of this machine has it; action profiles lists those that there are", name)
	}
	return known[i], nil
}

// machineName is what a profile of a machine's browser may be called.
var machineName = regexp.MustCompile(`^[a-z-]+/[^/]+$`)

// preferences are what an own profile starts with.
func preferences(downloads string) []byte {
	text, _ := json.Marshal(map[string]any{
		"download": map[string]any{"default_directory": downloads, "prompt_for_download": false},
		"savefile": map[string]any{"default_directory": downloads},
	})
	return text
}

// makeUserData makes the user data directory of an own profile if it is not there.
func makeUserData(data, downloads string) error {
	first := filepath.Join(data, "Default")
	for _, dir := range []string{first, downloads} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make profile: %w", err)
		}
	}
	f, err := os.OpenFile(filepath.Join(first, "Preferences"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		_, err = f.Write(preferences(downloads))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("make profile: %w", err)
	}
	return nil
}
