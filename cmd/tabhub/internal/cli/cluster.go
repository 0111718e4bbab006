package cli

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/cluster"
)

func ClusterCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Look after the nodes of a cluster",
		Long: `Look after the nodes of a cluster of hubs (the setting cluster). Each user's hub is
on one node at a time; the others send on to it what comes to them. These commands ask
the node of this machine.`,
		Args: command.NoCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(clusterStatusCommand(a), clusterDrainCommand(a))
	return cmd
}

func clusterStatusCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "List the nodes, or say on which one a user is",
		Example: `  tabhub cluster status
  tabhub cluster status --user ann@example.com`,
		Args: command.Args(cobra.NoArgs),
	}
	user := cmd.Flags().String("user", "", "say where the hub of this `user` is")
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		query := url.Values{}
		if *user != "" {
			query.Set("user", *user)
		}
		return command.Show(cmd.Context(), a, "/api/cluster", query, *asJSON, printCluster)
	}
	return cmd
}

func printCluster(a *command.App, r cluster.Report) error {
	if r.User != "" {
		if r.Where == "" {
			a.Note("The hub of %s is on no node; whichever is asked for it next opens it", terminal.OneLine(string(r.User), 80))
			return nil
		}
		a.Note("The hub of %s is on %s", terminal.OneLine(string(r.User), 80), r.Where)
		return nil
	}
	t := a.Table("NODE", "STATE", "USERS", "ADDRESS", "VERSION", "SINCE")
	for _, m := range r.Nodes {
		name := m.Name
		if name == r.Node {
			name += " (this one)"
		}
		state := string(m.State)
		if slices.Contains(r.Unreached, m.Name) {
			state += ", not reached from here"
		}
		if r.Trouble != "" && name == m.Name {
			state = "not known"
		}
		t.Row(name, state, strconv.Itoa(m.Users), m.URL, m.Version, m.Started.Local().Format("2006-01-02 15:04"))
	}
	if err := t.Print(); err != nil || r.Trouble == "" {
		return err
	}
	a.Note("This node serves nobody: %s", terminal.OneLine(r.Trouble, 400))
	return nil
}

// drainWait is how long a drain takes at least. A balancer that asks each second, and believes the
// second answer, has heard it by then; one that repeats no request would answer in the place of
// a node that listens no more.
const drainWait = 5 * time.Second

func clusterDrainCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "drain",
		Short: "Give all users of this node to others",
		Long: `Give all users of this node to others, one by one, each in a moment without calls, and take
none from now on. Clients and browsers come back by themselves. It ends when the
last one has gone, and balancers have had the time --wait to see at /readyz that the node
takes none; it can be stopped then. A node that is stopped without it does the same in a
hurry, and does not wait for balancers. Where no other node takes users it refuses. --undo
has the node take users again.`,
		Example: `  tabhub cluster drain
  tabhub cluster drain --wait 15s
  tabhub cluster drain --undo`,
		Args: command.Args(cobra.NoArgs),
	}
	undo := cmd.Flags().Bool("undo", false, "take users again")
	wait := cmd.Flags().Duration("wait", drainWait, "end this long after the beginning at the earliest: how long balancers send to a node that is not ready")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		method, done := http.MethodPost, "This node has no users any more, and takes none"
		if *undo {
			method, done = http.MethodDelete, "This node takes users"
		}
		noticed := time.After(*wait)
		if err := a.Send(cmd.Context(), method, "/api/cluster/drain", nil); err != nil {
			return err
		}
		if !*undo {
			select {
			case <-noticed:
			case <-cmd.Context().Done():
				return cmd.Context().Err()
			}
		}
		a.Note("%s", done)
		return nil
	}
	return cmd
}
