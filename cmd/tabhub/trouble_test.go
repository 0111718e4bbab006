package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/setup"
	"tabhub/spec"
)

// The guide explains each code and message, with what to do, and none that is gone.
func TestEachCodeIsExplained(t *testing.T) {
	guide, err := os.ReadFile("../../spec/docs/TROUBLESHOOTING.md")
	if err != nil {
		t.Fatal(err)
	}
	section := func(title string) string {
		_, text, found := strings.Cut(string(guide), "\n## "+title+"\n")
		if !found {
			t.Errorf("the guide has no section %q", title)
		}
		text, _, _ = strings.Cut(text, "\n## ")
		return text
	}
	told, closed, _ := strings.Cut(section("What pages and extensions get"), "| WebSocket close code |")
	http1, oauth, _ := strings.Cut(section("What HTTP answers"), "code of OAuth")

	names := func(values map[string]string, prefix string) (out []string) {
		for name, value := range values {
			if strings.HasPrefix(name, prefix) {
				out = append(out, value)
			}
		}
		return out
	}
	tab, relay := constants(t, "../../spec/errors.go"), constants(t, "../../tabtransport/relay/errors.go")
	var rpc, own []string
	for _, code := range names(tab, "Code") {
		if strings.HasPrefix(code, "-320") {
			own = append(own, code)
		} else {
			rpc = append(rpc, code)
		}
	}
	for _, c := range []struct {
		what, guide string
		row         string // matches what the guide names
		want        []string
	}{
		{"failure codes", section("What a call may come back with"), "(?m)^\\| `([A-Z_]+)` \\|", append(names(tab, "Fail"), string(spec.StaleRef))},
		{"codes of MCP", section("What an MCP client gets"), "`(-32[0-9]{3})`", append(append(rpc, names(constants(t, "../../hub/face/mcpserver/methods/errors.go"), "code")...), names(relay, "code")...)},
		{"statuses", http1, `(?m)^\| ([45]\d\d) \|`, statuses(t, "../../hub/face/httpd", "../../hub/face/admin", "../../hub/face/endpoint", "../../hub/face/mcpserver", "../../hub/pages", "../../hub/trust/auth", "../../hub/cluster/forward")},
		{"codes of OAuth", oauth, "`([a-z_]+)`", names(constants(t, "../../hub/trust/auth/oauth/error.go"), "")},
		{"codes of the tab protocol", told, "(?m)^\\| `(-\\d+)` \\|", own},
		{"close codes", closed, `(?m)^\| (\d{4}) \|`, append(names(tab, "Close"), names(relay, "close")...)},
		{"exit codes", section("Exit codes"), `(?m)^\| (\d) \|`, names(constants(t, "internal/command/command.go"), "Exit")},
		{"checks of the doctor", section("What the doctor checks"), "`([a-z]+)`", append(checks(t), setup.StateNote, setup.StateProblem)},
		{"console lines", section("What the page's console says"), "`(tabhub: [^`]*)`", consoleLines(t)},
		{"states of the popup", section("What the extension's popup says"), `(?m)^\| ([A-Z][^|]*?) \|`, states(t)},
	} {
		var got []string
		for _, m := range regexp.MustCompile(c.row).FindAllStringSubmatch(c.guide, -1) {
			got = append(got, m[1])
		}
		for _, list := range []*[]string{&got, &c.want} {
			slices.Sort(*list)
			*list = slices.Compact(*list)
		}
		if !slices.Equal(got, c.want) || len(got) == 0 {
			t.Errorf("%s: the guide has\n%q\nand there are\n%q", c.what, got, c.want)
		}
	}
}

// constants returns the constants of a file that are literals, as they are written.
func constants(t *testing.T, file string) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string)
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != len(spec.Names) {
			return true
		}
		for i, value := range spec.Values {
			sign := ""
			if negative, ok := value.(*ast.UnaryExpr); ok {
				sign, value = negative.Op.String(), negative.X
			}
			if literal, ok := value.(*ast.BasicLit); ok {
				out[spec.Names[i].Name] = sign + strings.Trim(literal.Value, `"`)
			}
		}
		return true
	})
	return out
}

// sources are the files below some directories whose names end so, but for tests.
func sources(t *testing.T, suffix string, dirs ...string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata"):
				return fs.SkipDir
			case strings.HasSuffix(name, suffix) && !strings.HasSuffix(name, "_test"+suffix):
				text, err := os.ReadFile(name)
				out[name] = string(text)
				return err
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// statuses are the HTTP statuses of failures that packages answer with.
func statuses(t *testing.T, dirs ...string) (out []string) {
	named := regexp.MustCompile(`http\.Status(\w+)`)
	for _, text := range sources(t, ".go", dirs...) {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			for code := 400; code < 600; code++ {
				if strings.ReplaceAll(http.StatusText(code), " ", "") == m[1] {
					out = append(out, strconv.Itoa(code))
				}
			}
		}
	}
	return out
}

// checks are what findings of the doctor are about.
func checks(t *testing.T) (out []string) {
	found := regexp.MustCompile(`(?:d\.(?:fine|note|bad)\(|const check = )"([a-z]+)`)
	for _, text := range sources(t, ".go", "internal/setup") {
		for _, m := range found.FindAllStringSubmatch(text, -1) {
			out = append(out, m[1])
		}
	}
	return out
}

// consoleLines are what the scripts for pages write to the console, with … for what is inserted.
func consoleLines(t *testing.T) (out []string) {
	call := regexp.MustCompile("console\\.(?:log|info|warn|error)\\(([\"`])(.*)[\"`]\\)")
	inserted := regexp.MustCompile(`\$\{[^{}]*(\{[^{}]*\})?[^{}]*\}`)
	for _, text := range sources(t, ".ts", "../../hub/pages/assets", "../../tabtransport/pagejs") {
		for _, m := range call.FindAllStringSubmatch(text, -1) {
			out = append(out, inserted.ReplaceAllString(m[2], "…"))
		}
	}
	return out
}

// states are what the extension's popup says of how things stand.
func states(t *testing.T) (out []string) {
	text, err := os.ReadFile("../../tabtransport/extension/states.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^  \w+: \["([^"]+)", "\w+", "`).FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	return out
}
