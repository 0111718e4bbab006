package main

import (
	"os"
	"path/filepath"

	mango "github.com/muesli/mango-cobra"
	"github.com/muesli/roff"
	"github.com/spf13/cobra"
)

// manCommand writes the manual page, for those who package the program.
func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual page, tabhub.1, to a directory",
		Example: "  tabhub man ~/.local/share/man/man1",
		Hidden:  true,
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, pos []string) error {
			root := cmd.Root()
			root.Long = joined(root.Long)
			page, err := mango.NewManPage(1, root)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(pos[0], 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(pos[0], "tabhub.1"), []byte(page.Build(roff.NewDocument())), 0o644)
		},
	}
}
