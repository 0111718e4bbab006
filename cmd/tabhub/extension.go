package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"tabhub/tabtransport/extension"
)

func (a *app) extensionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "extension DIR",
		Short: "Write the browser extension to a directory, for \"Load unpacked\"",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, pos []string) error {
			if err := extension.Write(pos[0]); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "The extension is in %s.\nOpen chrome://extensions, switch on Developer mode, choose \"Load unpacked\" and this directory.\n", pos[0])
			return nil
		},
	}
}
