package main

import (
	"bytes"
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
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tabhub/cmd/tabhub/internal/checkpage"
	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/pagecheck"
	"tabhub/spec"
	"tabhub/tabtransport/tabtest/chromium"
)

// checkedSite serves pages, whose bodies are given by path.
func checkedSite(t *testing.T, pages map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if to, moved := strings.CutPrefix(body, "-> "); moved {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!doctype html><title>Page %s</title><link rel=icon href=data:,><body>%s", r.URL.Path, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// offering is a page that offers tools.
func offering(tools ...string) string {
	return "<script>" + strings.Join(tools, "\n") + "\nfunction offer(tool) { document.modelContext.registerTool(tool) }</script>"
}

const goodTool = `offer({name: "search_products", description: "Find products of the shop by words. Returns their names.",
	inputSchema: {type: "object", properties: {query: {type: "string", description: "Words to look for"}, limit: {type: "integer", minimum: 1, description: "How many at most"}}, required: ["query"]},
	annotations: {readOnlyHint: true}, execute: async (args) => "asked for " + JSON.stringify(args)});`

// checked runs the command and returns its report, if there is one, and its exit code.
func checked(t *testing.T, args ...string) (r checkpage.CheckReport, code int, said string) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = run(t.Context(), append([]string{"check", "--json"}, args...), strings.NewReader(""), &out, &errOut, noEnv)
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", out.String(), err)
		}
	}
	return r, code, errOut.String()
}

// checkedBeside checks a page that loads the /tab.js of a hub at another address than usual.
func checkedBeside(t *testing.T, hub, page, browser string, calls ...string) (*checkpage.CheckReport, error) {
	t.Helper()
	var b bytes.Buffer
	a := &command.App{Out: command.Visible{W: &b}, Err: command.Visible{W: &b}, Stdout: &b, Stderr: &b, Env: noEnv}
	o := &checkpage.CheckOptions{Hub: hub, Timeout: 30 * time.Second, Browser: browser, Call: calls}
	if err := o.Read(page); err != nil {
		t.Fatal(err)
	}
	return checkpage.Check(t.Context(), a, o)
}

// found returns the findings of a report as code:item, each once.
func found(r *checkpage.CheckReport) (all []string) {
	for _, f := range r.Findings {
		all = append(all, string(f.Code)+":"+f.Item)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A page that is as it should be: it moves on, offers its tools when its data has come, and loads the
// script of the developer's hub, which takes no part in the check under any of its names. The browser
// is a branded Chrome, which takes no extension from its command line.
func TestCheckOfAGoodPage(t *testing.T) {
	t.Parallel()
	path := chromium.Require(t)
	chrome := filepath.Join(t.TempDir(), "google-chrome")
	script := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo Google Chrome 156.0.0.0; exit; fi\nexec " + path + " \"$@\"\n"
	if err := os.WriteFile(chrome, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { t.Errorf("%s%s is asked for", r.Host, r.URL) }))
	t.Cleanup(hub.Close)
	address := strings.TrimPrefix(hub.URL, "http://")
	_, port, _ := strings.Cut(address, ":")
	page := fmt.Sprintf("<script src=http://localhost:%s/tab.js></script><script src=http://%s/tab.js></script>", port, address)
	site := checkedSite(t, map[string]string{
		"/": "-> /early", "/early": page + offering(`setTimeout(() => { history.pushState({}, "", "/shop"); `+goodTool+` }, 2500);`),
	})
	r, err := checkedBeside(t, address, site+"/", chrome, `search_products={"query":"tea"}`)
	if err != nil || len(r.Findings) > 0 || r.Opened != site+"/shop" || r.Title != "Page /early" || len(r.Items) != 1 || r.Tokens == 0 {
		t.Fatalf("%v %+v", err, r)
	}
	it := r.Items[0]
	if len(it.Calls) != 1 || string(it.Calls[0].Arguments) != `{"query":"tea"}` || it.Calls[0].Outcome != "ok" {
		t.Errorf("%+v", it)
	}
	if got := checkpage.WithoutPassword("https://ann:secret@example.com/"); !strings.Contains(got, "ann:xxxxx@") {
		t.Errorf("the report names %s", got)
	}
}

func TestCheckOfABadPage(t *testing.T) {
	t.Parallel()
	chromium.Require(t)
	site := checkedSite(t, map[string]string{
		"/other": offering(goodTool),
		"/bad": offering(
			`console.error("something is amiss");`,
			`offer({name: "test", description: "A test.", annotations: {readOnlyHint: true}, execute: async () => { throw new Error("boom") }});`,
			`offer({name: "test", description: "Another one of that name.", execute: async () => 1});`,
			`offer({name: "not a name", description: "It has spaces in its name.", execute: async () => 1});`,
			`offer({name: "open_help", description: "Shows how the shop is used.", annotations: {readOnlyHint: true}, execute: async () => { location.href = "/other"; return new Promise(() => {}) }});`,
			`offer({name: "list_orders", description: "Lists the orders of who is signed in.", annotations: {readOnlyHint: true}, execute: async () => { const o = {}; o.o = o; return o }});`,
			`offer({name: "view_order", description: "Returns one order by its number.", inputSchema: {type: "object", properties: {id: {$ref: "https://example.com/id.json"}}}, execute: async () => "none"});`,
			`offer({name: "order_item", description: "Orders one item of the shop at once.", execute: async () => null});`,
			`setTimeout(() => { throw new TypeError("later") });`,
		),
	})
	r, code, said := checked(t, site+"/bad")
	want := []string{
		"call-failed:list_orders", "call-failed:test", "call-navigates:open_help", "console-error:", "schema-invalid:view_order", "script-error:",
		"set-aside:not a name", "set-aside:test",
	}
	if got := found(&r); code != command.ExitError || !slices.Equal(got, want) {
		t.Errorf("exit code %d, %s\n got %q\nwant %q", code, said, got, want)
	}
	for code, words := range map[pagecheck.Code]string{"script-error": "TypeError: later (" + site + "/bad:", "set-aside": "Duplicate tool name", "schema-invalid": "https://example.com/id.json", "call-failed": "boom"} {
		if !slices.ContainsFunc(r.Findings, func(f pagecheck.Finding) bool { return f.Code == code && strings.Contains(f.Text, words) }) {
			t.Errorf("no %s says %q: %+v", code, words, r.Findings)
		}
	}
	for _, it := range r.Items {
		if it.Name == "order_item" && len(it.Calls) > 0 {
			t.Errorf("a tool that changes something was called: %+v", it)
		}
	}
}

func TestCheckOfPagesThatOfferNothing(t *testing.T) {
	t.Parallel()
	chromium.Require(t)
	site := checkedSite(t, map[string]string{"/none": "Nothing.", "/throws": offering(`throw new Error("before anything was offered");`, goodTool)})
	r, code, _ := checked(t, site+"/throws")
	if got := found(&r); code != command.ExitError || !slices.Equal(got, []string{"nothing-offered:", "script-error:"}) {
		t.Errorf("exit code %d, %q", code, got)
	}
	_, code, said := checked(t, site+"/none", "--call", "nothing={}")
	if code != command.ExitUsage || !strings.Contains(said, `--call names "nothing", which the page does not offer; it offers no tool`) {
		t.Errorf("exit code %d: %s", code, said)
	}
	_, code, said = checked(t, site+"/missing")
	if code != command.ExitUsage || !strings.Contains(said, "cannot be opened: the server answers 404 Not Found") {
		t.Errorf("exit code %d: %s", code, said)
	}
}

// What a page offers by the hub's own script goes to the check's hub, in place of the one that
// the page names.
func TestCheckOfAPageWithTabJS(t *testing.T) {
	t.Parallel()
	chromium.Require(t)
	p, _ := serveTest(t)
	r, err := checkedBeside(t, p.Info.Addrs[0], p.Local()+"/demo", "", `add_to_cart={"productId":6}`)
	if err != nil || r.Errors+r.Warnings > 0 {
		t.Fatalf("%v %+v", err, r)
	}
	calls := map[string][]checkpage.CheckCall{}
	for _, it := range r.Items {
		calls[it.Name] = it.Calls
	}
	if len(calls) != 11 || len(calls["add_to_cart"]) != 1 || len(calls["checkout"]) != 0 || len(calls["shop://cart"]) != 1 {
		t.Errorf("%+v", calls)
	}
	if tabs := p.Hubs()[0].Status.Tabs; tabs != 1 { // the demo that the hub has itself
		t.Errorf("the page has joined the other hub, which has %d tabs", tabs)
	}
}

// A check that is stopped leaves no browser and no directory.
func TestCheckIsInterrupted(t *testing.T) {
	t.Parallel()
	chromium.Require(t)
	asked := make(chan struct{})
	var once atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !once.Swap(true) {
			close(asked)
		}
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	temp := t.TempDir()
	var errOut bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, "tabhub", "check", s.URL)
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != command.ExitError {
		t.Errorf("%v, %s", err, errOut.String())
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(processes) == 0 {
		t.Fatal(processes, err)
	}
	for _, file := range processes {
		if line, _ := os.ReadFile(file); bytes.Contains(line, []byte(temp)) {
			t.Errorf("%s runs still: %q", file, line)
		}
	}
}

// What is printed is looked at here as people see it.
func TestGoldenCheck(t *testing.T) {
	r := &checkpage.CheckReport{
		URL: "https://shop.example.com/", Opened: "https://shop.example.com/en/", Title: "Shop \u202e", Tokens: 812, Budget: 10_000, Errors: 1, Warnings: 1, Notes: 1,
		Items: []checkpage.CheckItem{
			{Kind: spec.KindTool, Name: "search_products", Tokens: 312, Class: "read", Calls: []checkpage.CheckCall{{Outcome: "ok", Milliseconds: 12}, {Outcome: "failed", Milliseconds: 4}}},
			{Kind: spec.KindTool, Name: "add_to_cart", Tokens: 240, Class: "write"},
			{Kind: spec.KindTool, Name: "checkout", Tokens: 260, Class: "destructive", Calls: []checkpage.CheckCall{{Outcome: "error", Milliseconds: 30_000}}},
			{Kind: spec.KindResource, Name: "shop://cart", Tokens: 50, Class: "read", Calls: []checkpage.CheckCall{{Outcome: "ok", Milliseconds: 3}}},
			{Kind: spec.KindResource, Template: true, Name: "shop://products/{id}", Tokens: 50, Class: "read"},
		},
		Findings: []pagecheck.Finding{
			{Severity: pagecheck.Error, Code: pagecheck.CallFailed, Item: "checkout", Text: "with {} it does not answer: TOOL_TIMEOUT: no answer within 30 s"},
			{Severity: pagecheck.Warning, Code: pagecheck.CallNavigates, Item: "search_products", Text: "with {} it leads to another page: https://shop.example.com/search", Hint: "leave readOnlyHint out, or answer without leaving the page"},
			{Severity: pagecheck.Note, Code: pagecheck.ConsoleError, Text: "the console has an error: \x1b[2Jgone (https://shop.example.com/a.js:7)"},
		},
	}
	var all strings.Builder
	for _, columns := range []uint16{40, 80, 200, 0} {
		fmt.Fprintf(&all, "# %d columns\n%s\n", columns, steady(printed(t, columns, func(a *command.App) error { return checkpage.PrintCheck(a, r) })))
	}
	file := filepath.Join("testdata", "golden", "check.txt")
	if *update {
		if err := os.WriteFile(file, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if all.String() != string(want) {
		t.Errorf("%s is not what is printed:\n%s", file, all.String())
	}
}
