package main

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/settings"
)

// commands returns all that a user can run, with what they are below.
func commands(root *cobra.Command) (all []*cobra.Command) {
	for _, c := range root.Commands() {
		if c.Name() != "help" && c.Name() != "completion" {
			all = append(append(all, c), commands(c)...)
		}
	}
	return all
}

var word = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)

// Help is read in a terminal, which breaks long lines anywhere.
func TestHelpIsWrapped(t *testing.T) {
	for _, c := range commands(rootCommand(new(command.App))) {
		for line := range strings.Lines(c.Long) {
			if n := utf8.RuneCountInString(line); n > 100 {
				t.Errorf("%s has a line of %d characters: %s", c.CommandPath(), n, line)
			}
		}
	}
}

// A command or a flag more is one more for everybody to read past. These numbers may only fall, but for
// what no other command does: preflight is for schedulers, --pack for rules about packs.
const (
	mostCommands = 29 // of the first level
	mostBelow    = 30
	mostFlags    = 67 // of different names
)

func TestCommandsAreFew(t *testing.T) {
	root := rootCommand(new(command.App))
	first, below, flags := 0, 0, map[string]bool{}
	note := func(f *pflag.Flag) { flags[f.Name] = true }
	root.PersistentFlags().VisitAll(note)
	for _, c := range commands(root) {
		if c.Parent() == root {
			first++
		} else {
			below++
		}
		c.Flags().VisitAll(note)
	}
	if first > mostCommands || below > mostBelow || len(flags) > mostFlags {
		t.Errorf("there are %d commands with %d below them and %d flags; there may be %d, %d and %d", first, below, len(flags), mostCommands, mostBelow, mostFlags)
	}
}

// Each command shows how it is used, by examples that can be typed.
func TestExamples(t *testing.T) {
	for _, c := range commands(rootCommand(new(command.App))) {
		examples := strings.Split(c.Example, "\n")
		if c.Runnable() && !c.HasSubCommands() && c.Example == "" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for _, line := range examples {
			var words []string
			for _, w := range word.FindAllString(line, -1) {
				if w == "|" || w == "<" {
					break
				}
				words = append(words, strings.Trim(w, `'"`))
			}
			if len(words) == 0 {
				continue
			}
			found, rest, err := parsing().Find(words[1:])
			if err == nil {
				err = found.ParseFlags(rest)
			}
			if err == nil && found.Args != nil {
				err = found.Args(found, found.Flags().Args())
			}
			if err != nil || found.CommandPath() != c.CommandPath() {
				t.Errorf("%s: the example %q is of %s: %v", c.CommandPath(), line, found.CommandPath(), err)
			}
		}
	}
}

// The guide to the terminal has each command, in the group of the help.
func TestGuideNamesTheCommands(t *testing.T) {
	text, err := os.ReadFile("../../spec/docs/USE.md")
	if err != nil {
		t.Fatal(err)
	}
	root := rootCommand(new(command.App))
	for _, g := range commandGroups {
		row := regexp.MustCompile(`(?m)^\| ` + g.Title + ` \| (.*) \|$`).FindStringSubmatch(string(text))
		if row == nil {
			t.Errorf("the guide has no row %q", g.Title)
			continue
		}
		var got, want []string
		for _, m := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(row[1], -1) {
			got = append(got, m[1])
		}
		isOf := func(c *cobra.Command) bool { return c.GroupID == g.ID && c.IsAvailableCommand() }
		for _, c := range root.Commands() {
			if isOf(c) {
				want = append(want, c.Name())
			}
		}
		if g.ID == groupHub {
			want = append(want, "completion")
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("the guide has %q for %s, and the commands are %q", got, g.Title, want)
		}
	}
}

// Nobody finds a flag among dozens that stand in no order.
func TestFlagsAreInGroups(t *testing.T) {
	f := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	settings.New().AddFlags(f)
	f.VisitAll(func(f *pflag.Flag) {
		if len(f.Annotations[command.GroupKey]) == 0 {
			t.Errorf("--%s is in no group", f.Name)
		}
	})
}

// The help fits the terminal, and says all that it has to.
func TestHelp(t *testing.T) {
	var b bytes.Buffer
	if code := run(t.Context(), []string{"serve", "--help"}, nil, &b, &b, func(string) string { return "" }); code != command.ExitOK {
		t.Fatalf("exit code %d: %s", code, b.String())
	}
	for _, want := range []string{"Run the hub in this terminal", "\nUsage:\n  tabhub serve [flags]\n", "\nExamples:\n  tabhub serve --demo\n", "\nCredentials:\n      --auth string ", "\nFlags of all commands:\n      --config "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the help lacks %q:\n%s", want, b.String())
		}
	}
}
