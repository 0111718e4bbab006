package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manCommand writes the manual pages, for those who package the program.
func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages, tabhub.1 and one for each command, to a directory",
		Example: "  tabhub man ~/.local/share/man/man1",
		Hidden:  true,
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, pos []string) error {
			if err := os.MkdirAll(pos[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			return doc.GenManTreeFromOpts(root, doc.GenManTreeOptions{
				Header:           &doc.GenManHeader{Section: "1", Source: "tabhub " + version(), Manual: "tabhub"},
				Path:             pos[0],
				CommandSeparator: "-",
			})
		},
	}
}
