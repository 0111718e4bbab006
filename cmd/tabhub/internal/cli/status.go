package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/build"
	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/face/admin"
)

func StatusCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the hub that runs",
		Example: `  tabhub status
  tabhub status --json`,
		Args: command.Args(cobra.NoArgs),
	}
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.Show(cmd.Context(), a, "/api/status", nil, *asJSON, func(_ *command.App, s admin.StatusReport) error {
			var p admin.PolicyReport
			if s.User != "" {
				if err := command.Ask(cmd.Context(), a, "/api/policy", &p); err != nil {
					return err
				}
			}
			return printStatus(a, &s, &p)
		})
	}
	return cmd
}

func printStatus(a *command.App, s *admin.StatusReport, p *admin.PolicyReport) error {
	t := a.Table()
	switch {
	case p.Paused():
		t.Row("state", command.StateCell(command.Paused))
	case s.User == "":
	case s.Hub.Browsers > 0:
		t.Row("state", command.StateCell(command.Connected))
	case s.Paired == 0:
		t.Row("state", command.StateCell(command.Unpaired))
	default:
		t.Row("state", command.StateCell(command.Away))
	}
	t.Row("tabhub", s.Version)
	if own := build.Version(); build.Differ(s.Version, own) {
		t.Row("this program", own+"; "+build.OfOtherVersion(own, &s.Info, a.Tabhub("stop")))
	}
	how := "by hand"
	switch {
	case s.Service:
		how = "by the system (`tabhub autostart`)"
	case s.Auto:
		how = "by a client"
	}
	t.Row("process", fmt.Sprintf("%d, started %s, %s", s.PID, how, s.Started.Local().Format(time.DateTime)))
	for _, addr := range s.Addrs {
		t.Row("address", addr)
	}
	t.Row("socket", s.Socket)
	t.Row("data", s.DataDir)
	if s.Config != "" {
		t.Row("settings", s.Config+", read at the start")
	}
	if s.LogFile != "" {
		t.Row("log", s.LogFile)
	}
	if s.PolicyFile != nil {
		t.Row("policy", fileState(s.PolicyFile))
	}
	t.Row("clients", s.Clients)
	if s.User == "" {
		t.Row("users", "each has a hub of their own; set TABHUB_TOKEN to the token of one to see it")
		return t.Print()
	}
	t.Row("browsers", fmt.Sprintf("%d connected, %d paired", s.Hub.Browsers, s.Paired))
	if s.Relayed > 0 {
		t.Row("extensions", fmt.Sprintf("%d of the proxy protocols, for clients of these", s.Relayed))
	}
	tabs := fmt.Sprint(s.Hub.Tabs)
	if s.Hub.Pages > 0 {
		tabs += fmt.Sprintf(", %d of them pages that joined by themselves", s.Hub.Pages)
	}
	t.Row("tabs", tabs)
	tools := fmt.Sprintf("%d of pages, sites %d", s.Hub.Tools, s.Hub.Domains)
	if s.Hub.Cached > 0 {
		tools += fmt.Sprintf(", %d cached of closed ones", s.Hub.Cached)
	}
	t.Row("tools", tools)
	t.Row("calls", fmt.Sprintf("%d, %d under way", s.Hub.Calls, s.Hub.InFlight))
	if s.Questions > 0 {
		t.Row("questions", fmt.Sprintf("%d for you; `tabhub approve` shows them", s.Questions))
	}
	printPauses(a, t, p)
	if s.Hub.Rejected > 0 {
		t.Row(command.StateCell("refused"), fmt.Sprintf("%d; `tabhub tabs` shows where", s.Hub.Rejected))
	}
	bad := func(name, words string) { t.Row(terminal.Cell{Text: name, Tone: terminal.Bad, State: true}, words) }
	if s.Hub.StoreError != "" {
		bad("store", s.Hub.StoreError)
	}
	switch {
	case s.Record.Error != "":
		bad("record", "what is done now is not recorded: "+s.Record.Error)
	case s.Record.Lost > 0:
		bad("record", fmt.Sprintf("%d entries could not be written", s.Record.Lost))
	}
	return t.Print()
}
