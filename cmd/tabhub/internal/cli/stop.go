package cli

import (
	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/home"
)

func StopCommand(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "End the hub",
		Long: `End the hub. Calls that are under way are answered first. Clients stay connected;
their next request starts a hub again.`,
		Example: `  tabhub stop`,
		Args:    command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := a.Dir()
			if err != nil {
				return err
			}
			if !dir.Held(home.HubLock) {
				a.Note("the hub is not running")
				return nil
			}
			if err := command.Stop(cmd.Context(), a, dir, command.StopAsk, command.StopWait); err != nil {
				return err
			}
			a.Note("the hub has ended")
			return nil
		},
	}
}
