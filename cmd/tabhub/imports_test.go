package main

import (
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// layers are the packages from top to bottom. A package imports what is in its own
// line's family or in lines below, never above.
var layers = [][]string{
	{"cmd/tabhub"},
	{"hub/httpd"},
	{"hub/tenant"},
	{"hub/mcpserver"},
	{"hub/pages", "hub/demo", "hub/auth", "hub/instance", "hub/browsertool"},
	{"hub"},
	{"hub/state", "hub/builtin"},
	{"hub/item", "hub/consent", "hub/ledger"},
	{"hub/cluster", "hub/policy", "hub/record", "hub/flow", "hub/schema", "hub/telemetry", "naming", "describe", "storage", "tabtransport"},
	{"spec", "hub/broadcast", "hub/quota"},
}

// walled are the libraries that only some packages may know.
var walled = map[string][]string{
	"github.com/mark3labs/mcp-go":  {"hub/mcpserver"},
	"code.dny.dev/ssrf":            {"hub/auth/oauth"},
	"go.etcd.io/bbolt":             {"storage"},
	"github.com/prometheus":        {"cmd/tabhub/internal/telemetry"},
	"github.com/nats-io":           {"storage/jetstream", "hub/cluster"},
	"github.com/gorilla/websocket": {"tabtransport/wsconn", "tabtransport/wsserver/wstest", "cmd/tabhub/e2e/bench"}, // tests and the benchmark play peers
}

// pure are the packages that decide and do nothing, and impure what they may not import:
// time, chance and files come in as arguments.
var (
	pure   = []string{"hub/state", "hub/item", "hub/policy", "naming", "describe"}
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
			if to, ok := strings.CutPrefix(imp, "tabhub/"); ok && layer(t, to) < layer(t, from) {
				t.Errorf("%s imports %s, which is above it", from, to)
			}
			if slices.Contains(pure, from) && slices.Contains(impure, imp) {
				t.Errorf("%s imports %s", from, imp)
			}
			for lib, allowed := range walled {
				if within(imp, lib) && !slices.ContainsFunc(allowed, func(p string) bool { return within(from, p) }) {
					t.Errorf("%s imports %s; only %s may", from, imp, strings.Join(allowed, " and "))
				}
			}
		}
	}
}

// layer returns the line of the closest family that a package is of.
func layer(t *testing.T, pkg string) int {
	for p := pkg; p != "."; p = path.Dir(p) {
		for i, families := range layers {
			if slices.Contains(families, p) {
				return i
			}
		}
	}
	t.Fatalf("package %s has no place in the layers", pkg)
	return 0
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
