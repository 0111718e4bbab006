package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// layers has a row for each layer, from top to bottom, and in it each package by its name.
// A package imports what stands in rows below its own.
var layers = [][]string{
	{"cmd/tabhub", "cmd/tabhub/deploy/pack", "cmd/tabhub/e2e", "cmd/tabhub/e2e/bench", "cmd/tabhub/e2e/cluster"},
	{"cmd/tabhub/internal/packcli"},
	{"cmd/tabhub/internal/checkpage", "cmd/tabhub/internal/cli", "cmd/tabhub/internal/recordcli"},
	{"cmd/tabhub/internal/daemon"},
	{"cmd/tabhub/internal/daemon/node", "cmd/tabhub/internal/setup"},
	{"cmd/tabhub/internal/settings"},
	{"cmd/tabhub/internal/command"},
	{"cmd/tabhub/internal/build"},
	{"cmd/tabhub/internal/bridge", "cmd/tabhub/e2e/rig"},
	{"hub/face/httpd"},
	{"hub/face/admin"},
	{"hub/face/endpoint"},
	{"hub/tenant", "cmd/tabhub/internal/telemetry"},
	{"hub/face/mcpserver", "hub/builtin/browsertool", "hub/builtin/proxytool"},
	{"hub/face/mcpserver/methods"},
	{"hub/anypage", "hub/builtin/instance", "hub/hubtest", "hub/face/mcpserver/expose"},
	{"hub"},
	{"hub/call"},
	{"hub/call/group", "hub/call/window"},
	{"hub/lists"},
	{"hub/packs"},
	{"hub/core"},
	{"hub/call/apps", "hub/state", "hub/builtin", "hub/trust/auth/oauth", "cmd/tabhub/internal/pagecheck"},
	{"hub/agents", "hub/trust/consent", "hub/cluster"},
	{"hub/call/ledger", "hub/trust/auth", "hub/trust/flow", "cmd/tabhub/internal/policyfile", "cmd/tabhub/internal/clientconf", "cmd/tabhub/internal/portowner", "cmd/tabhub/internal/terminal"},
	{"hub/offer/item", "hub/offer/pack/draft", "hub/offer/pack/examples", "hub/offer/pack/foreign", "hub/pages", "tabtransport/wsserver/wstest"},
	{"hub/offer/pack"},
	{"hub/offer/listed"},
	{"hub/offer/schema", "hub/trust/record/recordtest", "hub/demo", "tabtransport/wsserver", "tabtransport/relay", "tabtransport/extension"},
	{"hub/trust/record", "tabtransport/wsconn", "tabtransport/tabtest"},
	{"tabtransport/pairing", "storage/jetstream", "storage/jetstream/streamlog"},
	{"tabtransport", "storage/jetstream/streams", "storage/storagetest"},
	{"hub/trust/policy", "storage"},
	{"hub/offer/keyword", "naming", "describe", "hub/telemetry", "hub/broadcast", "hub/quota", "hub/cluster/forward", "hub/face/mcpserver/jsonrpc"},
	{"cmd/tabhub/internal/autostart", "cmd/tabhub/internal/devtools", "cmd/tabhub/internal/home"},
	{"cmd/tabhub/internal/shell", "cmd/tabhub/internal/terminal/ptytest", "cmd/tabhub/internal/porttest", "spec/internal/genschema"},
	{"hub/face/admin/dashboard", "tabtransport/tabtest/chromium", "tabtransport/tabtest/largepages", "tabtransport/tabtest/packpages", "tabtransport/tabtest/taskpages", "tabtransport/tabtest/shapes", "storage/filelock", "storage/private", "storage/jetstream/natstest"},
	{"spec", "spec/transcript"},
	{"spec/rawjson"},
}

// walled are the libraries that only some packages may know.
var walled = map[string][]string{
	"github.com/mark3labs/mcp-go":  {"hub/face/mcpserver"},
	"code.dny.dev/ssrf":            {"hub/trust/auth/oauth"},
	"go.etcd.io/bbolt":             {"storage"},
	"github.com/prometheus":        {"cmd/tabhub/internal/telemetry"},
	"github.com/nats-io":           {"storage/jetstream", "hub/cluster"},
	"tabhub/hub/cluster":           {"hub/cluster", "cmd/tabhub"},                                                   // nothing else knows that there are nodes
	"github.com/gorilla/websocket": {"tabtransport/wsconn", "tabtransport/wsserver/wstest", "cmd/tabhub/e2e/bench"}, // tests and the benchmark play peers
}

// pure are the packages that decide and do nothing, and impure what they may not import:
// time, chance and files come in as arguments.
var (
	pure   = []string{"hub/state", "hub/agents", "hub/offer/item", "hub/offer/pack", "hub/offer/pack/draft", "hub/offer/pack/foreign", "hub/trust/policy", "naming", "describe"}
	impure = []string{"sync", "context", "log", "log/slog", "os", "io", "net", "net/http", "crypto/rand", "math/rand", "math/rand/v2"}
)

// A change that ties the hub to a wire or a database would have to be undone before
// either can be replaced.
func TestImportsPointDown(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "tabhub/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		from := strings.TrimPrefix(fields[0], "tabhub/")
		for _, imp := range fields[1:] {
			if to, ok := strings.CutPrefix(imp, "tabhub/"); ok && layer(t, to) <= layer(t, from) {
				t.Errorf("%s imports %s, which is not below it", from, to)
			}
			if slices.Contains(pure, from) && slices.Contains(impure, imp) {
				t.Errorf("%s imports %s", from, imp)
			}
			if within(from, "tabtransport") && within(imp, "tabhub/hub") && !within(from, "tabtransport/wsserver/wstest") {
				t.Errorf("%s imports %s: a transport knows nothing of the hub", from, imp)
			}
			for lib, allowed := range walled {
				if within(imp, lib) && !slices.ContainsFunc(allowed, func(p string) bool { return within(from, p) }) {
					t.Errorf("%s imports %s; only %s may", from, imp, strings.Join(allowed, " and "))
				}
			}
		}
	}
}

// layer returns the row of a package.
func layer(t *testing.T, pkg string) int {
	i := slices.IndexFunc(layers, func(row []string) bool { return slices.Contains(row, pkg) })
	if i < 0 {
		t.Fatalf("package %s has no place in the layers", pkg)
	}
	return i
}

func within(pkg, family string) bool { return pkg == family || strings.HasPrefix(pkg, family+"/") }

// Each bridge and each command is a start, which must not wait for what a library
// prepares and nobody uses.
func TestProgramStartsWithoutWhatIsNotUsed(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "tabhub/cmd/tabhub").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for pkg := range strings.Lines(string(out)) {
		for _, lib := range []string{"github.com/santhosh-tekuri/jsonschema/v6", "github.com/mark3labs/mcp-go/server", "google.golang.org/grpc", "github.com/nats-io/nats-server/v2"} {
			if within(strings.TrimSpace(pkg), lib) {
				t.Errorf("the program links %s, which does much at each start", lib)
			}
		}
	}
}

// A reader takes in a package, or the methods of a type, as one thing.
func TestPackagesAndTypesStaySmall(t *testing.T) {
	const maxLines, maxMethods = 3500, 45
	out, err := exec.Command("go", "list", "-f", `{{$d := .Dir}}{{.ImportPath}}{{range .GoFiles}} {{$d}}/{{.}}{{end}}`, "tabhub/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		lines, methods := 0, map[string]int{}
		for _, name := range fields[1:] {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			lines += fset.File(file.FileStart).LineCount()
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
					methods[receiver(f.Recv.List[0].Type)]++
				}
			}
		}
		if lines > maxLines {
			t.Errorf("%s has %d lines, more than %d", fields[0], lines, maxLines)
		}
		for typ, n := range methods {
			if n > maxMethods {
				t.Errorf("%s.%s has %d methods, more than %d", fields[0], typ, n, maxMethods)
			}
		}
	}
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
