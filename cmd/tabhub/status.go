package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tabhub/hub/httpd"
)

func (a *app) statusCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "status", Short: "Show the hub that runs", Args: args(cobra.NoArgs)}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return show(cmd.Context(), a, "/api/status", nil, *asJSON, func(s httpd.StatusReport) error {
			return a.table("tabhub\t"+s.Version, func(w io.Writer) {
				how := "by hand"
				if s.Auto {
					how = "by a client"
				}
				fmt.Fprintf(w, "process\t%d, started %s, %s\n", s.PID, how, s.Started.Local().Format(time.DateTime))
				for _, addr := range s.Addrs {
					fmt.Fprintf(w, "address\t%s\n", addr)
				}
				fmt.Fprintf(w, "socket\t%s\n", s.Socket)
				fmt.Fprintf(w, "data\t%s\n", s.DataDir)
				if s.PolicyFile != nil {
					fmt.Fprintf(w, "policy\t%s\n", fileState(s.PolicyFile))
				}
				fmt.Fprintf(w, "clients\t%d\n", s.Clients)
				if s.User == "" {
					fmt.Fprintf(w, "users\teach has a hub of their own; set TABHUB_TOKEN to the token of one to see it\n")
					return
				}
				fmt.Fprintf(w, "browsers\t%d connected, %d paired\n", s.Hub.Browsers, s.Paired)
				tabs := fmt.Sprintf("tabs\t%d", s.Hub.Tabs)
				if s.Hub.Pages > 0 {
					tabs += fmt.Sprintf(", %d of them pages that joined by themselves", s.Hub.Pages)
				}
				fmt.Fprintln(w, tabs)
				tools := fmt.Sprintf("tools\t%d of pages, sites %d", s.Hub.Tools, s.Hub.Domains)
				if s.Hub.Cached > 0 {
					tools += fmt.Sprintf(", %d cached of closed ones", s.Hub.Cached)
				}
				fmt.Fprintln(w, tools)
				fmt.Fprintf(w, "calls\t%d, %d under way\n", s.Hub.Calls, s.Hub.InFlight)
				if s.Hub.Rejected > 0 {
					fmt.Fprintf(w, "refused\t%d; `tabhub tabs` shows where\n", s.Hub.Rejected)
				}
				if s.Hub.StoreError != "" {
					fmt.Fprintf(w, "store\t%s\n", s.Hub.StoreError)
				}
				switch {
				case s.Record.Error != "":
					fmt.Fprintf(w, "record\twhat is done now is not recorded: %s\n", s.Record.Error)
				case s.Record.Lost > 0:
					fmt.Fprintf(w, "record\t%d entries could not be written\n", s.Record.Lost)
				}
			})
		})
	}
	return cmd
}
