package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/build"
	"tabhub/cmd/tabhub/internal/command"
)

// manCommand writes the manual pages, for packagers of the program.
func manCommand(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages, tabhub.1 and one for each command, to a directory",
		Example: "  tabhub man ~/.local/share/man/man1",
		Hidden:  true,
		Args:    command.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, pos []string) error {
			if err := os.MkdirAll(pos[0], 0o755); err != nil {
				return err
			}
			return writeMan(cmd.Root(), pos[0])
		},
	}
}

// writeMan writes the pages of a command and of those below it. cobra's own writer goes through
// Markdown, whose library would be prepared at each start of the program.
func writeMan(cmd *cobra.Command, dir string) error {
	var see []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			see = append(see, manName(c))
			if err := writeMan(c, dir); err != nil {
				return err
			}
		}
	}
	if cmd.HasParent() {
		see = append(see, manName(cmd.Parent()))
	}
	name := manName(cmd)
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 %q %q %q\n", strings.ToUpper(name), "", "tabhub "+build.Version(), "tabhub")
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, ".SH %s\n%s", title, text)
		}
	}
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	section("NAME", roff(name)+` \- `+roff(cmd.Short)+"\n")
	section("SYNOPSIS", ".B "+roff(cmd.UseLine())+"\n")
	section("DESCRIPTION", strings.ReplaceAll(roff(joined(about)), "\n\n", "\n.PP\n")+"\n")
	section("OPTIONS", manFlags(cmd.NonInheritedFlags()))
	section("OPTIONS OF ALL COMMANDS", manFlags(cmd.InheritedFlags()))
	if cmd.HasExample() {
		section("EXAMPLES", ".nf\n"+roff(cmd.Example)+"\n.fi\n")
	}
	section("SEE ALSO", roff(strings.Join(see, "(1), "))+"(1)\n")
	return os.WriteFile(filepath.Join(dir, name+".1"), []byte(b.String()), 0o644)
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func manFlags(all *pflag.FlagSet) string {
	var b strings.Builder
	all.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		of, help := pflag.UnquoteUsage(f)
		short := ""
		if f.Shorthand != "" {
			short = "-" + f.Shorthand + ", "
		}
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace(short+"--"+f.Name+" "+of)), roff(help))
	})
	return b.String()
}

// roff is text that troff sets as it is.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
