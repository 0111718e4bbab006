package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/clientconf"
)

// clientEdit is a change of a client's configuration that was asked for.
type clientEdit struct {
	name   string // the server's name in the file
	file   string // "" for the client's usual one
	dryRun bool
}

func (a *app) installCommand() *cobra.Command {
	e := new(clientEdit)
	cmd := &cobra.Command{
		Use:   "install CLIENT",
		Short: "Configure an MCP client: " + clientNames(),
		Long: `Put tabhub into the configuration of an MCP client: ` + clientNames() + `.

The change is shown, the old file is kept beside the new one, and nothing else in the
file is touched.`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, pos []string) error {
			program, err := installed()
			if err != nil {
				return err
			}
			entry := clientconf.Entry{Command: program, Args: stdioArgs(a.config.dataDir)}
			return a.editClient(pos[0], e, "is configured already", func(c clientconf.Client, text []byte) ([]byte, error) {
				return c.Add(text, e.name, entry)
			})
		},
	}
	e.addFlags(cmd)
	return cmd
}

func (a *app) uninstallCommand() *cobra.Command {
	e := new(clientEdit)
	cmd := &cobra.Command{
		Use:   "uninstall CLIENT",
		Short: "Take tabhub out of the configuration of an MCP client",
		Args:  args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, pos []string) error {
			return a.editClient(pos[0], e, "does not have it", func(c clientconf.Client, text []byte) ([]byte, error) {
				if len(text) == 0 {
					return text, nil
				}
				return c.Remove(text, e.name)
			})
		},
	}
	e.addFlags(cmd)
	return cmd
}

func (e *clientEdit) addFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&e.dryRun, "dry-run", false, "show the change and make none")
	cmd.Flags().StringVar(&e.file, "config", "", "the client's configuration `file`, if it is not the usual one")
	cmd.Flags().StringVar(&e.name, "name", "tabhub", "what the client calls the server")
}

func clientNames() string {
	var names []string
	for _, c := range clientconf.All {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// installed returns the path by which clients can start this program.
func installed() (string, error) {
	path, lasting := executable()
	if !lasting {
		return "", errors.New("this is a program that `go run` deletes when it ends; install it first: go install ./cmd/tabhub")
	}
	// The name on the PATH may be a link that outlives an update of what it leads to.
	if found, err := exec.LookPath("tabhub"); err == nil {
		found, err = filepath.Abs(found)
		if err == nil && sameFile(found, path) {
			return found, nil
		}
	}
	return path, nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// editClient changes a client's configuration by f. same says that f has changed
// nothing.
func (a *app) editClient(name string, e *clientEdit, same string, f func(clientconf.Client, []byte) ([]byte, error)) error {
	c, err := clientconf.Named(name)
	if err != nil {
		return &usageError{err}
	}
	path := e.file
	if path == "" {
		if path, err = c.Path(a.env); err != nil {
			return &usageError{err}
		}
	}
	before, err := clientconf.Read(path)
	if err != nil {
		return &usageError{err}
	}
	after, err := f(c, before)
	if err != nil {
		return usagef("%s: %w", path, err)
	}
	if bytes.Equal(before, after) {
		fmt.Fprintf(a.out, "%s %s: %s\n", c.Title, same, path)
		return nil
	}
	diff, err := clientconf.Diff(path, before, after)
	if err != nil {
		return err
	}
	fmt.Fprint(a.out, diff)
	if e.dryRun {
		return nil
	}
	backup, err := clientconf.Write(path, before, after, time.Now())
	if err != nil {
		return fmt.Errorf("%s is not changed: %w", path, err)
	}
	if backup != "" {
		fmt.Fprintf(a.out, "\nThe old file is kept as %s.", backup)
	}
	fmt.Fprintf(a.out, "\n%s\n", c.After)
	return nil
}
