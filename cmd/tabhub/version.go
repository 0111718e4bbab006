package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/build"
	"tabhub/cmd/tabhub/internal/command"
)

func versionCommand(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: `  tabhub version`,
		Args:    command.Args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.Out, "tabhub %s%s %s %s/%s\n", build.Version(), build.Source(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
