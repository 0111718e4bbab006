package main

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"tabhub/hub/httpd"
	"tabhub/hub/record"
)

func (a *app) logCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "log", Short: "Show the latest calls and registrations", Args: args(cobra.NoArgs)}
	asJSON := jsonFlag(cmd)
	limit := cmd.Flags().Int("limit", 50, "how many, at most 10000")
	event := cmd.Flags().String("event", "", "only these, such as call")
	site := cmd.Flags().String("site", "", "only of this site")
	tool := cmd.Flags().String("tool", "", "only of this tool, by the page's name")
	since := cmd.Flags().Duration("since", 0, "only the latest, such as 10m")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case *limit < 1 || *limit > httpd.MaxLog:
			return usagef("--limit is %d; it may be 1 to %d", *limit, httpd.MaxLog)
		case *since < 0:
			return usagef("--since is %s; it may not be negative", *since)
		}
		if err := (&record.Query{Event: record.Event(*event)}).Check(); err != nil {
			return usagef("--%s", err)
		}
		q := url.Values{"limit": {strconv.Itoa(*limit)}}
		for name, value := range map[string]string{"event": *event, "site": *site, "tool": *tool} {
			if value != "" {
				q.Set(name, value)
			}
		}
		if *since > 0 {
			q.Set("since", time.Now().Add(-*since).Format(time.RFC3339))
		}
		return show(cmd.Context(), a, "/api/log", q, *asJSON, func(records []record.Line) error {
			slices.Reverse(records) // the newest last, where a person looks first
			return a.table("TIME\tEVENT\tOUTCOME\tTOOK\tDOMAIN\tTOOL\tCLIENT\tVIA\tREASON", func(w io.Writer) {
				for _, r := range records {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Time.Local().Format(time.DateTime), clip(string(r.Event), 20), clip(r.Outcome, 60),
						r.Duration.Round(100*time.Microsecond), clip(string(r.Domain), 100), clip(r.Tool, 40), clip(cmp.Or(r.Name, r.Said), 24), r.Via, clip(r.Reason, 80))
				}
			})
		})
	}
	return cmd
}
