package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/cmd/tabhub/internal/terminal"
)

// Groups of commands, as `tabhub --help` shows them.
const (
	groupUse    = "use"
	groupDecide = "decide"
	groupSetUp  = "setup"
	groupHub    = "hub"
)

var commandGroups = []*cobra.Group{
	{ID: groupUse, Title: "What pages offer"},
	{ID: groupDecide, Title: "What is done, and what may be"},
	{ID: groupSetUp, Title: "Browsers and clients"},
	{ID: groupHub, Title: "The hub"},
}

// help prints what a command is for, and how it is used.
func help(a *command.App, cmd *cobra.Command) {
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	fmt.Fprintf(a.Out, "%s\n\n", reflow(a, about))
	usage(a, cmd)
}

// usage prints how a command is used.
func usage(a *command.App, cmd *cobra.Command) error {
	fmt.Fprintln(a.Out, "Usage:")
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(a.Out, "  %s COMMAND\n", cmd.CommandPath())
	}
	if cmd.Runnable() && cmd.HasParent() {
		fmt.Fprintf(a.Out, "  %s\n", cmd.UseLine())
	}
	if cmd.HasExample() {
		fmt.Fprintf(a.Out, "\nExamples:\n%s\n", cmd.Example)
	}
	for _, g := range cmd.Groups() {
		printCommands(a, cmd, g.Title, g.ID)
	}
	printCommands(a, cmd, "Commands", "")
	printFlags(a, cmd.LocalFlags(), "Flags")
	if cmd.LocalFlags().Lookup("set") != nil {
		fmt.Fprintf(a.Out, "\nFurther settings, for --set, the environment and %s:\n", a.ConfigPath())
		t := a.Table()
		for _, s := range settings.New().All {
			if s.Kind&(settings.IsFlag|settings.IsHidden) == 0 {
				t.Row(terminal.Cell{Text: "  " + s.Name, Tone: terminal.Strong}, s.Help)
			}
		}
		t.Print()
	}
	printFlags(a, cmd.InheritedFlags(), "Flags of all commands")
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(a.Out, "\n`%s COMMAND --help` says more.\n", cmd.CommandPath())
	}
	return nil
}

func printCommands(a *command.App, of *cobra.Command, title, group string) {
	t := a.Table()
	some := false
	for _, c := range of.Commands() {
		if c.IsAvailableCommand() && c.GroupID == group {
			t.Row(terminal.Cell{Text: "  " + c.Name(), Tone: terminal.Strong}, c.Short)
			some = true
		}
	}
	if some {
		fmt.Fprintf(a.Out, "\n%s:\n", title)
		t.Print()
	}
}

// printFlags prints flags under the titles of their groups, those of none under the last one.
func printFlags(a *command.App, all *pflag.FlagSet, last string) {
	groups := make(map[string]*pflag.FlagSet)
	var titles []string
	all.VisitAll(func(f *pflag.Flag) {
		title := last
		if of := f.Annotations[command.GroupKey]; len(of) > 0 {
			title = of[0]
		}
		if groups[title] == nil {
			groups[title] = pflag.NewFlagSet("", pflag.ContinueOnError)
			groups[title].SortFlags = all.SortFlags
			if title != last {
				titles = append(titles, title)
			}
		}
		groups[title].AddFlag(f)
	})
	for _, title := range append(titles, last) {
		if group := groups[title]; group != nil && group.HasAvailableFlags() {
			fmt.Fprintf(a.Out, "\n%s:\n", title)
			io.WriteString(a.Out, group.FlagUsagesWrapped(a.Screen().Columns))
		}
	}
}

// reflow wraps the paragraphs of a text to the terminal's width, and to one that is easy to read.
func reflow(a *command.App, text string) string {
	s := a.Screen()
	if s.Columns == 0 {
		return text
	}
	s.Columns = min(s.Columns, textColumns)
	return s.Text(terminal.Plain, joined(text))
}

// joined makes each paragraph one line, but for those with lines that are indented.
func joined(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if !strings.Contains(p, "\n ") && !strings.HasPrefix(p, " ") {
			p = strings.ReplaceAll(p, "\n", " ")
		}
		paragraphs[i] = p
	}
	return strings.Join(paragraphs, "\n\n")
}

// textColumns is how wide a text is at most that is to be read.
const textColumns = 90
