package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/autostart"
	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/cmd/tabhub/internal/home"
	"tabhub/cmd/tabhub/internal/shell"
	"tabhub/cmd/tabhub/internal/terminal"
	"tabhub/hub/instance"
	"tabhub/hub/state"
	"tabhub/tabtransport/extension"
)

// findProgram finds what clients are to start, which `go run` does not leave behind.
func (s *setup) findProgram(ctx context.Context) error {
	var err error
	if s.program, err = installed(); err == nil {
		s.say(stateOK, "program", "%s, version %s", s.program, version())
		return nil
	}
	if s.dry {
		s.say(stateNote, "program", "`go install ./cmd/tabhub` would be run, as `go run` deletes this one when it ends")
		return nil
	}
	yes, err := s.confirms(ctx, "`go run` deletes this program when it ends. Run `go install ./cmd/tabhub` to keep it?")
	if err != nil {
		return err
	}
	if !yes {
		return errors.New("clients need a program that stays; `go install ./cmd/tabhub` installs it")
	}
	if s.program, err = s.goInstall(ctx); err != nil {
		return err
	}
	hint := ""
	if !onPath("tabhub") {
		hint = "; add " + filepath.Dir(s.program) + " to your PATH to type tabhub"
	}
	s.say(stateOK, "program", "%s, installed%s", s.program, hint)
	return nil
}

// goInstall installs the program from the directory that `go run` was called in.
func (s *setup) goInstall(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "install", "./cmd/tabhub")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("`go install ./cmd/tabhub`: %w: %s", err, oneLine(string(out)))
	}
	out, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Target}}", "./cmd/tabhub").Output()
	path := strings.TrimSpace(string(out))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return "", fmt.Errorf("the installed program is not found: %w", err)
	}
	return path, nil
}

// findHub says whether a hub runs, which every client would find or start.
func (s *setup) findHub(context.Context) error {
	_, h, err := s.running()
	switch {
	case err == nil:
		s.say(stateOK, "hub", "%s, process %d", h.URL(), h.PID)
	case errors.Is(err, home.ErrNoHub):
		s.say(stateOK, "hub", "none runs; a client starts one")
	default:
		return err
	}
	return nil
}

// setUpBrowser brings the extension to a browser, and the browser to the hub.
func (s *setup) setUpBrowser(ctx context.Context) error {
	if s.extension == none {
		s.say(stateOK, "browser", "left out; pages with /tab.js need no extension")
		return nil
	}
	browsers, err := s.browsers()
	if err != nil {
		return err
	}
	if len(browsers) == 0 {
		s.say(stateNote, "browser", "none based on Chromium is found, which the extension needs; pages with /tab.js work in any")
		return nil
	}
	if joined := s.joined(ctx); joined != "" {
		s.say(stateOK, "browser", "%s is connected", joined)
		return nil
	}
	dir, err := filepath.Abs(s.extension)
	if err != nil {
		return err
	}
	if s.dry {
		s.say(stateNote, "browser", "the extension would be written to %s, for %s", dir, namesOf(browsers))
		return nil
	}
	yes, err := s.confirms(ctx, "Write the browser extension to "+dir+"? A page with WebMCP tools needs it.")
	if err != nil {
		return err
	}
	if !yes {
		s.say(stateOK, "browser", "left out")
		return nil
	}
	if _, err := s.probe(ctx, clientconf.Entry{Command: s.program, Args: stdioArgs(s.config.dataDir)}, false); err != nil {
		return fmt.Errorf("the hub does not start: %w; `tabhub doctor` says more", err)
	}
	if err := s.bringExtension(ctx, dir); err != nil {
		return err
	}
	load := fmt.Sprintf("Type %s, switch on Developer mode, press Load unpacked and choose %s", extensionPages(browsers), dir)
	if s.wait == 0 {
		s.say(stateNote, "browser", "the extension is in %s, and waits to be loaded", dir)
		s.report.Next = append(s.report.Next, load+".")
		return nil
	}
	s.show(fmt.Sprintf("\n  1. Type %s\n  2. Switch on Developer mode, press Load unpacked, choose\n     %s\n\n", extensionPages(browsers), dir))
	return s.awaitBrowser(ctx, load, dir)
}

// extensionPages says what to type into which browser.
func extensionPages(browsers []instance.Installed) string {
	if len(browsers) == 1 {
		return browsers[0].Extensions + " into the address bar of " + browsers[0].Name
	}
	var pages, all []string
	names := make(map[string][]string)
	for _, b := range browsers {
		if names[b.Extensions] == nil {
			pages = append(pages, b.Extensions)
		}
		names[b.Extensions] = append(names[b.Extensions], b.Name)
	}
	for _, page := range pages {
		all = append(all, page+" ("+strings.Join(names[page], ", ")+")")
	}
	return strings.Join(all, " or ") + " into the address bar of the browser that you use"
}

// browsers returns the browsers that are found, the one that was asked for first.
func (s *setup) browsers() ([]instance.Installed, error) {
	all := instance.FindInstalled()
	if s.browser == "" {
		return all, nil
	}
	i := slices.IndexFunc(all, func(b instance.Installed) bool {
		return strings.EqualFold(b.Name, s.browser) || b.Path == s.browser
	})
	if i < 0 {
		return nil, usagef("--browser: no %q is found; there is %s", s.browser, namesOf(all))
	}
	return all[i : i+1], nil
}

func namesOf(all []instance.Installed) string {
	if len(all) == 0 {
		return "none"
	}
	var names []string
	for _, b := range all {
		names = append(names, b.Name)
	}
	return strings.Join(names, ", ")
}

// joined names a browser that is connected with the extension; "" if none is, or no hub runs.
func (s *setup) joined(ctx context.Context) string {
	var browsers []state.BrowserInfo
	if ask(ctx, s.app, "/api/browsers", &browsers) != nil {
		return ""
	}
	for _, b := range browsers {
		if b.Connected && b.Attested && !b.Single {
			if name := terminal.OneLine(b.Name, 60); name != "" {
				return name
			}
			return "a browser"
		}
	}
	return ""
}

// bringExtension writes the extension, if it is not there as it is to be.
func (s *setup) bringExtension(ctx context.Context, path string) error {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	known, _ := dir.Extensions() // if they cannot be read, it is written once more
	has, err := extension.Read(path)
	if err == nil && slices.Contains(known, path) && has.Current && has.Pairing != "" && has.Address == hubAddress(dir) {
		return nil
	}
	quiet := *s.app
	quiet.out = new(bytes.Buffer)
	return quiet.writeExtension(ctx, path, "")
}

// awaitBrowser waits until the browser with the extension joins, or the user goes on without.
func (s *setup) awaitBrowser(ctx context.Context, load, dir string) error {
	status := s.status()
	defer status.Clear()
	hint := "waiting for the browser"
	if s.asks {
		hint += "; Enter goes on without"
	}
	if !status.Screen.Rewrites {
		s.note("%s", hint)
	}
	began := time.Now()
	looked := began
	for time.Since(began) < s.wait {
		status.Show(status.Screen.Spinner(time.Since(began)) + hint)
		select {
		case <-ctx.Done():
			return errStopped
		case _, ok := <-s.lines:
			if !ok {
				return errStopped
			}
			status.Clear()
			s.say(stateNote, "browser", "the extension is in %s, and waits to be loaded", dir)
			s.report.Next = append(s.report.Next, load+".")
			return nil
		case <-time.After(terminal.Frame):
		}
		if time.Since(looked) < 5*terminal.Frame {
			continue
		}
		looked = time.Now()
		if name := s.joined(ctx); name != "" {
			status.Clear()
			s.say(stateOK, "browser", "%s is connected", name)
			return nil
		}
	}
	status.Clear()
	s.say(stateProblem, "browser", "none has joined within %s; %s", s.wait, load)
	return nil
}

// setUpClients puts tabhub into the configurations of clients.
func (s *setup) setUpClients(ctx context.Context) error {
	all, err := s.clientReports(ctx)
	if err != nil {
		return err
	}
	chosen := func(r clientReport) bool { return slices.Contains(s.clients, r.Name) }
	if s.clients[0] == "all" {
		chosen = func(r clientReport) bool { return r.Installed }
	}
	some := false
	for _, r := range all {
		if !chosen(r) {
			continue
		}
		some = true
		if err := s.setUpClient(ctx, r); err != nil {
			return err
		}
	}
	switch {
	case s.clients[0] == none:
		s.say(stateOK, "clients", "left out")
	case !some:
		s.say(stateNote, "clients", "none is found here; `tabhub install` lists those that are known, http://%s/mcp is for all others", defaultListen)
	}
	return nil
}

func (s *setup) setUpClient(ctx context.Context, r clientReport) error {
	e := &clientEdit{name: connectName, yes: true, entry: &clientconf.Entry{Command: s.program, Args: stdioArgs(s.config.dataDir)}}
	p, err := s.plan(ctx, r.Name, e)
	if errors.Is(err, clientconf.ErrNotInstalled) {
		s.say(stateProblem, "clients", "%s is not found here; leave it out, or run `tabhub install %s --config FILE`", r.Title, r.Name)
		return nil
	}
	if err != nil {
		s.say(stateProblem, "clients", "%v", err)
		return nil
	}
	if p.none != "" {
		s.say(stateOK, "clients", "%s", p.none)
		return nil
	}
	if p.byHand != "" {
		s.say(stateNote, "clients", "%s is set up by hand; `tabhub install %s` prints what to put into %s", r.Title, r.Name, p.byHand)
		return nil
	}
	words := p.client.Command(p.scope, e.name, e.entry)
	where := p.path
	if p.path == "" {
		where = "by its own command, " + words[0]
	}
	if s.dry {
		s.say(stateNote, "clients", "%s would get an entry, %s", r.Title, where)
		return nil
	}
	if p.path == "" && !onPath(words[0]) {
		s.say(stateNote, "clients", "%s is set up by %s, which is not on your PATH; `tabhub install %s` prints the command", r.Title, words[0], r.Name)
		return nil
	}
	if s.asks {
		diff, err := p.show()
		if err != nil {
			return err
		}
		s.show("\n" + shortDiff(diff))
	}
	yes, err := s.confirms(ctx, "Put tabhub into "+r.Title+", "+where+"?")
	if err != nil {
		return err
	}
	if !yes {
		s.say(stateOK, "clients", "%s: left out", r.Title)
		return nil
	}
	backup, err := s.apply(ctx, p)
	if err != nil {
		s.say(stateProblem, "clients", "%s: %v", r.Title, err)
		return nil
	}
	text := r.Title + " can use tabhub, " + where
	if backup != "" {
		text += "; the old file is kept as " + filepath.Base(backup)
	}
	s.say(stateOK, "clients", "%s", text)
	s.report.Next = append(s.report.Next, p.client.After)
	return nil
}

// shortDiff is a difference without what stays.
func shortDiff(diff string) string {
	var short strings.Builder
	for line := range strings.Lines(diff) {
		if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "@@") && !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "+++") {
			short.WriteString("  " + line)
		} else if strings.HasPrefix(line, "  ") && !strings.HasPrefix(diff, "---") {
			short.WriteString(line) // a command
		}
	}
	return short.String()
}

// setUpAutostart has the system start the hub, if the user wishes.
func (s *setup) setUpAutostart(ctx context.Context) error {
	const step = "autostart"
	is, err := s.starter().State(ctx)
	switch {
	case err != nil:
		s.say(stateNote, step, "%v", err)
		return nil
	case is.On:
		s.say(stateOK, step, "on, by %s", is.How)
		return nil
	case s.dry && s.autostart == "yes":
		s.say(stateNote, step, "the hub would be started at each login")
		return nil
	}
	yes := s.autostart == "yes"
	if s.autostart == "" && s.asks {
		answer, err := s.choose(ctx, "Have the hub run whenever you are logged in? Without this the first client starts it.", "no", "yes")
		if err != nil {
			return err
		}
		yes = answer == "yes"
	}
	if !yes {
		s.say(stateOK, step, "left out; the first client starts the hub")
		return nil
	}
	quiet := *s.app
	quiet.err, quiet.stderr = new(bytes.Buffer), new(bytes.Buffer)
	flags := pflag.NewFlagSet(step, pflag.ContinueOnError)
	quiet.config.hub = nil // its settings are fields of this config
	quiet.addHubFlags(flags)
	err = quiet.autostartOn(ctx, s.program, flags)
	if err == nil {
		is, err = s.starter().State(ctx)
	}
	if errors.Is(err, autostart.ErrNone) && s.autostart == "" {
		s.say(stateNote, step, "%v", err)
		return nil
	}
	if err != nil {
		s.say(stateProblem, step, "%v", err)
		return nil
	}
	s.say(stateOK, step, "on, by %s; `tabhub autostart off` undoes it", is.How)
	return nil
}

// testCalls starts the hub as each client does that is set up, and calls a tool. What a project's
// file has a client start is not the user's word, so it is not started.
func (s *setup) testCalls(ctx context.Context) error {
	if s.noCall {
		s.say(stateOK, "call", "left out")
		return nil
	}
	if s.dry {
		s.say(stateNote, "call", "a tool would be called as the clients do")
		return nil
	}
	system, err := s.system()
	if err != nil {
		return err
	}
	tried := false
	for _, c := range clientconf.All {
		path, err := c.Path(system, clientconf.User)
		if err != nil {
			continue
		}
		text, _ := clientText(ctx, c, path) // what is wrong with it was said
		e := c.Started(text, connectName)
		if e.Command == "" {
			continue
		}
		tried = true
		s.testCall(ctx, c.Title, e)
		if ctx.Err() != nil {
			return errStopped
		}
	}
	if !tried {
		s.testCall(ctx, "a client", clientconf.Entry{Command: s.program, Args: stdioArgs(s.config.dataDir)})
	}
	if ctx.Err() != nil {
		return errStopped
	}
	return nil
}

func (s *setup) testCall(ctx context.Context, as string, e clientconf.Entry) {
	status := s.status()
	status.Show("calling as " + as + " does")
	p, err := s.probe(ctx, e, true)
	status.Clear()
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.say(stateProblem, "call", "as %s: %v; it starts %s", as, err, shell.Line(runtime.GOOS, append([]string{e.Command}, e.Args...)...))
	default:
		s.say(stateOK, "call", "as %s: ready in %s, lists %d tools, %s answered in %s", as, roughly(p.ready), p.tools, p.tool, roughly(p.answer))
	}
}

func roughly(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }
