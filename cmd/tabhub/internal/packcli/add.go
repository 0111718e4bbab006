package packcli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/face/admin"
	"tabhub/hub/offer/pack"
	"tabhub/hub/offer/pack/foreign"
	"tabhub/hub/packs"
)

func packAddCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add FILE|DIR|NAME",
		Short: "Add a pack, or a changed version of one, once you have seen what it may do",
		Long: `Add a pack, or a changed version of one. In a terminal it says what the pack may do, or what
is different, and asks you. Elsewhere, as when a program runs it, the pack waits until you
accept it on the dashboard; a version that is in use stays so meanwhile.

FILE is a pack of tabhub's, a user script (.user.js) that registers tools of WebMCP, a
package of webmcp-today, a manifest of webmcp-gen or a site of bb-sites; what of it has no
place in a pack is named. Of a DIR it takes all *.json and *.user.js or, if there are none,
the *.js of bb-sites as one pack. NAME is a pack that waits already, such as one that was
recorded.`,
		Example: `  tabhub pack add shop-tools.json
  tabhub pack add ./packs
  tabhub pack add shop-order`,
		Args: command.Args(cobra.ExactArgs(1)),
	}
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, pos []string) error {
		added, err := addPacks(cmd.Context(), a, pos[0])
		if err != nil {
			return err
		}
		if *asJSON {
			return a.PrintValue(added)
		}
		return offerPacks(cmd.Context(), a, added)
	}
	return cmd
}

// packSource is a pack as a file, or a folder of bb-sites, has it.
type packSource struct {
	path     string
	doc      *pack.Pack
	unmapped []string // what of the file has no place in the pack
}

// readPacks reads the packs of a file or a directory. The error is about all files that are none.
func readPacks(path string) (all []packSource, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		one, err := readPack(path)
		return []packSource{one}, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var bad []error
	var adapters []foreign.File
	files := map[string]string{} // by the names of their packs
	for _, e := range entries {
		file := filepath.Join(path, e.Name())
		switch {
		case strings.HasSuffix(file, ".json"), strings.HasSuffix(file, ".user.js"):
			one, err := readPack(file)
			if err == nil && files[one.doc.Name] != "" {
				err = fmt.Errorf("%s and %s are both named %s", files[one.doc.Name], file, one.doc.Name)
			}
			if err != nil {
				bad = append(bad, err)
				continue
			}
			files[one.doc.Name] = file
			if all = append(all, one); len(all) > packs.MaxPacks {
				return nil, fmt.Errorf("%s has more than %d packs, and that is how many there may be", path, packs.MaxPacks)
			}
		case strings.HasSuffix(file, ".js"):
			text, err := readPackFile(file)
			bad = append(bad, err)
			adapters = append(adapters, foreign.File{Name: e.Name(), Data: text})
		}
	}
	if len(all) > 0 || errors.Join(bad...) != nil {
		return all, errors.Join(bad...)
	}
	if len(adapters) == 0 {
		return nil, fmt.Errorf("%s has no *.json and no *.user.js", path)
	}
	doc, unmapped, err := foreign.ImportFolder(filepath.Base(path), adapters)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p, err := pack.New(doc)
	return []packSource{{path, p, unmapped}}, err
}

func readPack(file string) (packSource, error) {
	text, err := readPackFile(file)
	if err != nil {
		return packSource{}, err
	}
	p, unmapped, err := admin.ReadPack(file, text)
	if err != nil {
		return packSource{}, fmt.Errorf("%s: %w", file, err)
	}
	return packSource{file, p, unmapped}, nil
}

// maxPackFile bounds a file that a pack is read from.
const maxPackFile = 2 << 20

// readPackFile reads a file, which must be a regular one.
func readPackFile(file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", file)
	case info.Size() > maxPackFile:
		return nil, fmt.Errorf("%s has %d bytes; a pack may have %d", file, info.Size(), maxPackFile)
	}
	return os.ReadFile(file)
}

// addPacks has the hub take the packs of a file or a directory, which wait then, or returns the one of a
// name that waits already.
func addPacks(ctx context.Context, a *command.App, arg string) ([]admin.PackAdded, error) {
	if _, err := os.Stat(arg); errors.Is(err, fs.ErrNotExist) && !isFile(arg) {
		p, err := onePack(ctx, a, arg)
		if err != nil {
			return nil, fmt.Errorf("there is no file %s, and %w", arg, err)
		}
		return []admin.PackAdded{{Pack: *p}}, nil
	}
	sources, err := readPacks(arg)
	if err != nil {
		return nil, err
	}
	r, err := a.Remote()
	if err != nil {
		return nil, err
	}
	added := make([]admin.PackAdded, len(sources))
	for i, s := range sources {
		in := admin.PackFile{File: s.path, Text: string(s.doc.Text())}
		if err := r.Call(ctx, http.MethodPut, "/api/packs", in, &added[i]); err != nil {
			return nil, err
		}
		added[i].Unmapped = s.unmapped
	}
	return added, nil
}

// offerPacks prints what waits, and asks the person at the terminal about it.
func offerPacks(ctx context.Context, a *command.App, added []admin.PackAdded) error {
	var wait []*admin.PackReport
	for i := range added {
		p := &added[i].Pack
		if p.Waiting == nil {
			a.Note("%s is in use as it is; nothing of it waits", p.Name)
			continue
		}
		wait = append(wait, p)
		printAdded(a, &added[i])
	}
	if len(wait) == 0 {
		return nil
	}
	if !terminal.Is(a.In) || !a.OnTerminal() {
		for _, p := range wait {
			a.Note("%s waits for you: %s", p.Name, howToAccept(a, p))
		}
		return nil
	}
	return askToAccept(ctx, a, wait, func(decision string, p *admin.PackReport) error {
		return a.Send(ctx, http.MethodPost, "/api/packs/"+decision, admin.PackVersionName{Name: p.Name, Hash: p.Waiting.Hash})
	})
}

// printAdded prints what the owner is asked about.
func printAdded(a *command.App, added *admin.PackAdded) {
	p := &added.Pack
	if p.Active == nil {
		a.Headline(p.Name)
		printWords(a, p.Waiting.Words)
	} else {
		a.Headline(p.Name + ", which is in use, would change")
		printChanges(a, p)
	}
	printUnmapped(a, p.Waiting.From, added.Unmapped)
	fmt.Fprintln(a.Out)
}

// askToAccept asks the person at the terminal whether all that waits is accepted, and decides so.
func askToAccept(ctx context.Context, a *command.App, wait []*admin.PackReport, decide func(decision string, p *admin.PackReport) error) error {
	names := make([]string, len(wait))
	for i, p := range wait {
		names[i] = p.Name
	}
	yes, err := askYesNo(ctx, a, "Accept "+strings.Join(names, ", ")+"?")
	if err != nil {
		return err
	}
	decision := map[bool]string{true: "accept", false: "reject"}[yes]
	for _, p := range wait {
		if err := decide(decision, p); err != nil {
			return err
		}
		switch {
		case yes && p.Waiting.Script:
			a.Note("%s is in use; each browser runs its script only after its popup has asked you there", p.Name)
		case yes:
			a.Note("%s is in use on its pages; `%s` makes the calls of its examples", p.Name, a.Tabhub("pack", "test", p.Name))
		case p.Active != nil:
			a.Note("%s stays as it was", p.Name)
		default:
			a.Note("%s was not added", p.Name)
		}
	}
	return nil
}

// askYesNo asks the person at the terminal. No answer is no.
func askYesNo(ctx context.Context, a *command.App, question string) (yes bool, err error) {
	fmt.Fprint(a.Out, question+" y/N ")
	line := make(chan string, 1)
	go func() { // ends with the line, or the process
		text, _ := bufio.NewReader(a.In).ReadString('\n')
		line <- strings.ToLower(strings.TrimSpace(text))
	}()
	select {
	case text := <-line:
		return text == "y" || text == "yes", nil
	case <-ctx.Done():
		fmt.Fprintln(a.Out)
		return false, errors.New("interrupted")
	}
}
