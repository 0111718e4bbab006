package call

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tabhub/hub/core"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport"
)

// Each request that there is has its place: it is decided about as a call or as a control
// request, or is the hub's own.
func TestEachRequestIsDecidedAbout(t *testing.T) {
	own := []string{"Ask", "EndRoom", "ListPacks", "ListTabs", "Ping", "Record", "Refs", "SubscribeResource"} // Ping is sent by no Hub
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "spec", "message.go"), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	controlled := map[string]spec.Request{
		"OpenTab": &spec.OpenTab{URL: "https://e.com/"}, "ActivateTab": &spec.ActivateTab{}, "CloseTab": &spec.CloseTab{}, "ListTabs": &spec.ListTabs{},
		"Navigate": &spec.Navigate{}, "Screenshot": &spec.Screenshot{}, "Text": &spec.Text{},
		"Rest": &spec.Rest{WaitMs: 1}, "Look": &spec.Look{},
	}
	called := []string{"ExecuteTool", "Run", "ReadResource", "GetPrompt", "Complete"}
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
			if a, _, _ := controlAction(&consent.Caller{Principal: policy.Owner}, req); a.Name == "" {
				t.Errorf("controlAction does not know %s", name)
			}
		}
	}
	if found != len(controlled)+len(called)+len(own)-1 { // ListTabs is both
		t.Errorf("%d requests", found)
	}
}

// A name that moves to another browser while a call waits lets nothing through.
func TestGateLooksAtTheBrowser(t *testing.T) {
	c, err := core.Open(t.Context(), core.Options{User: spec.LocalUser, Transport: tabtransport.NewPeers(), Store: &storagetest.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := core.OpenRules(c, policy.ModeOpen)
	if err != nil {
		t.Fatal(err)
	}
	g := gate{rules: rules, browserOf: func(spec.PeerID) string { return "personal" }}
	a := policy.Action{Principal: &policy.Principal{ID: "c"}, Bound: []string{"work"}, Of: policy.OfHub, Name: "x", Class: policy.Read}
	_, err = g.send(t.Context(), permit{&a}, spec.TabAddr{Peer: "browser:personal-id", Tab: 7}, &spec.Text{}, tabtransport.Wait{})
	if f, ok := err.(*core.Failure); !ok || f.Code != spec.FailDenied || !strings.Contains(f.Message, "bound to") {
		t.Errorf("%v", err)
	}
}
