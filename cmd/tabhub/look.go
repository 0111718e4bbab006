package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabhub/describe"
	"tabhub/hub/httpd"
	"tabhub/hub/mcpserver/proxytool"
	"tabhub/hub/state"
	"tabhub/naming"
	"tabhub/storage"
)

// jsonFlag adds --json.
func jsonFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("json", false, "print JSON")
}

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
				fmt.Fprintf(w, "clients\t%d\n", s.Clients)
				if s.User == "" {
					fmt.Fprintf(w, "users\teach has a hub of their own; set TABHUB_TOKEN to the token of one to see it\n")
					return
				}
				fmt.Fprintf(w, "browsers\t%d connected, %d paired\n", s.Hub.Browsers, s.Paired)
				fmt.Fprintf(w, "tabs\t%d\n", s.Hub.Tabs)
				fmt.Fprintf(w, "tools\t%d, sites %d\n", s.Hub.Tools, s.Hub.Domains)
				fmt.Fprintf(w, "calls\t%d, %d under way\n", s.Hub.Calls, s.Hub.InFlight)
				if s.Hub.Rejected > 0 {
					fmt.Fprintf(w, "refused\t%d; `tabhub tabs` shows where\n", s.Hub.Rejected)
				}
				if s.Hub.StoreError != "" {
					fmt.Fprintf(w, "store\t%s\n", s.Hub.StoreError)
				}
			})
		})
	}
	return cmd
}

func (a *app) tabsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "tabs", Short: "List the tabs that offer tools", Args: args(cobra.NoArgs)}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return show(cmd.Context(), a, "/api/tabs", nil, *asJSON, a.printTabs)
	}
	return cmd
}

func (a *app) printTabs(tabs []state.TabInfo) error {
	if len(tabs) == 0 {
		fmt.Fprintln(a.out, "No page offers tools yet. Open /demo of the hub, or a page of yours with its /tab.js.")
		return nil
	}
	err := a.table("DOMAIN\tTAB\tTOOLS\tSTATE\tBROWSER\tTITLE\tURL", func(w io.Writer) {
		for _, t := range tabs {
			for _, d := range t.Domains {
				fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\t%s\n", d.Domain, d.Number, d.Tools, tabState(t), clip(cmp.Or(t.BrowserName, "-"), 40), clip(t.Title, 40), clip(t.URL, 60))
			}
		}
	})
	for _, t := range tabs {
		for _, no := range t.Rejected {
			fmt.Fprintf(a.out, "\nrefused at %s: %s: %s\n", clip(t.URL, 60), clip(no.Name, 60), clip(no.Reason, 400))
		}
	}
	return err
}

func tabState(t state.TabInfo) string {
	switch {
	case !t.Connected:
		return "away"
	case t.Focused:
		return "active"
	}
	return "open"
}

// clip shortens what a page chose, for a line of a table.
func clip(s string, n int) string {
	r := []rune(describe.Visible(lineBreaks.Replace(s)))
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}

var lineBreaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ")

func (a *app) toolsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "tools", Short: "List the tools as clients see them", Args: args(cobra.NoArgs)}
	asJSON := jsonFlag(cmd)
	cost := cmd.Flags().Bool("cost", false, "what each tool's definition costs in a model's context, largest first")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return show(cmd.Context(), a, "/api/tools", nil, *asJSON, func(tools []httpd.ToolReport) error {
			if *cost {
				return a.printCost(tools)
			}
			return a.table("NAME\tDESCRIPTION", func(w io.Writer) {
				for _, t := range tools {
					fmt.Fprintf(w, "%s\t%s\n", t.Name, clip(description(t.Definition), 80))
				}
			})
		})
	}
	return cmd
}

func (a *app) printCost(tools []httpd.ToolReport) error {
	slices.SortStableFunc(tools, func(x, y httpd.ToolReport) int { return cmp.Compare(len(y.Definition), len(x.Definition)) })
	type site struct {
		name         string
		tools, bytes int
	}
	all, own, pages := 0, 0, 0
	var sites []*site
	err := a.table("TOKENS (ABOUT)\tBYTES\tNAME", func(w io.Writer) {
		for _, t := range tools {
			n := len(t.Definition)
			all += n
			if t.Domain == "" {
				own += n
			} else {
				pages += n + len(",") // what the hub compares with the budget
				name := naming.SiteOf(t.Domain)
				i := slices.IndexFunc(sites, func(s *site) bool { return s.name == name })
				if i < 0 {
					i = len(sites)
					sites = append(sites, &site{name: name})
				}
				sites[i].tools++
				sites[i].bytes += n + len(",")
			}
			fmt.Fprintf(w, "%d\t%d\t%s\n", proxytool.Tokens(n), n, t.Name)
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out)
	slices.SortFunc(sites, func(x, y *site) int { return cmp.Or(cmp.Compare(y.bytes, x.bytes), cmp.Compare(x.name, y.name)) })
	err = a.table("TOKENS (ABOUT)\tTOOLS\tSITE", func(w io.Writer) {
		for _, s := range sites {
			fmt.Fprintf(w, "%d\t%d\t%s\n", proxytool.Tokens(s.bytes), s.tools, s.name)
		}
	})
	fmt.Fprintf(a.out, "\n--expose all costs about %d tokens, --expose proxy %d\n", proxytool.Tokens(all), proxytool.Tokens(own))
	fmt.Fprintf(a.out, "--expose auto is as all with an --expose-budget of about %d or more, else it leaves out sites that cost much\n", proxytool.Tokens(pages))
	return err
}

func description(definition json.RawMessage) string {
	var t struct{ Description string }
	json.Unmarshal(definition, &t)
	return t.Description
}

func (a *app) explainCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain NAME",
		Short: "Say where a call of a tool would go now, and why",
		Args:  args(cobra.ExactArgs(1)),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		return show(cmd.Context(), a, "/api/explain", url.Values{"name": pos}, *asJSON, a.printExplanation)
	}
	return cmd
}

func (a *app) printExplanation(e state.Explanation) error {
	return a.table(e.Name, func(w io.Writer) {
		fmt.Fprintf(w, "is\t%s %s of %s\n", e.Kind, clip(e.Item, 200), e.Domain)
		switch {
		case e.Tab != nil:
			fmt.Fprintf(w, "goes to\t%s (%s)\n", clip(e.Tab.URL, 80), clip(e.Tab.Title, 40))
		case e.OpenURL != "":
			fmt.Fprintf(w, "opens\t%s\n", clip(e.OpenURL, 80))
		default:
			fmt.Fprintf(w, "goes\tnowhere\n")
		}
		fmt.Fprintf(w, "because\t%s\n", clip(e.Reason, 400))
		for _, c := range e.Candidates {
			fmt.Fprintf(w, "tab %d\t%s: %s\n", c.Number, clip(c.Tab.URL, 60), clip(c.Note, 200))
		}
	})
}

// maxLog is how many records the hub gives out at once.
const maxLog = 10_000

func (a *app) logCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "log", Short: "Show the latest calls and registrations", Args: args(cobra.NoArgs)}
	asJSON := jsonFlag(cmd)
	limit := cmd.Flags().Int("limit", 50, "how many, at most 10000")
	event := cmd.Flags().String("event", "", "only these: call, register or proxy")
	domain := cmd.Flags().String("domain", "", "only of this domain")
	tool := cmd.Flags().String("tool", "", "only of this tool, by the page's name")
	since := cmd.Flags().Duration("since", 0, "only the latest, such as 10m")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case *limit < 1 || *limit > maxLog:
			return usagef("--limit is %d; it may be 1 to %d", *limit, maxLog)
		case *since < 0:
			return usagef("--since is %s; it may not be negative", *since)
		}
		switch storage.Event(*event) {
		case "", storage.EventCall, storage.EventRegister, storage.EventProxy:
		default:
			return usagef("--event is %q; it may be call, register or proxy", *event)
		}
		q := url.Values{"limit": {strconv.Itoa(*limit)}}
		for name, value := range map[string]string{"event": *event, "domain": *domain, "tool": *tool} {
			if value != "" {
				q.Set(name, value)
			}
		}
		if *since > 0 {
			q.Set("since", time.Now().Add(-*since).Format(time.RFC3339))
		}
		return show(cmd.Context(), a, "/api/log", q, *asJSON, func(records []storage.Record) error {
			slices.Reverse(records) // the newest last, where a person looks first
			return a.table("TIME\tEVENT\tOUTCOME\tTOOK\tDOMAIN\tTOOL\tCLIENT\tREASON", func(w io.Writer) {
				for _, r := range records {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Time.Local().Format(time.DateTime), clip(string(r.Event), 20), clip(r.Outcome, 60),
						r.Duration.Round(100*time.Microsecond), clip(string(r.Domain), 100), clip(r.Tool, 40), clip(r.Client, 24), clip(r.Reason, 80))
				}
			})
		})
	}
	return cmd
}
