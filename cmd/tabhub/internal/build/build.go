package build

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"tabhub/cmd/tabhub/internal/bridge"
	"tabhub/hub/face/admin"
)

// These are set by the linker of a release build: its version, its commit, and when that was
// made, as RFC 3339 has it. Other builds know what the go command has seen of the repository.
var release, commit, commitDate string

// noVersion is what a build that knows no version calls itself.
const noVersion = "dev"

// Version is the version of this build, or noVersion.
var Version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if release != "" || !ok || info.Main.Version == "(devel)" {
		return cmp.Or(release, noVersion)
	}
	return cmp.Or(info.Main.Version, noVersion)
})

// Source is the commit of this build and when it was made, in brackets, or "" if it knows none.
func Source() string {
	of, at := commit, commitDate
	if info, ok := debug.ReadBuildInfo(); ok && of == "" {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				of = s.Value
			case "vcs.time":
				at = s.Value
			}
		}
	}
	if of == "" {
		return ""
	}
	day, _, _ := strings.Cut(at, "T")
	return fmt.Sprintf(" (%.12s, %s)", of, day)
}

// File is a file that tabhub is started from.
type File struct {
	Path  string    // "": it does not outlive the process
	Built time.Time // when it was written, as of the start of this process
}

// This returns the file that this process was started from.
func This() (p File) {
	path, err := Installed()
	if err != nil {
		return p
	}
	if fi, err := os.Stat(path); err == nil {
		p = File{path, fi.ModTime()}
	}
	return p
}

// Executable returns the path of this program, and whether it will still be there
// tomorrow: `go run` deletes what it has built.
func Executable() (path string, lasting bool) {
	path, err := os.Executable()
	if err != nil {
		return "tabhub", false
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path, !strings.Contains(filepath.ToSlash(path), "/go-build")
}

// Installed returns the path by which clients can start this program.
func Installed() (string, error) {
	path, lasting := Executable()
	if !lasting {
		return "", errors.New("this is a program that `go run` deletes when it ends; install it first: go install ./cmd/tabhub")
	}
	// The name on the PATH, or that it was started by, may be a link that outlives an update of
	// what it leads to.
	for _, name := range []string{"tabhub", os.Args[0]} {
		if found, err := exec.LookPath(name); err == nil {
			found, err = filepath.Abs(found)
			if err == nil && bridge.SameFile(found, path) {
				return found, nil
			}
		}
	}
	return path, nil
}

// Differ compares versions. A build that has none, such as that of go run, may be any.
func Differ(a, b string) bool {
	return a != b && a != noVersion && b != noVersion
}

// OfOtherVersion says how the hub and this program, of version own, become one again. stop is
// the command that ends the hub.
func OfOtherVersion(own string, hub *admin.Info, stop string) string {
	switch {
	case bridge.Compare(own, hub.Version) < 0:
		return "update it: the hub is newer"
	case hub.Auto:
		return "`" + stop + "`; the next client starts a hub of it"
	case hub.Service:
		return "`tabhub autostart on` starts the hub anew"
	}
	return "`" + stop + "`, and start the hub again as it was"
}
