package pages_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"tabhub/hub/call"
	"tabhub/hub/lists"
	"tabhub/hub/pages"
	"tabhub/hub/state"
	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// usualHub is the hub that the examples name.
const usualHub = "http://127.0.0.1:3300"

// example is a page of the directory examples.
type example struct {
	dir string
	// copied: it has a copy of the hub's script, and joins without one when the hub comes.
	copied bool
	// ownAPI: it needs window.tabhub.
	ownAPI bool
	// byHand is what a person does there, and true when the page has done it.
	byHand string
	// use calls what the page offers.
	use func(s *site, page *chromium.Page)
}

var examples = []example{
	{dir: "plain", byHand: `(() => {
		const form = document.forms[0];
		form.text.value = "Feed the cat";
		form.querySelector("button").click();
		return document.querySelector("ul").innerText.includes("Feed the cat");
	})()`, use: func(s *site, page *chromium.Page) {
		s.says("add_todo", `{"text":"Buy milk"}`, "Buy milk")
		s.says("list_todos", `{}`, "Buy milk")
		page.WaitFor(`document.querySelector("ul").innerText.includes("Buy milk")`)
	}},
	{dir: "form", byHand: `(() => {
		const form = document.forms[0];
		form.elements.name.value = "Bob";
		form.querySelector("button").click();
		return document.querySelector("[role=status]").innerText.includes("Bob");
	})()`, use: func(s *site, page *chromium.Page) {
		s.says("book_table", `{"name":"Ada","guests":3,"time":"19:00"}`, "Ada, 3 guests at 19:00")
		page.WaitFor(`document.querySelector("[role=status]").innerText.includes("Ada")`)
	}},
	{dir: "react", copied: true, byHand: `document.querySelector("#root").innerText.includes("Total: 0.00")`, use: func(s *site, page *chromium.Page) {
		before := page.Eval(`document.querySelectorAll("li").length`)
		s.says("add_expense", `{"what":"Tea","cents":250}`, "Added Tea")
		page.WaitFor(`document.querySelectorAll("li").length === 1 + ` + before)
		s.says("list_expenses", `{}`, `"what":"Tea"`)
	}},
	{dir: "mcp-b", byHand: `document.querySelector("output").innerText === "–"`, use: func(s *site, page *chromium.Page) {
		r := s.call("roll_dice", `{"dice":2}`)
		page.WaitFor(fmt.Sprintf(`document.querySelector("output").innerText === %q`, r.text()))
	}},
	{dir: "resource", ownAPI: true, byHand: `document.querySelector("textarea").value === "Buy oat milk."`, use: func(s *site, _ *chromium.Page) {
		s.await("the resource and the prompt", func() bool {
			return len(s.hub.Lists.List(lists.ListResources).Items) == 1 && len(s.hub.Lists.List(lists.ListPrompts).Items) == 1
		})
		if raw, err := s.hub.Calls.ReadResource(s.t.Context(), tester, s.hub.Lists.List(lists.ListResources).Items[0].Name); err != nil || !strings.Contains(string(raw), "Buy oat milk.") {
			s.t.Errorf("the note: %s %v", raw, err)
		}
		if raw, err := s.hub.Calls.GetPrompt(s.t.Context(), tester, s.hub.Lists.List(lists.ListPrompts).Items[0].Name, json.RawMessage(`{"tone":"formal"}`)); err != nil || !strings.Contains(string(raw), "in a formal tone") {
			s.t.Errorf("the prompt: %s %v", raw, err)
		}
	}},
	{dir: "progress", byHand: `(() => {
		document.querySelector("button").click();
		return document.querySelector("progress").max === 100;
	})()`, use: func(s *site, page *chromium.Page) {
		told := make(chan spec.Progress, 100)
		raw := s.send(s.t.Context(), s.name("import_rows"), `{"rows":5}`, func(p spec.Progress) { told <- p })
		if !strings.Contains(raw.text(), `"imported":5`) {
			s.t.Errorf("import_rows: %+v", raw)
		}
		if page.Eval("!!window.tabhub") != "true" {
			return // the standard has no progress
		}
		if first := <-told; first.Total == nil || *first.Total != 5 || first.Message != "row 1" {
			s.t.Errorf("progress: %+v", first)
		}
		ctx, cancel := context.WithCancel(s.t.Context())
		go func() {
			for p := range told {
				if *p.Total == 10_000 {
					cancel()
					return
				}
			}
		}()
		if _, err := s.hub.Calls.Call(ctx, call.Request{Name: s.name("import_rows"), Args: json.RawMessage(`{"rows":10000}`), By: reporting(func(p spec.Progress) { told <- p })}); err == nil {
			s.t.Error("import_rows was not cancelled")
		}
		page.WaitFor(`new Promise(done => { const {value} = document.querySelector("progress"); setTimeout(() => done(document.querySelector("progress").value === value), 100) })`)
	}},
	{dir: "ask", byHand: `document.querySelector("h1").innerText === "Messages sent"`, use: func(s *site, page *chromium.Page) {
		name := s.name("send_message")
		for button, want := range map[string]string{"1": "Sent.", "2": "does not want"} {
			done := make(chan reply)
			go func() { done <- s.send(s.t.Context(), name, `{"text":"Hello"}`, nil) }()
			if page.Eval("!!window.tabhub") == "true" {
				s.await("the tab waits for the person", func() bool {
					return slices.ContainsFunc(s.hub.Tabs(nil), func(tab state.TabInfo) bool { return tab.Connected && tab.Waiting })
				})
			}
			page.WaitFor(`document.querySelector("dialog").open && document.querySelector("blockquote").innerText === "Hello"`)
			page.Eval(`document.querySelector("dialog button:nth-of-type(` + button + `)").click()`)
			if r := <-done; !strings.Contains(r.text(), want) {
				s.t.Errorf("send_message: %+v, want %q", r, want)
			}
		}
	}},
}

// says calls a tool and checks what its result contains.
func (s *site) says(tool, args, want string) {
	s.t.Helper()
	if r := s.call(tool, args); r.IsError || !strings.Contains(strings.ReplaceAll(r.text(), `\"`, `"`), want) {
		s.t.Errorf("%s: %+v, want %q", tool, r, want)
	}
}

// builtExamples are the examples as a reader of their README has them, those of Vite built and their
// types checked. TestMain removes the directory.
var builtExamples = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "tabhub-examples")
	if err != nil {
		return "", err
	}
	builtDir = dir
	modules, err := filepath.Abs("examples/node_modules")
	if err != nil {
		return "", err
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		return "", err
	}
	for _, e := range examples {
		if err := os.CopyFS(filepath.Join(dir, e.dir), os.DirFS("examples/"+e.dir)); err != nil {
			return "", err
		}
	}
	h := pages.Handler(func(*http.Request) string { return usualHub })
	for _, file := range []string{"tab.js", "tab.d.ts"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/"+file, nil))
		if err := os.WriteFile(filepath.Join(dir, "react/src", file), w.Body.Bytes(), 0o600); err != nil {
			return "", err
		}
	}
	for _, command := range [][]string{
		{"tsc", "-p", "react"}, {"tsc", "-p", "mcp-b"},
		{"vite", "build", "react", "--base", "./", "--logLevel", "warn"}, {"vite", "build", "mcp-b", "--base", "./", "--logLevel", "warn"},
	} {
		c := exec.Command(filepath.Join(modules, ".bin", command[0]), command[1:]...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", command, err, out)
		}
	}
	return dir, nil
})

// builtDir is the directory of builtExamples, "" if there is none.
var builtDir string

// serveExamples serves the examples as a separate site, with the hub of s instead of the usual one.
func (s *site) serveExamples() string {
	s.t.Helper()
	if _, err := os.Stat("examples/node_modules"); err != nil {
		const reason = "needs the packages of hub/pages/examples/package.json: npm ci --ignore-scripts"
		if os.Getenv("CI") == "true" {
			s.t.Fatal(reason)
		}
		s.t.Skip(reason)
	}
	dir, err := builtExamples()
	if err != nil {
		s.t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, file, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if file == "" {
			file = "index.html"
		}
		text, err := os.ReadFile(filepath.Join(dir, name, "dist", file))
		if err != nil {
			text, err = os.ReadFile(filepath.Join(dir, name, file))
		}
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript"}[filepath.Ext(file)])
		fmt.Fprint(w, strings.ReplaceAll(string(text), usualHub, "http://"+s.addr))
	}))
	s.t.Cleanup(srv.Close)
	return srv.URL
}

// openExamples opens all examples, each in a tab.
func (s *site) openExamples(b *chromium.Browser) []*chromium.Page {
	s.t.Helper()
	url := s.serveExamples()
	var pages []*chromium.Page
	for _, e := range examples {
		pages = append(pages, b.Open(url+"/"+e.dir+"/"))
	}
	return pages
}

// A reader copies an example and it works in their browser, whatever that has.
func TestExamples(t *testing.T) {
	t.Parallel()
	for _, c := range chromium.Rows(2, []struct{ native, extension bool }{{false, false}, {true, true}, {true, false}, {false, true}}...) {
		t.Run(fmt.Sprintf("WebMCP=%v, extension=%v", c.native, c.extension), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			var b *chromium.Browser
			if c.extension {
				b = s.extended(chromium.Options{WebMCP: c.native})
			} else {
				b = chromium.Shared(t, chromium.Options{WebMCP: c.native})
			}
			for i, page := range s.openExamples(b) {
				page.Front()
				examples[i].use(s, page)
			}
		})
	}
}
