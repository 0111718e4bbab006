package main

import (
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"tabhub/hub/state"
)

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
	t := a.table()
	t.Row("name", e.Name)
	t.Row("is", fmt.Sprintf("%s %s of %s", e.Kind, e.Item, e.Domain))
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
