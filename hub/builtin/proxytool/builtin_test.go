package proxytool

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"tabhub/hub/builtin"
	"tabhub/hub/lists"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// rig is a hub with builtin tools: tab, which acts, and look, which only reads.
type rig struct {
	*testing.T
	hub     *fakeHub
	tools   []builtin.Tool
	calls   []string // of the builtin tools
	records []string
}

func newRig(t *testing.T) *rig {
	g := &rig{T: t, hub: newFakeHub()}
	serve := func(name, description string, reads bool) builtin.Tool {
		return builtin.Tool{
			Name: name, Description: description, Input: json.RawMessage(`{"type":"object"}`),
			Annotations: &builtin.Annotations{ReadOnly: reads},
			Call: func(ctx context.Context, by *consent.Caller, args json.RawMessage) (json.RawMessage, error) {
				g.calls = append(g.calls, name+" "+string(args)+" for "+by.Said+" via "+by.Via)
				by.Report(spec.Progress{Progress: 1})
				return builtin.Text("done"), context.Cause(ctx)
			},
		}
	}
	others := []builtin.Tool{serve("browser_tab", "Opens tabs", false), serve("browser_look", "Looks", true)}
	g.tools = New(g.hub, others, func(r record.Entry) { g.records = append(g.records, r.Via+" "+r.Tool+": "+r.Outcome) })
	return g
}

func (g *rig) call(tool, args string) string {
	g.Helper()
	result, err := builtin.Find(g.tools, tool).Call(g.Context(), tester, json.RawMessage(args))
	if err != nil {
		g.Fatal(err)
	}
	return string(result)
}

// TestBuiltinTools: a client that only has proxy can do with it all that the hub can.
func TestBuiltinTools(t *testing.T) {
	g := newRig(t)
	g.hub.lists[lists.ListTools] = listing(item("browser_tab", "d", `{"name":"browser_tab","description":"a page's"}`), item("x", "d", `{"name":"x"}`))
	if got := g.call(Name, `{"action":"list","type":"tool"}`); !strings.Contains(got, `"structuredContent":{"items":[{"name":"browser_tab","description":"Opens tabs",`) ||
		strings.Contains(got, "a page's") || !strings.Contains(got, `{"name":"x"}]`) {
		t.Errorf("list: %s", got)
	}
	if got := g.call(Name, `{"action":"list","type":"tool","filter":{"query":"open tab"}}`); !strings.Contains(got, `Opens tabs`) {
		t.Errorf("query: %s", got)
	}
	if got := g.call(Name, `{"action":"info","type":"tool","path":"browser_tab"}`); !strings.Contains(got, `"proxy:info/tool/browser_tab"`) || !strings.Contains(got, `"inputSchema":{"type":"object"}`) {
		t.Errorf("info: %s", got)
	}
	got := g.call(Name, `{"action":"call","type":"tool","path":"browser_tab","args":{"action":"new"}}`)
	if !strings.Contains(got, `"text":"done"`) || !strings.Contains(got, `"proxyPath":"browser_tab"`) {
		t.Errorf("call: %s", got)
	}
	got = g.call(Name, `{"action":"batch","operations":[{"action":"call","type":"tool","path":"browser_tab"},{"action":"call","type":"tool","path":"calculator_add"}]}`)
	if strings.Contains(got, "failed") {
		t.Errorf("batch: %s", got)
	}
	if want := []string{`browser_tab {"action":"new"} for test via proxy`, `browser_tab  for test via proxy`}; !slices.Equal(g.calls, want) {
		t.Errorf("called %q", g.calls)
	}
}

// TestReading: a user who lets a host call proxy_read without being asked has not let it
// change anything.
func TestReading(t *testing.T) {
	g := newRig(t)
	for args, want := range map[string]string{
		`{"action":"list","type":"tool"}`:                                                        `{"content":[{"type":"text","text":"[{\"name\":\"browser_tab\"`,
		`{"action":"info","type":"tool","path":"calculator_add"}`:                                `{"content":[{"type":"text","text":"{\"name\":\"calculator_add\"`,
		`{"action":"call","type":"resource","path":"r:words"}`:                                   `hello {`,
		`{"action":"call","type":"prompt","path":"greet"}`:                                       `{"content":[{"type":"text","text":"{\"description\":\"d\"`,
		`{"action":"call","type":"tool","path":"browser_look"}`:                                  `"text":"done"`,
		`{"action":"call","type":"tool","path":"acts"}`:                                          `call it with proxy`,
		`{"action":"call","type":"tool","path":"browser_tab"}`:                                   `call it with proxy`,
		`{"action":"call","type":"tool","path":"proxy"}`:                                         `Unknown tool`,
		`{"action":"batch","operations":[{"action":"call","type":"tool","path":"browser_tab"}]}`: `call it with proxy`,
	} {
		if got := g.call(ReadName, args); !strings.Contains(got, want) {
			t.Errorf("%s: %s", args, got)
		}
	}
	if want := []string{`browser_look  for test via proxy_read`}; !slices.Equal(g.calls, want) {
		t.Errorf("called %q", g.calls)
	}
	if !slices.Contains(g.records, "proxy_read call tool browser_tab: refused") || !slices.Contains(g.records, "proxy_read call tool acts: refused") {
		t.Errorf("recorded %q", g.records)
	}
	// The hub decides of a page's tool, at the tab that it chooses.
	for _, c := range g.hub.got {
		if !c.ReadOnly {
			t.Errorf("the hub was asked for %+v", c)
		}
	}
}
