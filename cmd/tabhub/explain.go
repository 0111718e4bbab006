package main

import (
	"fmt"
	"io"
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
