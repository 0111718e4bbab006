package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/policyfile"
	"tabhub/cmd/tabhub/internal/setup"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// guides are the documents whose commands and snippets a user or an author types.
func guides(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"README.md", "spec/docs/*.md", ".github/*.md", "tabtransport/extension/README.md", "hub/pages/examples/*.md"} {
		found, err := filepath.Glob("../../" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 15 {
		t.Fatalf("there are only %q", files)
	}
	return files
}

// block is a fenced or indented block of a document.
type block struct {
	lang  string // of a fence; "" also of an indented one
	lines []string
	at    int // its first line, from 1
}

// read returns the blocks of a document, and its prose, in which they are empty lines.
func readGuide(t *testing.T, file string) (blocks []block, prose []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var in *block
	indented := false
	prose = append(prose, "")
	for i, line := range strings.Split(string(text), "\n") {
		lang, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		rest, isIndented := strings.CutPrefix(line, "    ")
		switch {
		case in != nil && !indented && isFence, in != nil && indented && !isIndented:
			blocks, in = append(blocks, *in), nil
		case in != nil && indented:
			in.lines = append(in.lines, rest)
		case in != nil:
			in.lines = append(in.lines, line)
		case isFence:
			in, indented = &block{lang: lang, at: i + 2}, false
		case isIndented && prose[len(prose)-1] == "":
			in, indented = &block{lines: []string{rest}, at: i + 1}, true
		}
		if in != nil || isFence {
			line = ""
		}
		prose = append(prose, line)
	}
	return blocks, prose[1:]
}

// typed is a line that a reader types, and what follows in the document as its output.
type typed struct {
	line   string
	output string // as far as the document shows it
	at     int
}

// commands returns what is typed in a block: all of a shell's, or after each "$ ".
func (b block) commands() (all []typed) {
	isShell := b.lang == "sh" || b.lang == "" && strings.HasPrefix(b.lines[0], "tabhub ")
	prompts := slices.ContainsFunc(b.lines, func(l string) bool { return strings.HasPrefix(l, "$ ") })
	for i, line := range b.lines {
		command, prompted := strings.CutPrefix(line, "$ ")
		switch {
		case prompted, isShell && !prompts:
			command, _, _ = strings.Cut(command, " # ")
			if command = strings.TrimSpace(command); command != "" && command[0] != '#' {
				all = append(all, typed{line: command, at: b.at + i})
			}
		case prompts && len(all) > 0:
			all[len(all)-1].output += line + "\n"
		}
	}
	return all
}

// notRun are the commands that a test of the documents does not run, and why: what begins so
// is parsed only.
var notRun = []struct{ begins, why string }{
	{"tabhub serve", "runs until it is stopped; each script starts one"},
	{"tabhub stop", "would end the hub of the commands that follow"},
	{"tabhub stdio", "speaks MCP until its input ends"},
	{"tabhub autostart o", "would make the system of the developer start a hub; a test in e2e runs it"},
	{"tabhub setup", "asks on a terminal"},
	{"tabhub dashboard", "needs a browser with a window"},
	{"tabhub browser pair", "waits for a browser"},
	{"tabhub preflight", "its exit code says what it finds; a script runs it"},
	{"tabhub check", "needs a browser and a page"},
	{"tabhub calls -f", "goes on until it is stopped"},
	{"tabhub log -f", "goes on until it is stopped"},
	{"tabhub log call=", "needs a call's ID"},
	{"tabhub log verify 1", "needs a head that was noted before"},
	{"tabhub policy remove", "needs a rule's ID"},
	{"tabhub approve ID", "needs a question"},
	{"tabhub call website_tool_localhost_5173", "needs a page of the examples"},
	{"tabhub cluster", "needs a node of a cluster; a test in e2e runs it"},
	{"tabhub pack add", "needs a file; a script runs it"},
	{"tabhub pack show", "needs a pack; a script runs it"},
	{"tabhub pack test", "needs a pack and a browser; a test runs it"},
	{"tabhub pack remove", "needs a pack; a script runs it"},
	{"tabhub pack record", "waits for a browser"},
	{"tabhub browser name", "needs a browser with the extension; a test in e2e runs it"},
	{"tabhub browser unname", "needs a browser with a name"},
}

// foreign are the first words of lines that are not tabhub's.
var foreign = []string{"go", "npm", "npx", "claude", "curl", "node", "git", "docker", "podman", "sudo", "brew", "cd", ".ci/run", ".ci/nightly", "cmd/tabhub/deploy/release.sh", "code", "codex", "gemini", "systemctl", "journalctl", "cosign", "sha256sum", "tar", "(umask", "GOBIN=$PWD", "export", "for", "umask", "TABHUB_CLUSTER_FOR=1h"}

// ownPath finds what is of this repository in a line that is not tabhub's.
var ownPath = regexp.MustCompile(`(?:^| )(?:\./)?(?:cmd|hub|spec|storage|tabtransport|\.ci)/[\w/-]*(?:\.\w+)?`)

// ownCommand finds a command of tabhub's in a line: also in a shell's substitution, behind a
// client's "--", or run by go.
var ownCommand = regexp.MustCompile(`(?:^|\(|-- |\| |=\S+ )(?:\./)?(tabhub( [^|<>)]*)?)$|<\((tabhub [^)]*)\)|(tabhub completion \w+) >|^(tabhub [^|<>]*) [|<>]`)

func commandIn(line string) string {
	line = regexp.MustCompile(`go run (-v )?\./cmd/tabhub`).ReplaceAllString(line, "tabhub")
	m := ownCommand.FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	return m[1] + m[3] + m[4] + m[5]
}

// A reader types what the documents say. Each command is run as it stands, against a hub with
// the demo shop and the tabs of the documents' examples; those that cannot are parsed.
func TestDocumentedCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("they are lines of a Unix shell")
	}
	ran := 0
	for _, file := range guides(t) {
		var all []typed
		blocks, _ := readGuide(t, file)
		for _, b := range blocks {
			all = append(all, b.commands()...)
		}
		var home string
		var env []string
		for _, c := range all {
			command := commandIn(c.line)
			if first, _, _ := strings.Cut(c.line, " "); command == "" {
				if !slices.Contains(foreign, first) {
					t.Errorf("%s:%d: %q is no command of tabhub's, and none of those that are known", file, c.at, c.line)
				}
				for _, path := range ownPath.FindAllString(c.line, -1) {
					if _, err := os.Stat("../../" + strings.Trim(path, " ")); err != nil {
						t.Errorf("%s:%d: %q: %v", file, c.at, c.line, err)
					}
				}
				continue
			}
			if err := checkCommand(command, true); err != nil {
				t.Errorf("%s:%d: %s: %v", file, c.at, command, err)
				continue
			}
			skip := func(no struct{ begins, why string }) bool { return strings.HasPrefix(command, no.begins) }
			if slices.ContainsFunc(notRun, skip) || !strings.Contains(c.line, "tabhub completion") && !strings.HasPrefix(c.line, "tabhub ") {
				continue
			}
			if home == "" {
				home, env = documentedHub(t)
			}
			ran++
			line := strings.NewReplacer(" DIR", " "+filepath.Join(home, "written"), " CLIENT", " cursor", " NAME", " somebody").Replace(c.line)
			sh := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", line)
			sh.Dir, sh.Env = home, env
			out, err := sh.CombinedOutput()
			if err != nil {
				t.Errorf("%s:%d: %s: %v\n%s", file, c.at, line, err, out)
			} else if !strings.Contains(c.output, "…") && !strings.HasPrefix(string(out), strings.TrimRight(c.output, "\n")) {
				t.Errorf("%s:%d: %s prints\n%s\nand the document says\n%s", file, c.at, line, out, c.output)
			}
		}
	}
	if ran < 30 {
		t.Errorf("only %d commands were run", ran)
	}
}

// documentedHub starts a hub with what the documents speak of, and returns a home directory
// and an environment for commands that use it.
func documentedHub(t *testing.T) (home string, env []string) {
	t.Helper()
	p, _ := serveTest(t)
	browser, err := tabtransport.Join(t.Context(), p.Tabs.Transport(spec.LocalUser), tabtransport.Conn{
		Attested: true, Dialect: "tabhub.v1",
		Hello: &spec.Hello{ProtocolVersion: spec.ProtocolVersion, BrowserID: "b-1", BrowserName: "Chromium on Linux", Capabilities: setup.ExtensionCan},
	}, func(_ context.Context, in tabtransport.Incoming) (spec.Response, error) {
		if _, ok := in.Request.(*spec.ReadResource); ok {
			return spec.Response{Result: json.RawMessage(`{"contents":[{"uri":"shop://cart","text":"nothing"}]}`)}, nil
		}
		return spec.Response{Result: json.RawMessage(`{"messages":[]}`)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(browser.Close)
	for tab, site := range []string{"shop.example.com", "mail.example.com", "bank.example.com", "example.com"} {
		for kind, item := range map[spec.Kind]string{
			spec.KindTool:     `{"name":"search","description":"Searches."}`,
			spec.KindResource: `{"uri":"shop://cart","name":"cart"}`,
			spec.KindPrompt:   `{"name":"choose_gift","arguments":[{"name":"occasion"}]}`,
		} {
			m := &spec.Register{Kind: kind, TabURL: "https://" + site + "/", Title: site, Items: []json.RawMessage{json.RawMessage(item)}}
			if _, err := browser.Ask(t.Context(), int64(tab+1), m); err != nil {
				t.Fatal(err)
			}
		}
	}
	home = t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".config", "fish", "completions"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "TABHUB_") && !strings.HasPrefix(name, "XDG_") && name != "HOME" {
			env = append(env, v)
		}
	}
	env = append(env, "HOME="+home, "TABHUB_DATA_DIR="+string(p.Dir), "TABHUB_LISTEN=127.0.0.1:0", "GORACE=atexit_sleep_ms=0")
	for _, args := range [][]string{{"token", "mint", "--name", "claude"}, {"call", "website_tool_demo_tabhub__view_cart"}} {
		cmd := exec.CommandContext(t.Context(), "tabhub", args...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
	}
	return home, env
}

// parsing is the command, to parse lines with: making it takes longer than that.
var parsing = sync.OnceValue(func() *cobra.Command {
	root := rootCommand(new(command.App))
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	return root
})

// checkCommand returns an error if there is no such command or flag. Of one that stands
// alone in its line, the arguments must fit, too.
func checkCommand(line string, alone bool) error {
	var words []string
	for _, w := range word.FindAllString(line, -1)[1:] {
		words = append(words, strings.Trim(w, `'"`))
	}
	found, rest, err := parsing().Find(words)
	if err != nil {
		return err
	}
	if alone {
		if err := found.ParseFlags(rest); err != nil {
			return err
		}
		if found.Args != nil {
			return found.Args(found, found.Flags().Args())
		}
		return nil
	}
	if found.HasSubCommands() && len(rest) > 0 && regexp.MustCompile(`^[a-z]+$`).MatchString(rest[0]) && (found.Args == nil || found.Args(found, rest[:1]) != nil) {
		return command.Usagef("%s has no command %s", found.CommandPath(), rest[0])
	}
	for _, w := range rest {
		if name, ok := strings.CutPrefix(w, "--"); ok && name != "" {
			name, _, _ = strings.Cut(name, "=")
			found.InitDefaultHelpFlag()
			if found.Flags().Lookup(name) == nil && found.InheritedFlags().Lookup(name) == nil {
				return command.Usagef("%s has no flag --%s", found.CommandPath(), name)
			}
		}
	}
	return nil
}

// notOurs are flags of other programs that the prose names.
var notOurs = []string{"--enable-features", "--load-extension", "--transport", "--scope", "--read-only"}

// The prose must not send a reader to a command or flag that does not exist.
func TestDocumentedCommandsInProse(t *testing.T) {
	known := map[string]bool{"--help": true}
	for _, c := range append(commands(rootCommand(new(command.App))), rootCommand(new(command.App))) {
		add := func(f *pflag.Flag) { known["--"+f.Name] = true }
		c.Flags().VisitAll(add)
		c.PersistentFlags().VisitAll(add)
	}
	code := regexp.MustCompile("`([^`]+)`")
	flag := regexp.MustCompile(`^--[a-z][a-z-]*`)
	checked := 0
	for _, file := range append(guides(t), "../../spec/PROTOCOL.md", "../../spec/RELAY.md", "../../spec/ARCHITECTURE.md") {
		_, prose := readGuide(t, file)
		for i, line := range prose {
			for _, m := range code.FindAllStringSubmatch(line, -1) {
				if name := flag.FindString(m[1]); name != "" {
					checked++
					if !known[name] && !slices.Contains(notOurs, name) {
						t.Errorf("%s:%d: no command has the flag %s", file, i+1, name)
					}
				}
				if strings.HasPrefix(m[1], "tabhub ") {
					checked++
					if err := checkCommand(m[1], false); err != nil {
						t.Errorf("%s:%d: `%s`: %v", file, i+1, m[1], err)
					}
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d commands and flags were found", checked)
	}
}

// A snippet that a user copies parses.
func TestDocumentedSnippets(t *testing.T) {
	scripts := map[string]string{} // by where they are
	script := regexp.MustCompile(`(?s)<script[^>]*>(.*?)</script>`)
	for _, file := range guides(t) {
		blocks, _ := readGuide(t, file)
		for _, b := range blocks {
			text := strings.Join(b.lines, "\n") + "\n"
			var err error
			switch b.lang {
			case "json":
				err = json.Unmarshal([]byte(text), new(any))
			case "jsonc":
				_, err = policyfile.Parse([]byte(text))
			case "html":
				var all strings.Builder
				for _, m := range script.FindAllStringSubmatch(text, -1) {
					all.WriteString(m[1] + "\n")
				}
				scripts[fmt.Sprintf("%s:%d", file, b.at)] = all.String()
			case "js":
				if regexp.MustCompile(`(?m)^return `).MatchString(text) { // the code of a browser_script
					text = "async () => {" + text + "}"
				}
				scripts[fmt.Sprintf("%s:%d", file, b.at)] = text
			case "", "sh", "mermaid", "ts", "tsx", "yaml", "toml", "http", "console", "csp":
			default:
				t.Errorf("%s:%d: nothing checks snippets of %q", file, b.at, b.lang)
			}
			if err != nil {
				t.Errorf("%s:%d: %v", file, b.at, err)
			}
		}
	}
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Error(err)
		}
		return
	}
	const parse = `for (const [at, text] of Object.entries(JSON.parse(fs.readFileSync(0, "utf8"))))
		try { new vm.SourceTextModule(text) } catch (err) { console.log(at + ": " + err) }`
	cmd := exec.Command(node, "--no-warnings", "--experimental-vm-modules", "-e", parse)
	in, _ := json.Marshal(scripts) // strings
	cmd.Stdin = bytes.NewReader(in)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 || len(scripts) < 5 {
		t.Errorf("of %d scripts: %v\n%s", len(scripts), err, out)
	}
}

// README's first lines for a page must be the guide's, which are tried in a browser.
func TestREADMEBeginsAPageAsTheGuide(t *testing.T) {
	first := func(file string) string {
		blocks, _ := readGuide(t, file)
		i := slices.IndexFunc(blocks, func(b block) bool { return b.lang == "html" })
		return strings.Join(blocks[i].lines, "\n")
	}
	if readme, guide := first("../../README.md"), first("../../spec/docs/PAGES.md"); readme != guide {
		t.Errorf("README has\n%s\nand the guide\n%s", readme, guide)
	}
}
