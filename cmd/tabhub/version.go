package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/spf13/cobra"
)

// These are set by the linker of a release build: its version, its commit, and when that was
// made, as RFC 3339 has it. Other builds know what the go command has seen of the repository.
var release, commit, commitDate string

// noVersion is what a build that knows no version calls itself.
const noVersion = "dev"

// version is the version of this build, or noVersion.
var version = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if release != "" || !ok || info.Main.Version == "(devel)" {
		return cmp.Or(release, noVersion)
	}
	return cmp.Or(info.Main.Version, noVersion)
})

// source is the commit of this build and when it was made, in brackets, or "" if it knows none.
func source() string {
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

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: `  tabhub version`,
		Args:    args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.out, "tabhub %s%s %s %s/%s\n", version(), source(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
