package extension

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
)

// storeVersion is what browsers take for the version of an extension: numbers, not
// what a prerelease is called.
var storeVersion = regexp.MustCompile(`^\d+(\.\d+){0,3}`)

// ForStore returns the files of the extension, by name, as the stores of browsers take them:
// paired with no hub, without trusted input, of the version of a release, such as 1.2.0-rc.1. The
// manifest lacks the key, which a store adds: README.md says what for.
func ForStore(release string) (map[string][]byte, error) {
	number := storeVersion.FindString(release)
	if number == "" {
		return nil, fmt.Errorf("extension for stores: %q is no version; one such as 1.2.0 is", release)
	}
	all := maps.Clone(normal.files())
	delete(all, "README.md")
	var manifest map[string]any
	err := json.Unmarshal(all["manifest.json"], &manifest)
	if err == nil {
		delete(manifest, "key")
		manifest["version"], manifest["version_name"] = number, release
		all["manifest.json"], err = json.MarshalIndent(manifest, "", "  ")
	}
	if err != nil {
		return nil, fmt.Errorf("extension for stores: %w", err)
	}
	return all, nil
}
