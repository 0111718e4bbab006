package cli

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/agents"
)

func heldCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "held",
		Short: "List the tabs that clients lease",
		Long: `List the tabs that clients lease (browser_tab claim). "tabhub tabs release" ends a lease.

While an agent leases a tab, other agents' calls go to other tabs. The lease lasts until the
agent releases the tab or ends, or until some time after its latest call there. It does not
stop what you do yourself, by "tabhub call" or in the tab. --json also shows to which tabs
the calls of each session go.`,
		Example: `  tabhub tabs held
  tabhub tabs held --json`,
		Args: command.Args(cobra.NoArgs),
	}
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.Show(cmd.Context(), a, "/api/lease", nil, *asJSON, printLeases)
	}
	return cmd
}

func printLeases(a *command.App, sessions []agents.SessionInfo) error {
	all := a.Table("TAB", "LEASED BY", "UNTIL", "OTHERS", "CLIENT", "URL")
	n := 0
	for _, s := range sessions {
		for _, t := range s.Tabs {
			if t.Holds == nil {
				continue
			}
			n++
			others := "wait"
			if t.Holds.Reads {
				others = "read"
			}
			if a.OnTerminal() {
				t.URL = strings.TrimPrefix(terminal.OneLine(t.URL, 60), "https://")
			}
			all.Row(t.Tab, terminal.OneLine(t.Holds.Name, 80), endOf(t.Holds.Until), others, terminal.OneLine(s.Label, 40), t.URL)
		}
	}
	if n == 0 {
		a.Note("No client leases a tab. An agent does with browser_tab claim.")
		return nil
	}
	return all.Print()
}

func releaseCommand(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:     "release TAB",
		Short:   "End the lease of a tab, so that other clients can use it",
		Example: `  tabhub tabs release 1a2b3c4d:7`,
		Args:    command.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, pos []string) error {
			b, err := a.Do(cmd.Context(), http.MethodDelete, "/api/lease?"+url.Values{"tab": pos}.Encode(), nil)
			if err != nil {
				return err
			}
			var was agents.Holder
			if err := command.Decode(b, &was); err != nil {
				return err
			}
			a.Note("%s no longer leases tab %s; it is not notified, and may claim the tab again", terminal.OneLine(was.Name, 80), pos[0])
			return nil
		},
	}
}

// endOf returns when a lease ends, with its day unless that is today.
func endOf(at time.Time) string {
	at, now := at.Local(), time.Now()
	if at.YearDay() != now.YearDay() {
		return at.Format("01-02 15:04:05")
	}
	return at.Format(time.TimeOnly)
}
