package cli

import (
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/state"
)

func ExplainCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain NAME",
		Short: "Say where a call of a tool would go now, and why",
		Long: `Say where a call of a tool would go now, and why.

With --client it is a call of the client's session that was here last: it stays with the
tab that its calls of the site went to first, and with the browsers that it is bound to.
Of several that have no token of their own, say what one calls itself ("tabhub tabs held"
has it under CLIENT), or its session. Without --client it is a call of one that comes
anew.`,
		Example: `  tabhub explain website_tool_shop_example_com__search
  tabhub explain website_tool_shop_example_com__search --client claude`,
		Args: command.Args(cobra.ExactArgs(1)),
	}
	asJSON := command.JSONFlag(cmd)
	client := cmd.Flags().String("client", "", "the client's `name` or id, or its session, as \"tabhub tabs held --json\" has it")
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		q := url.Values{"name": pos}
		if *client != "" {
			q.Set("client", *client)
		}
		return command.Show(cmd.Context(), a, "/api/explain", q, *asJSON, printExplanation)
	}
	return cmd
}

func printExplanation(a *command.App, e state.Explanation) error {
	t := a.Table()
	t.Row("name", e.Name)
	if e.Session != "" {
		t.Row("for", e.Session)
	}
	is := fmt.Sprintf("%s %s of %s", e.Kind, e.Item, e.Domain)
	if e.Pack != "" {
		is += ", by the pack " + e.Pack
	}
	t.Row("is", is)
	switch {
	case e.Tab != nil:
		t.Row("goes to", fmt.Sprintf("%s (%s)", e.Tab.URL, e.Tab.Title))
	case e.OpenURL != "":
		t.Row("opens", e.OpenURL)
	default:
		t.Row("goes", "nowhere")
	}
	t.Row("because", e.Reason)
	for _, c := range e.Candidates {
		t.Row(fmt.Sprintf("tab %d", c.Number), fmt.Sprintf("%s: %s", c.Tab.URL, c.Note))
	}
	return t.Print()
}
