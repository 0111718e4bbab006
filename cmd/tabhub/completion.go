package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/settings"
)

// completeWithin is how long the hub may take to say what completes a word. Without an answer
// there is nothing to choose from, and no error: somebody is typing.
const completeWithin = 500 * time.Millisecond

// completions are the commands whose first argument is one of what the hub lists at a path, by
// that member of each element.
var completions = map[string]struct{ path, member string }{
	"tabhub call":           {"/api/tools", "name"},
	"tabhub explain":        {"/api/tools", "name"},
	"tabhub site":           {"/api/tools", "domain"},
	"tabhub pack show":      {"/api/packs", "name"},
	"tabhub pack test":      {"/api/packs", "name"},
	"tabhub pack remove":    {"/api/packs", "name"},
	"tabhub approve":        {"/api/questions", "id"},
	"tabhub browser forget": {"/api/pair", "id"},
	"tabhub token revoke":   {"/api/clients", "id"},
}

// addCompletions says for all commands below cmd what completes their first argument and the
// values of their flags, beside what they say themselves.
func addCompletions(a *command.App, cmd *cobra.Command) {
	if of, ok := completions[cmd.CommandPath()]; ok {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, before []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(before) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return complete(a, cmd, of.path, of.member, begun), cobra.ShellCompDirectiveNoFileComp
		}
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if choice, ok := f.Value.(*settings.ChoiceValue); ok {
			cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(choice.Choices, cobra.ShellCompDirectiveNoFileComp))
		} else if strings.Contains(f.Usage, "`file`") {
			cmd.MarkFlagFilename(f.Name)
		}
	})
	for _, below := range cmd.Commands() {
		addCompletions(a, below)
	}
}

// complete returns what begins so of a member of all that the hub lists at a path. It is a name or an
// id that the hub has made, which to a shell is a word.
func complete(a *command.App, cmd *cobra.Command, path, member, begun string) (values []cobra.Completion) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
	defer cancel()
	a.FromEnv(cmd)
	var all []map[string]any
	_ = command.Ask(ctx, a, path, &all)
	for _, of := range all {
		if value, _ := of[member].(string); strings.HasPrefix(value, begun) {
			values = append(values, value)
		}
	}
	return values
}
