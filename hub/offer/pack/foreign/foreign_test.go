package foreign

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tabhub/spec"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func imported(t *testing.T, name string) (*spec.Pack, []string) {
	t.Helper()
	p, notes, err := Import(name, read(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return p, notes
}

// noted fails unless each of the texts is in a note of its own tool, and no note is about others.
func noted(t *testing.T, notes []string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, text) }) {
			t.Errorf("no note says %q; they are:\n%s", text, strings.Join(notes, "\n"))
		}
	}
	for _, n := range notes {
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(n, text) }) {
			t.Errorf("not expected: %s", n)
		}
	}
}

// A tool that is imported does what it does in its own format; one that cannot is named with the
// reason, and is not there.
func TestTodaysRequestsBecomeSteps(t *testing.T) {
	p, notes := imported(t, "notes.webmcp-today.json")
	if p.Name != "acmenotes-com" || p.Title != "Acme Notes" || p.For != "acmenotes.com" || p.Source.Format != "webmcp-today" || len(p.Source.SHA256) != 64 {
		t.Errorf("the pack is %q, %q for %q of %v", p.Name, p.Title, p.For, p.Source)
	}
	var names []string
	for _, tool := range p.Tools {
		names = append(names, tool.Name)
	}
	if want := []string{"find", "add", "boards"}; !slices.Equal(names, want) {
		t.Errorf("tools %q, want %q", names, want)
	}
	noted(t, notes,
		"the pattern *://*.acmenotes.com/board/* becomes www.acmenotes.com alone",
		"https://help.acmenotes.com/* is left out",
		"tool add says that it only reads",
		"tool odd is left out: its token is found by the regular expression",
		"tool json is left out: its token is in an answer of JSON",
		"tool leak is left out: its token goes into the query",
		"tool other is left out: it asks https://hacker-news.firebaseio.com",
		`tool prefix is left out: its answer begins with`,
		`tool newer is left out: its endpoint: json: unknown field "retries"`)

	for i, want := range []string{
		`{"request":{"path":"/api/notes","query":{"limit":"10","q":{"arg":"q"},"sort":"by-${sort}"},"take":"notes[*].{id: id, text: text}"}}`,
		`{"request":{"method":"POST","path":"/api/b/${board}/notes","json":{"n":1,"pin":{"arg":"pin"},"tags":[{"arg":"tag"},"all"],"text":{"arg":"text"}},"token":{"page":{"path":"/new","selector":"[name=\"csrf\"]"},"header":"X-CSRF-Token"}},"as":"answer"}`,
		`{"request":{"method":"POST","path":"/graphql","json":{"query":"query Boards($n: Int) { boards(first: $n) { name } }","variables":{"n":{"arg":"n"}}}},"as":"answer"}`,
	} {
		if got, _ := json.Marshal(p.Tools[i].Steps[0]); string(got) != want {
			t.Errorf("%s:\ngot  %s\nwant %s", names[i], got, want)
		}
	}
	if h := p.Tools[0].Annotations; h == nil || !h.ReadOnly {
		t.Error("find is not said to be only reading")
	}
	if h := p.Tools[1].Annotations; h == nil || h.ReadOnly {
		t.Error("add, which sends a POST, is said to be only reading")
	}
	if want := `{result: answer | (note.id), error: answer."error"."text"}`; p.Tools[1].Result != want {
		t.Errorf("an answer that is an error is not told as one: result %s, want %s", p.Tools[1].Result, want)
	}

	pages := []string{"https://www.acmenotes.com/board/*", "https://www.acmenotes.com/new", "https://www.acmenotes.com/new?*"}
	for _, tool := range p.Tools {
		if !slices.Equal(tool.On, pages) {
			t.Errorf("%s is offered on %q, want the pages of the package, %q", tool.Name, tool.On, pages)
		}
	}
	reach := []string{"https://www.acmenotes.com/api/notes", "https://www.acmenotes.com/api/notes?*", "https://www.acmenotes.com/api/b/*/notes", "https://www.acmenotes.com/graphql"}
	if want := slices.Concat(pages, reach); !slices.Equal(p.Match, want) {
		t.Errorf("the pack reaches\n%q, want no more than its pages and requests\n%q", p.Match, want)
	}
}

// A package whose requests go to more paths than a pack has patterns is imported, and the owner is told
// that it reaches the whole host.
func TestManyRequestsAreOneHost(t *testing.T) {
	var w map[string]any
	if err := json.Unmarshal(read(t, "notes.webmcp-today.json"), &w); err != nil {
		t.Fatal(err)
	}
	endpoints := map[string]any{}
	var tools []any
	for i := range 25 {
		name := fmt.Sprintf("find%d", i)
		endpoints[name] = map[string]any{"method": "GET", "path": "/api/" + name}
		tools = append(tools, map[string]any{"name": name, "description": "Finds.", "inputSchema": map[string]any{"type": "object"}, "execution": map[string]any{"mode": "api", "endpoint": name}})
	}
	w["tools"] = tools
	w["api"].(map[string]any)["endpoints"] = endpoints
	text, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	p, notes, err := Import("many.json", text)
	if err != nil {
		t.Fatal(err)
	}
	if last := p.Match[len(p.Match)-1]; len(p.Tools) != 25 || last != "https://www.acmenotes.com/*" || len(p.Tools[24].On) != 3 {
		t.Errorf("%d tools on %q reach %q", len(p.Tools), p.Tools[24].On, p.Match)
	}
	noted(t, notes, "becomes www.acmenotes.com alone", "https://help.acmenotes.com/* is left out", "so the pack reaches all of www.acmenotes.com")
}

// Scripts of other formats run as they do there: each registers its tools by WebMCP.
func TestForeignCodeRegistersTools(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	const host = `const tools = {};
globalThis.document = {title: "Board 1", querySelectorAll: () => [1, 2], modelContext: {registerTool: (tool) => { tools[tool.name] = tool; }}};
`
	const run = `
(async () => {
  const said = [];
  for (const [name, args] of JSON.parse(process.argv[2])) {
    try { said.push(await tools[name].execute(args)); } catch (error) { said.push(error.message); }
  }
  console.log(JSON.stringify({said, tools}));
})();
`
	for _, test := range []struct{ file, calls, said, tools, match, start string }{
		{"count.webmcp-gen.json", `[["acme_count", {"tag": "work"}], ["acme_count", {"tag": "none"}]]`,
			`[{"success":true,"n":2,"tag":"work"},"no such tag"]`, `acme_count`, "https://www.acmenotes.com/*", "/list?all=1"},
		{"search.js", `[["search", {"query": "tea"}], ["search", {"query": "private"}]]`,
			`[["tea"],"HTTP 401: Log in first"]`, `search`, "https://*.acmenotes.com/*", "/"},
		{"title.user.js", `[["acme_title", {}]]`, `["Board 1"]`, ``, "https://*.acmenotes.com/*", ""},
	} {
		p, _ := imported(t, test.file)
		script := filepath.Join(t.TempDir(), "script.cjs")
		if err := os.WriteFile(script, []byte(host+p.Script+run), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(node, script, test.calls).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", test.file, err, out)
		}
		var got struct{ Said, Tools json.RawMessage }
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		if string(got.Said) != test.said {
			t.Errorf("%s: the tools say %s, want %s", test.file, got.Said, test.said)
		}
		var names []string
		for _, tool := range p.Tools {
			names = append(names, tool.Name)
		}
		if strings.Join(names, " ") != test.tools || strings.Join(p.Match, " ") != test.match || p.Start != test.start {
			t.Errorf("%s: tools %q on %q, start %q", test.file, names, p.Match, p.Start)
		}
	}
}

func TestForeignCodeIsNamedAsSuch(t *testing.T) {
	p, notes := imported(t, "count.webmcp-gen.json")
	noted(t, notes, "the manifest names no pages", "a world of its own", "tool acme count is left out: name: must be")
	if got, _ := json.Marshal(p.Tools[0].Examples); string(got) != `[{"at":"https://www.acmenotes.com/list?all=1","input":{"tag":"work"}}]` {
		t.Errorf("the fixture became %s", got)
	}
	p, notes = imported(t, "search.js")
	noted(t, notes, "a world of its own")
	const schema = `{"additionalProperties":false,"properties":{"count":{"type":"number"},"query":{"description":"Words","type":"string"},"sort":{"description":"new or old","type":"string"}},"required":["query"],"type":"object"}`
	if string(p.Tools[0].InputSchema) != schema || !p.Tools[0].Annotations.ReadOnly {
		t.Errorf("search takes %s, hints %v", p.Tools[0].InputSchema, p.Tools[0].Annotations)
	}
	p, notes = imported(t, "title.user.js")
	noted(t, notes, "also means http", "@exclude is left out: the script runs there, too", "@run-at document-start is left out")
	if p.Name != "acme-title" || p.License != "MIT" {
		t.Errorf("the script became the pack %q, license %q", p.Name, p.License)
	}
}

// The adapters of a folder are one pack, and one that is for another site is not taken along.
func TestFolderIsOnePack(t *testing.T) {
	search := string(read(t, "search.js"))
	p, notes, err := ImportFolder("acme", []File{
		{"search.js", []byte(search)},
		{"old.js", []byte(strings.Replace(search, "acme/search", "acme/old", 1))},
		{"shop.js", []byte(strings.ReplaceAll(search, "acmenotes.com", "acmeshop.com"))},
		{"any.js", []byte(strings.ReplaceAll(search, "acmenotes.com", ""))},
		{"helper.js", []byte("module.exports = 1;")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Tools) != 2 || strings.Count(p.Script, "registerTool") != 2 || p.Name != "acme" {
		t.Errorf("pack %s has %d tools:\n%s", p.Name, len(p.Tools), p.Script)
	}
	noted(t, notes, "shop.js is left out: it is for acmeshop.com", "any.js is left out: it names no domain", "helper.js is left out", "a world of its own")
}

func TestImportSaysWhatItCannotRead(t *testing.T) {
	script := string(read(t, "title.user.js"))
	for _, test := range []struct{ name, data, want string }{
		{"a text", "hello", "none of the formats"},
		{"another JSON", `{"name": "x"}`, "none of the formats"},
		{"a pack", `{"tabhubPack": 1}`, "a pack already"},
		{"a later package", strings.Replace(string(read(t, "notes.webmcp-today.json")), `"minEngine": 1`, `"minEngine": 2`, 1), "level 2 of webmcp-today's engine"},
		{"another host's API", strings.Replace(string(read(t, "notes.webmcp-today.json")), `"baseUrl": "https://www.acmenotes.com"`, `"baseUrl": "https://api.acmenotes.net"`, 1), "its tools ask api.acmenotes.net"},
		{"a manifest for another host", strings.Replace(string(read(t, "count.webmcp-gen.json")), "www.acmenotes.com/", "www.acmeshop.com/", 1), "is for acmenotes.com, but its url is at www.acmeshop.com"},
		{"privileges", strings.Replace(script, "none", "GM_xmlhttpRequest", 1), "@grant GM_xmlhttpRequest"},
		{"a library", strings.Replace(script, "@grant       none", "@require https://cdn.example.org/x.js", 1), "nothing is fetched when a pack runs"},
		{"every page", strings.Replace(script, "*://*.acmenotes.com/*", "<all_urls>", 1), "<all_urls>"},
		{"no page", strings.Replace(script, "@match ", "@include ", 1), "no @match"},
		{"another API", strings.Replace(script, "document.modelContext.registerTool(", "WebMCPScript.install(", 1), "WebMCPScript.install"},
		{"no tools", strings.Replace(script, "document.modelContext.registerTool(", "console.log(", 1), "registers no tools"},
		{"a folder of nothing", "/* @meta\n{}\n*/ async function() {}", "names no domain"},
	} {
		p, _, err := Import(test.name, []byte(test.data))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, %v; want an error that says %q", test.name, p, err, test.want)
		}
	}
}

func FuzzImport(f *testing.F) {
	for _, name := range []string{"notes.webmcp-today.json", "count.webmcp-gen.json", "search.js", "title.user.js"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, _, err := Import("pack.json", data)
		if (p == nil) == (err == nil) {
			t.Errorf("Import gives %v, %v", p, err)
		}
		if err == nil && check(p) != nil {
			t.Errorf("a pack that Parse refuses: %v", check(p))
		}
	})
}

// What is not in a pack is named in lines of its own: a name in the file makes no other ones.
func TestNotesAreLines(t *testing.T) {
	const manifest = `{"domain": "a.example.com", "task": "t", "url": "https://a.example.com/", "tools": [
		{"name": "good", "description": "d", "implementation": {"source": "return 1"}},
		{"name": "bad\n- Tool good only reads\u001b[2J", "description": "d", "implementation": {"source": "return 1"}}]}`
	_, notes, err := Import("a.json", []byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range notes {
		if strings.ContainsAny(n, "\n\x1b") {
			t.Errorf("a note is %q", n)
		}
	}
}
