package packcli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/face/admin"
	"tabhub/hub/trust/consent"
)

func Command(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pack",
		Short: "Give tools to sites that offer none",
		Long: `Give tools to sites that offer none, by packs: documents that say what each tool does on the
site's pages, step by step. A pack's tools go through the same rules, questions and record as
a site's own. Nobody but you adds one, and nothing of it is fetched later: a changed file
waits until you have seen the difference.`,
		Args: command.NoCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return listPacks(cmd.Context(), a, false) },
	}
	cmd.AddCommand(packAddCommand(a), packListCommand(a), packShowCommand(a), packRemoveCommand(a), packTestCommand(a), packNewCommand(a), packRecordCommand(a))
	return cmd
}

func packListCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the packs, what waits for you, and where they are not offered",
		Example: `  tabhub pack list`,
		Args:    command.Args(cobra.NoArgs),
	}
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return listPacks(cmd.Context(), a, *asJSON) }
	return cmd
}

func listPacks(ctx context.Context, a *command.App, asJSON bool) error {
	return command.Show(ctx, a, "/api/packs", nil, asJSON, printPacks)
}

func printPacks(a *command.App, packs []admin.PackReport) error {
	if len(packs) == 0 {
		a.Note("there is no pack; `tabhub pack add FILE` adds one, and `tabhub pack new URL` begins one for a site")
		return nil
	}
	t := a.Table("NAME", "STATE", "TOOLS", "PAGES", "ADDED", "FROM")
	var waiting, hints []string
	for i := range packs {
		p := &packs[i]
		v := versionOf(p)
		t.Row(p.Name, packState(p), packTools(v), strings.Join(v.Match, " "), command.ShortTime(v.Added), cmp.Or(v.From, "-"))
		if p.Waiting != nil {
			waiting = append(waiting, p.Name)
		}
		if fileHasChanged(p) {
			from := latestOf(p).From
			hints = append(hints, fmt.Sprintf("%s has changed since %s was added: `%s` shows how, and asks you", from, p.Name, a.Tabhub("pack", "add", from)))
		}
	}
	if err := t.Print(); err != nil {
		return err
	}
	if len(waiting) > 0 {
		which := "NAME"
		if len(waiting) == 1 {
			which = waiting[0]
		}
		a.Hint("\n%s: accept it on %s, or run `%s` in a terminal.", strings.Join(waiting, ", "), onDashboard(a), a.Tabhub("pack", "add", which))
	}
	for _, p := range packs {
		for _, none := range p.Absent {
			hints = append(hints, fmt.Sprintf("%s is not offered in %s: %s", p.Name, none.Browser, none.Why))
		}
	}
	for _, hint := range hints {
		a.Hint("\n%s", hint)
	}
	return nil
}

// versionOf returns the version of a pack that is in use or, if none is, the one that waits.
func versionOf(p *admin.PackReport) *admin.PackVersion { return cmp.Or(p.Active, p.Waiting) }

// latestOf returns the version of a pack that came last.
func latestOf(p *admin.PackReport) *admin.PackVersion { return cmp.Or(p.Waiting, p.Active) }

// packState says of a pack whether it is in use, and whether something waits for its owner.
func packState(p *admin.PackReport) terminal.Cell {
	switch {
	case p.Active == nil:
		return command.StateCell(command.Waiting)
	case p.Waiting != nil:
		return terminal.Cell{Text: "change waits", Tone: terminal.Wait, State: true}
	}
	return terminal.Cell{Text: "in use", Tone: terminal.Good, State: true}
}

func packTools(v *admin.PackVersion) string {
	if v.Script {
		return "a script"
	}
	return fmt.Sprint(len(v.Tools))
}

// howToAccept says where the owner accepts what waits.
func howToAccept(a *command.App, p *admin.PackReport) string {
	return "accept it on " + onDashboard(a) + ", or run `" + a.Tabhub("pack", "add", p.Name) + "` in a terminal"
}

// onDashboard says where the dashboard has packs.
func onDashboard(a *command.App) string {
	return "the dashboard, under Sites, Packs (`" + a.Tabhub("dashboard") + "` opens it)"
}

// fileHasChanged reports whether the file that a pack was read from is of another version by now.
func fileHasChanged(p *admin.PackReport) bool {
	v := latestOf(p)
	if !filepath.IsAbs(v.From) { // of a browser
		return false
	}
	is, err := readPacks(v.From)
	return err == nil && len(is) == 1 && is[0].doc.Hash != v.Hash
}

func packShowCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show NAME|FILE|DIR",
		Short: "Say what a pack, or one that a file would give, may do",
		Long: `Say in words what a pack may do: on which pages, what it sends where, what it clicks; and of
each tool its steps. Of a change that waits it says what is different. Of a FILE or a
DIR it says the same before you add it; nothing of it is run, or sent to the hub.

--json prints the document.`,
		Example: `  tabhub pack show shop-tools
  tabhub pack show ./shop-tools.json`,
		Args: command.Args(cobra.ExactArgs(1)),
	}
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		if isFile(pos[0]) {
			return showPackFiles(a, pos[0], *asJSON)
		}
		p, err := onePack(cmd.Context(), a, pos[0])
		if _, isThere := os.Stat(pos[0]); err != nil && isThere == nil {
			return fmt.Errorf("%w; for the file or folder of that name: `%s`", err, a.Tabhub("pack", "show", "./"+pos[0]))
		}
		if err != nil {
			return err
		}
		if *asJSON {
			return printDocument(a, versionOf(p).Document)
		}
		return printPack(a, p)
	}
	return cmd
}

// isFile reports whether an argument is a file, and not the name of a pack, which has no dot.
func isFile(arg string) bool { return strings.ContainsAny(arg, `./\`) }

func showPackFiles(a *command.App, path string, asJSON bool) error {
	all, err := readPacks(path)
	if err != nil {
		return err
	}
	for _, is := range all {
		if asJSON {
			if err := printDocument(a, is.doc.Text()); err != nil {
				return err
			}
			continue
		}
		a.Headline(is.doc.Name)
		printWords(a, is.doc.Words())
		printUnmapped(a, is.path, is.unmapped)
	}
	return nil
}

// printDocument prints a document as people edit it.
func printDocument(a *command.App, text []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(text), "", "  "); err != nil {
		return err
	}
	return a.PrintJSON(append(b.Bytes(), '\n'))
}

// printUnmapped says what of a file of another format has no place in the pack, or means something else there.
func printUnmapped(a *command.App, file string, unmapped []string) {
	if len(unmapped) == 0 {
		return
	}
	fmt.Fprintf(a.Out, "\nOf %s, this is different in the pack:\n", file)
	for _, words := range unmapped {
		fmt.Fprintln(a.Out, a.Screen().Indented("- ", words))
	}
}

// onePack gets a pack with its documents.
func onePack(ctx context.Context, a *command.App, name string) (*admin.PackReport, error) {
	var found []admin.PackReport
	err := command.Show(ctx, a, "/api/packs", url.Values{"name": {name}}, false, func(_ *command.App, packs []admin.PackReport) error {
		found = packs
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("there is no pack %q; `tabhub pack list` shows those that there are", name)
	}
	return &found[0], nil
}

// printPack prints all of a pack: what is in use, and what waits.
func printPack(a *command.App, p *admin.PackReport) error {
	a.Headline(p.Name)
	t := a.Table()
	t.Row("state", packState(p))
	v := versionOf(p)
	t.Row("added", fmt.Sprintf("%s, %s", command.ShortTime(v.Added), cmp.Or(means[v.By], "by "+v.By)))
	if v.From != "" {
		t.Row("from", v.From)
	}
	names := &command.Names{App: a}
	for i := range p.Allowed {
		t.Row("allowed", fmt.Sprintf("%s: %s (rule %s)", names.Of(p.Allowed[i].Client), command.RuleSubject(&p.Allowed[i]), p.Allowed[i].ID))
	}
	for _, none := range p.Absent {
		t.Row("not offered", fmt.Sprintf("in %s: %s", none.Browser, none.Why))
	}
	if err := t.Print(); err != nil {
		return err
	}
	printWords(a, v.Words)
	if p.Active != nil && p.Waiting != nil {
		fmt.Fprintln(a.Out, "\nA change waits for you; until you accept it, the above holds:")
		printChanges(a, p)
	}
	if p.Waiting != nil {
		a.Hint("\nIt waits for you: %s.", howToAccept(a, p))
	}
	return nil
}

// means say how a pack has come.
var means = map[string]string{consent.ByCommand: "by command", consent.ByDashboard: "on the dashboard", consent.ByWindow: "in a browser"}

// printWords prints what a pack may do, all of it: first in one sentence, then in parts, of which those of
// a tool begin with two spaces.
func printWords(a *command.App, words []string) {
	for i, line := range words {
		part, ofTool := strings.CutPrefix(line, "  ")
		switch {
		case i == 0:
			fmt.Fprintln(a.Out, a.Screen().Indented("", line+"."))
		case ofTool:
			number, step := "", part
			if n, words, ok := strings.Cut(part, ". "); ok && len(n) <= 2 && strings.Trim(n, "0123456789") == "" {
				number, step = n+". ", words
			}
			fmt.Fprintln(a.Out, a.Screen().Indented("    "+number, step))
		default:
			fmt.Fprintln(a.Out, a.Screen().Indented("- ", line))
		}
	}
}

// printChanges prints what is different in the version that waits, and what becomes of the owner's answers.
func printChanges(a *command.App, p *admin.PackReport) {
	for _, c := range p.Changes {
		what := map[bool]string{true: "added", false: "changed"}[c.Added]
		if c.Removed {
			what = "removed"
		}
		fmt.Fprintln(a.Out, a.Screen().Indented("- ", what+": "+c.What))
		if !c.Added {
			fmt.Fprintln(a.Out, a.Screen().Indented("    was ", c.Was))
		}
		if !c.Removed {
			fmt.Fprintln(a.Out, a.Screen().Indented("    is  ", c.Is))
		}
	}
	names := &command.Names{App: a}
	for i := range p.Allowed {
		what := "goes on to be allowed"
		if p.Withdraws {
			what = "is asked about again"
		}
		fmt.Fprintln(a.Out, a.Screen().Indented("- ", fmt.Sprintf("what you have allowed %s: %s: %s", what, names.Of(p.Allowed[i].Client), command.RuleSubject(&p.Allowed[i]))))
	}
}

func packRemoveCommand(a *command.App) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a pack, with the rules and answers that allow it something",
		Long: `Remove a pack: its tools are gone at once, and so is what you have allowed for good about it.
A browser that is away learns of it when it connects.`,
		Example: `  tabhub pack remove shop-tools`,
		Args:    command.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, pos []string) error {
			p, err := onePack(cmd.Context(), a, pos[0])
			if err != nil {
				return err
			}
			if err := a.Send(cmd.Context(), http.MethodDelete, "/api/packs?name="+url.QueryEscape(pos[0]), nil); err != nil {
				return err
			}
			a.Note("%s is removed, with the rules and answers that allowed it something", pos[0])
			if p.Active != nil && p.Active.Script {
				a.Note("its script runs on in pages that are open, until they are loaded anew, and in a browser that is away, until it connects")
			}
			return nil
		},
	}
}
