//go:build nightly

package naming

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tabhub/spec"
)

// Whatever the suffix below which a bank has its domain, no site below a shorter one
// gets a name that reads as the bank's, in either order of registration.
func TestEveryPublicSuffix(t *testing.T) {
	for _, rule := range publicSuffixes(t) {
		site, exception := strings.CutPrefix(rule, "!") // such a rule is a site itself
		if !exception {
			site = "bank." + strings.ReplaceAll(rule, "*", "any")
		}
		labels := strings.Split(site, ".")
		bank := Identity{Kind: spec.KindTool, Domain: spec.Domain(site), Item: "transfer"}
		want := "website_tool_" + strings.Join(labels, "_") + "_transfer"
		for n := 1; n < len(labels); n++ {
			domain, err := DomainOf("https://"+strings.Join(labels[:n], "."), true)
			if err != nil {
				continue // no browser has such a host: its last label is a number
			}
			other := Identity{Kind: spec.KindTool, Domain: domain, Item: strings.Join(labels[n:], "_") + "_transfer"}
			for _, order := range [][]Identity{{bank, other}, {other, bank}} {
				names := take(ToolNamer{Limit: 400}, order...)
				if names[bank] != want {
					t.Errorf("%s has %s", bank.Domain, names[bank])
				}
				if names[other] != "website_tool_"+strings.Join(labels[:n], "_")+"__"+other.Item {
					t.Errorf("%s has %s", other.Domain, names[other])
				}
			}
			checkReads(t, other, ToolNamer{Limit: 400}.Name(other, nil))
		}
		checkReads(t, bank, want)
	}
}

// publicSuffixes returns the rules of the list, from the library's test.
func publicSuffixes(t *testing.T) []string {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "golang.org/x/net/publicsuffix").Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "table_test.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.VAR {
			continue
		}
		v := d.Specs[0].(*ast.ValueSpec)
		if v.Names[0].Name != "rules" {
			continue
		}
		for _, e := range v.Values[0].(*ast.CompositeLit).Elts {
			rule, err := strconv.Unquote(e.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			rules = append(rules, rule)
		}
	}
	if len(rules) < 5000 {
		t.Fatalf("%d rules", len(rules))
	}
	return rules
}
