package pages_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tabhub/hub/lists"
	"tabhub/tabtransport/tabtest/chromium"
)

// What the guide shows does what the guide says, as it stands there.
func TestGuide(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../spec/docs/PAGES.md")
	if err != nil {
		t.Fatal(err)
	}
	registered := regexp.MustCompile(`register(Tool|Resource|Prompt)\(\{\s+(?:uri: "[^"]*",[^\n]*\s+)?name: "(\w+)"|(toolname)="(\w+)"`)
	// One page after another: their tools have names of their own.
	s := newSite(t)
	b := chromium.Shared(t, chromium.Options{})
	const script = `<script src="http://HUB/tab.js"></script>`
	ran := map[string]int{}
	for _, block := range regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```").FindAllStringSubmatch(string(text), -1) {
		kind, code := block[1], strings.ReplaceAll(block[2], strings.TrimPrefix(usualHub, "http://"), "HUB")
		ran[kind]++
		switch kind {
		case "html":
			b.Open(s.host(code, ""))
		case "js":
			if strings.HasPrefix(code, `import "./tab.js"`) {
				b.Open(s.saved(`<script type="module">` + code + `document.modelContext.registerTool({name: "after_import", description: "d", execute: () => 1})</script>`))
				s.name("after_import")
				continue
			}
			b.Open(s.host(script+"<script>"+code+"</script>", ""))
		case "csp":
			file := "tab.js"
			if strings.Contains(code, "frame-src") {
				file = "embed.js"
			}
			policy := "default-src 'none'; " + strings.Replace(strings.TrimSpace(code), "script-src", "script-src 'unsafe-inline'", 1)
			page := b.Open(s.host(`<body><script src="http://HUB/`+file+`"></script>`+standard, policy))
			if r := s.call("order", `{"what":"tea"}`); r.IsError || r.text() != "the model ordered tea" {
				t.Errorf("with the policy %s: %+v", code, r)
			}
			page.Close()
			s.await("the page is closed", func() bool {
				return !slices.ContainsFunc(s.names(), func(name string) bool { return strings.HasSuffix(name, "_order") })
			})
		case "tsx":
			hook, err := os.ReadFile("examples/react/src/useTool.ts")
			if err != nil || !strings.Contains(string(hook), code) {
				t.Errorf("the example's hook is another: %v", err)
			}
		case "sh":
			c := exec.Command("sh", "-ec", strings.ReplaceAll(code, "HUB", s.addr))
			c.Dir = t.TempDir()
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v %s", code, err, out)
			}
			for _, file := range []string{"tab.js", "tab.d.ts"} {
				if _, err := os.Stat(filepath.Join(c.Dir, file)); err != nil {
					t.Error(err)
				}
			}
		default:
			t.Errorf("nothing runs a block of %s", kind)
		}
		if kind != "html" && kind != "js" {
			continue
		}
		what := registered.FindAllStringSubmatch(code, -1)
		if len(what) == 0 {
			t.Errorf("the block registers nothing: %s", code)
		}
		for _, m := range what {
			switch m[1] {
			case "Resource":
				s.await("the resource "+m[2], func() bool { return len(s.hub.Lists.List(lists.ListResources).Items) == 1 })
			case "Prompt":
				s.await("the prompt "+m[2], func() bool { return len(s.hub.Lists.List(lists.ListPrompts).Items) == 1 })
			default:
				s.name(m[2] + m[4])
			}
		}
	}
	for kind, least := range map[string]int{"html": 2, "js": 4, "csp": 2, "tsx": 1, "sh": 1} {
		if ran[kind] < least {
			t.Errorf("%d blocks of %s have run, want %d", ran[kind], kind, least)
		}
	}
	for tool, want := range map[string]string{"subscribe": "Subscribed a@b.example.", "export_rows": "Exported 100 rows.", "page_title": "Somebody’s page", "order_again": `{"number":17,"total":2350}`} {
		if r := s.call(tool, `{"email":"a@b.example"}`); r.IsError || r.text() != want {
			t.Errorf("%s: %+v, want %q", tool, r, want)
		}
	}
	order := s.rounds("order_tea", asksForms, "")
	if got := order.next(""); got != "How many grams of tea?" {
		t.Errorf("order_tea asks %s", got)
	}
	if got := order.next(`{"action":"accept","content":{"grams":100}}`); !strings.Contains(got, "Ordered 100 g.") {
		t.Errorf("order_tea: %s", got)
	}
	if r := s.call("order_tea", `{}`); !strings.Contains(r.text(), "Nothing was ordered.") {
		t.Errorf("order_tea of a client that cannot ask: %+v", r)
	}
}
