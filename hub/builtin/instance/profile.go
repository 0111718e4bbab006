package instance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// DefaultProfile is the profile that is used when none is named.
const DefaultProfile = "default"

// Profile is a profile that an instance can be started with: one that tabhub has made.
type Profile struct {
	Directory string `json:"directory"` // names it to Start
	Name      string `json:"name"`
	InUse     string `json:"inUse,omitempty"` // by what
}

// profileName is what a profile may be called: also a directory on any system. At
// most maxProfileName bytes.
var profileName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

const maxProfileName = 64

func isProfileName(name string) bool {
	return len(name) <= maxProfileName && profileName.MatchString(name)
}

// profilesIn lists the profiles below dir.
func profilesIn(dir string) ([]Profile, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list profiles: %w", err)
	}
	var found []Profile
	for _, e := range entries {
		if e.IsDir() && isProfileName(e.Name()) {
			found = append(found, Profile{Directory: e.Name(), Name: e.Name()})
		}
	}
	return found, nil
}

// preferences are what a profile starts with.
func preferences(downloads string) []byte {
	text, _ := json.Marshal(map[string]any{
		"download": map[string]any{"default_directory": downloads, "prompt_for_download": false},
		"savefile": map[string]any{"default_directory": downloads},
	})
	return text
}

// makeUserData makes the user data directory of a profile if it is not there.
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
