package shapes

import (
	"context"
	_ "embed"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Page is a page of tools of all kinds, for Tab.Check.
//
//go:embed page.html
var Page string

// tools are what Page has, once it has loaded, and what they give.
var tools = []tool{
	{definition: definition{
		Name: "add", Title: "Add", Annotations: map[string]any{"readOnlyHint": true},
		InputSchema:  decoded(`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}`),
		OutputSchema: decoded(`{"type":"object","properties":{"sum":{"type":"number"}}}`),
	}, args: `{"a":2,"b":3}`, result: `{"content":[{"type":"text","text":"{\"sum\":5}"}],"structuredContent":{"sum":5}}`},
	{definition: definition{
		Name: "form", Title: "A form",
		InputSchema: decoded(`{"type":"object","properties":{"q":{"type":"string","description":"What"}},"required":[]}`),
	}, args: `{"q":"x"}`, result: `{"content":[{"type":"text","text":"sent x"}]}`},
	{definition: definition{Name: "framed"}, args: `{}`, result: `{"content":[{"type":"text","text":"from the frame"}]}`},
	{definition: definition{Name: "list"}, args: `{}`, result: `{"content":[{"type":"text","text":"[1,{\"a\":null}]"}]}`},
	{definition: definition{Name: "nothing"}, args: `{}`, result: `{"content":[{"type":"text","text":"undefined"}]}`},
	{definition: definition{Name: "result"}, args: `{}`, result: `{"content":[{"type":"text","text":"a"}],"structuredContent":{"n":1}}`},
	{definition: definition{Name: "text"}, args: `{}`, result: `{"content":[{"type":"text","text":"plain words"}]}`},
	{definition: definition{Name: "throws"}, args: `{}`, result: "out of stock", fails: true},
	{definition: definition{Name: "waits"}},
}

type tool struct {
	definition
	args, result string // of a tool that fails, result is part of what is said; "": it is not called
	fails        bool
}

// definition is a tool as it is listed.
type definition struct {
	Name         string
	Title        string
	Description  string
	InputSchema  any
	OutputSchema any
	Annotations  map[string]any
}

// Tab is a tab that shows Page, as what is tested offers it.
type Tab struct {
	// Page evaluates JavaScript in the page, as a chromium.Page does.
	Page interface {
		Eval(expr string) string
		WaitFor(expr string)
	}
	// Lacks names tools of Page that are not offered, because the browser does not list them.
	Lacks []string
	// Await waits until the tab offers the tools of these names, each once, and no others.
	Await func(names ...string)
	// Listed returns a tool as JSON.
	Listed func(name string) json.RawMessage
	// Call runs a tool, and returns its CallToolResult, or what is said of its failure. It is
	// called from other goroutines, too.
	Call func(ctx context.Context, name, args string) (result string, failed bool)
}

// Check checks that the tools of a tab are what they are in every browser, but for what the
// browser itself has made of them.
func (tab Tab) Check(t *testing.T, s Shape) {
	expected := slices.DeleteFunc(slices.Clone(tools), func(d tool) bool { return slices.Contains(tab.Lacks, d.Name) })
	var names []string
	for _, d := range expected {
		names = append(names, d.Name)
	}
	tab.Await(names...)
	for _, d := range expected {
		want := d.definition
		want.Description = "d of " + d.Name
		if s.Firefox && d.Name != "form" { // which is somebody else's there
			want.Title = ""
		}
		if !s.OutputSchema {
			want.OutputSchema = nil
		}
		if got := tab.definition(t, d.Name); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is listed as\n%+v, want\n%+v", d.Name, got, want)
		}
		if d.result == "" {
			continue
		}
		got, failed := tab.Call(t.Context(), d.Name, d.args)
		if failed != d.fails || got != d.result && !(failed && strings.Contains(got, d.result)) {
			t.Errorf("%s: %s, failed %t; want %s, %t", d.Name, got, failed, d.result, d.fails)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tab.Call(ctx, "waits", "{}")
	}()
	tab.Page.WaitFor("waits.began")
	cancel()
	<-ended
	if !s.Firefox {
		tab.Page.WaitFor("waits.aborted")
	}

	tab.Page.Eval(`void tool("added", () => "added")`)
	tab.Await(append(names, "added")...)
	if got, _ := tab.Call(t.Context(), "added", "{}"); got != `{"content":[{"type":"text","text":"added"}]}` {
		t.Errorf("a tool that is added later: %s", got)
	}
	tab.Page.Eval(`takeBack("added")`)
	tab.Await(names...)
}

// definition returns a tool as it is listed, without what a hub adds for its clients: its name for the
// tool, the tab in front of the description, and a schema for a tool that has none.
func (tab Tab) definition(t *testing.T, name string) definition {
	var d definition
	if err := json.Unmarshal(tab.Listed(name), &d); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	d.Name = name
	if _, after, ok := strings.Cut(d.Description, "] "); ok {
		d.Description = after
	}
	if reflect.DeepEqual(d.InputSchema, decoded(`{"type":"object","properties":{}}`)) {
		d.InputSchema = nil
	}
	return d
}

func decoded(text string) any {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(err)
	}
	return v
}
