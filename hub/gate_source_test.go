package hub

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tabhub/spec"
)

// What sends past the gate does what nobody has decided about. So one file sends, and names
// what it sends undecided.
func TestOnlyTheGateSends(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || path == "gate.go" || path == "transport.go" || path == filepath.Join("cluster", "transport.go") {
			return err // the latter passes on what the gate sends
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "SendRequest" {
				t.Errorf("%s uses SendRequest: the gate's send does", path)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Each request that there is has its place: it is decided about as a call or as a control
// request, or is the hub's own.
func TestEachRequestIsDecidedAbout(t *testing.T) {
	own := []string{"Ask", "EndRoom", "ListTabs", "Ping", "SubscribeResource"} // Ping is sent by no Hub
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "spec", "message.go"), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	controlled := map[string]spec.Request{
		"OpenTab": &spec.OpenTab{URL: "https://e.com/"}, "ActivateTab": &spec.ActivateTab{}, "CloseTab": &spec.CloseTab{}, "ListTabs": &spec.ListTabs{},
		"Navigate": &spec.Navigate{}, "Screenshot": &spec.Screenshot{}, "Text": &spec.Text{},
		"Rest": &spec.Rest{WaitMs: 1},
	}
	called := []string{"ExecuteTool", "ReadResource", "GetPrompt", "Complete"}
	found := 0
	for _, decl := range f.Decls {
		method, ok := decl.(*ast.FuncDecl)
		if !ok || method.Recv == nil || method.Name.Name != "Method" {
			continue
		}
		found++
		name := method.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name
		req, control := controlled[name]
		if !control && !slices.Contains(called, name) && !slices.Contains(own, name) {
			t.Errorf("nobody decides about %s", name)
		}
		if control {
			if a, _, _ := controlAction(tester, req); a.Name == "" {
				t.Errorf("controlAction does not know %s", name)
			}
		}
	}
	if found != len(controlled)+len(called)+len(own)-1 { // ListTabs is both
		t.Errorf("%d requests", found)
	}
}
