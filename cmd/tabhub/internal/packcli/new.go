package packcli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/offer/pack"
	"tabhub/spec"
)

func packNewCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new URL|FILE",
		Short: "Begin a pack for a site, or make one of a file of another format",
		Long: `Begin a pack for the site of an address: a document with one tool that reads the page's
heading, to be changed. Of a FILE of another format it prints the pack that "tabhub pack add"
would make of it. Nothing is added.

The guide PACKS.md, "Write a pack in ten minutes", says how it goes on.`,
		Example: `  tabhub pack new https://shop.example.com/search -o shop-tools.json`,
		Args:    command.Args(cobra.ExactArgs(1)),
	}
	out := cmd.Flags().StringP("output", "o", "", "write it into a new `file`, instead of printing it")
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		p, unmapped, err := newPack(pos[0])
		if err != nil {
			return err
		}
		for _, words := range unmapped {
			a.Note("different in the pack: %s", words)
		}
		if *out == "" {
			return printDocument(a, p.Text())
		}
		if err := writeNew(*out, p.Text()); err != nil {
			return err
		}
		a.Note("%s is there; `%s` says what it may do, `%s` adds it", *out, a.Tabhub("pack", "show", *out), a.Tabhub("pack", "add", *out))
		return nil
	}
	return cmd
}

// newPack returns the pack that begins one for a site, or that of a file of another format.
func newPack(arg string) (*pack.Pack, []string, error) {
	if !strings.Contains(arg, "://") {
		all, err := readPacks(arg)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil, command.Usagef("%q is no address, such as https://shop.example.com/, and no file", arg)
		case err != nil:
			return nil, nil, err
		case len(all) > 1:
			return nil, nil, command.Usagef("%s has %d packs; name the file of one", arg, len(all))
		}
		return all[0].doc, all[0].unmapped, nil
	}
	at, err := url.Parse(arg)
	if err != nil || at.Host == "" {
		return nil, nil, command.Usagef("%q is no address, such as https://shop.example.com/", arg)
	}
	path := at.EscapedPath()
	if path == "" {
		path = "/"
	}
	doc := spec.Pack{
		Format: spec.PackFormat, Name: packNameOf(at.Hostname()), Title: "Tools for " + at.Hostname(), For: at.Hostname(),
		Match: []string{at.Scheme + "://" + at.Host + "/*"}, Start: path,
		Tools: []spec.PackTool{{
			Name:         "read_heading",
			Description:  "Returns the heading of the page. (Change this tool, its steps and its schema; add others beside it.)",
			InputSchema:  json.RawMessage(`{"type":"object","properties":{}}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"heading":{"type":"string"}},"required":["heading"]}`),
			Annotations:  &spec.PackHints{ReadOnly: true},
			Steps: []spec.Step{{Read: &spec.ReadStep{Fields: map[string]spec.ReadField{
				"heading": {Target: &spec.Target{Role: "heading", Nth: 1}},
			}}}},
			Examples: []spec.PackExample{{At: path}},
		}},
	}
	p, err := pack.New(&doc)
	return p, nil, err
}

// packNameOf makes the name of a pack of that of a host.
func packNameOf(host string) string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}, strings.TrimPrefix(strings.ToLower(host), "www."))
	return strings.Trim(name[:min(len(name), 32)], "-")
}

// writeNew writes a file that must not be there.
func writeNew(file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; choose another name, or remove it", file)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
