package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/spf13/cobra"
)

// release is set by the linker of a release build; other builds are known by their
// commit.
var release string

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

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: `  tabhub version`,
		Args:    args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.out, "tabhub %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
