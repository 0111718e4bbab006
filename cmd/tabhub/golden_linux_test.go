package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/daemon"
	"tabhub/cmd/tabhub/internal/terminal/ptytest"
	"tabhub/spec"
	"tabhub/tabtransport"
)

var update = flag.Bool("update", false, "write the golden files anew")

// shown are the commands whose output the golden files hold, in this order.
var shown = [][]string{
	{"tabs"},
	{"tools"},
	{"tools", "resources"},
	{"tools", "prompts"},
	{"preflight", "website_tool_docs_example_com__find_in_document", "website_tool_demo_tabhub__checkout", "website_tool_shop_example_com__buy"},
	{"explain", "website_tool_docs_example_com__find_in_document"},
	{"call", "website_tool_demo_tabhub__add_to_cart", `{"productId":1}`},
	{"call", "website_tool_demo_tabhub__checkout", `{"note":"to Ann"}`},
	{"call", "tabhub://demo.tabhub/shop://cart"},
	{"call", "website_prompt_demo_tabhub__choose_gift", "occasion=tea"},
	{"approve"},
	{"calls"},
	{"site"},
	{"site", "docs.example.com", "--cache", "on"},
	{"pause", "--client", "claude"},
	{"policy", "list"},
	{"policy", "test", "--site", "bank.example.com", "--tool", "pay", "--class", "destructive"},
	{"token", "list"},
	{"browser", "forget"},
	{"log", "event=call"},
	{"log", "site=nowhere.example.com"},
	{"call", "--help"},
	{"statsu"},
}

// What commands print is looked at here as people see it. After a change, look at what
// `go test ./cmd/tabhub -run TestGolden -update` writes.
func TestGolden(t *testing.T) {
	for name, c := range map[string]struct {
		columns uint16 // 0: a pipe
		env     map[string]string
	}{
		"80":    {80, nil},
		"dumb":  {80, map[string]string{"TERM": "dumb"}},
		"piped": {0, map[string]string{"COLUMNS": "80"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := serveTest(t)
			p.App.DataDir = "" // refusals would name it, and break otherwise
			joinTabs(t, p)
			env := func(name string) string { return c.env[name] }
			var all strings.Builder
			for _, args := range shown {
				all.WriteString("$ tabhub " + strings.Join(args, " ") + "\n")
				all.WriteString(output(t, c.columns, env, append(args, "--data-dir", string(p.Dir))) + "\n")
			}
			got := steady(all.String())
			file := filepath.Join("testdata", "golden", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s is not what is printed:\n%s", file, got)
			}
		})
	}
}

// A tool that no tab has, and that none can be opened for, is told apart from a browser that is not there.
func TestPreflightWithoutATab(t *testing.T) {
	p, _ := serveTest(t)
	joinTabs(t, p)
	var b bytes.Buffer
	code := run(t.Context(), []string{"preflight", "website_tool_shop_example_com__buy", "--data-dir", string(p.Dir)}, strings.NewReader(""), &b, &b, noEnv)
	if code != 3 || !strings.Contains(b.String(), "no tab") {
		t.Errorf("exit code %d: %s", code, b.String())
	}
}

// joinTabs opens a browser with tabs that are active, asleep, and refused in part.
func joinTabs(t *testing.T, p *daemon.Process) {
	t.Helper()
	serve := func(context.Context, tabtransport.Incoming) (spec.Response, error) {
		return spec.Response{}, spec.Errorf(spec.CodeInternal, "not in this test")
	}
	browser, err := tabtransport.Join(t.Context(), p.Tabs.Transport(spec.LocalUser), tabtransport.Conn{
		Attested: true, Dialect: "tabhub.v1",
		Hello: &spec.Hello{ProtocolVersion: spec.ProtocolVersion, BrowserID: "b-1", BrowserName: "Chromium on Linux", Capabilities: []spec.Capability{}},
	}, serve)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(browser.Close)
	offer := func(tab int64, url, title string, tools ...string) {
		m := &spec.Register{Kind: spec.KindTool, TabURL: url, Title: title}
		for _, tool := range tools {
			m.Items = append(m.Items, json.RawMessage(tool))
		}
		if _, err := browser.Ask(t.Context(), tab, m); err != nil {
			t.Fatal(err)
		}
	}
	offer(1, "https://docs.example.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit", "A plan for the year, with all that is to be done and by whom",
		`{"name":"find_in_document","description":"Finds words in the document that is open, and says on which page and in which paragraph each of them is."}`,
		`{"name":"replace_everywhere_in_the_document_and_in_its_comments","description":"Replaces words."}`,
		`{"name":"bad","inputSchema":{"type":7}}`)
	offer(2, "https://生命.example/", "生命 \x1b[2J\u202e", `{"name":"look","description":"見る"}`)
	offer(3, "https://mail.example.com/", "Mail", `{"name":"search"}`)
	browser.Send(1, &spec.TabState{Active: new(true), WindowFocused: new(true)})
	browser.Send(3, &spec.TabState{Discarded: new(true)})
	offer(4, "https://empty.example.com/", "Nothing", `{"name":"gone"}`)
	offer(4, "https://empty.example.com/", "Nothing") // and what was sent before has been taken in
}

// output returns what a command prints, on a terminal with so many columns or into a pipe.
func output(t *testing.T, columns uint16, env func(string) string, args []string) string {
	t.Helper()
	return shownOn(t, columns, func(w io.Writer) { run(t.Context(), args, strings.NewReader(""), w, w, env) })
}

// printed returns what is printed on a terminal with so many columns, or into a pipe.
func printed(t *testing.T, columns uint16, print func(*command.App) error) string {
	t.Helper()
	return shownOn(t, columns, func(w io.Writer) {
		if err := print(&command.App{Out: command.Visible{W: w}, Err: command.Visible{W: w}, Stdout: w, Stderr: w, Env: noEnv}); err != nil {
			t.Error(err)
		}
	})
}

// shownOn returns what is written to a terminal with so many columns, or into a pipe if there are none.
func shownOn(t *testing.T, columns uint16, write func(io.Writer)) string {
	t.Helper()
	if columns == 0 {
		var b bytes.Buffer
		write(&b)
		return b.String()
	}
	terminal, tty := ptytest.Open(t, columns)
	read := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(terminal) // ends with an error when nobody has the tty any more
		read <- b
	}()
	write(tty)
	tty.Close()
	return strings.ReplaceAll(string(<-read), "\r\n", "\n")
}

// varying is what differs each time, and what stands for it, of the same width where that counts.
var varying = []struct {
	is    *regexp.Regexp
	shown string
}{
	{regexp.MustCompile(`\x1b\[`), "␛["},
	{regexp.MustCompile(`\r␛\[K`), "␍"},
	{regexp.MustCompile(`\d\d-\d\d \d\d:\d\d:\d\d`), "01-31 12:34:56"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d`), "2026-01-31"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d`), "12:34:56"},
	{regexp.MustCompile(`(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day`), "Monday"},
	{regexp.MustCompile(`(approve |\n(?:␛\[1m)?)[A-Z2-7]{8}\b`), "${1}QUESTION"},
	{regexp.MustCompile(`127\.0\.0\.1:\d{5}`), "127.0.0.1:12345"},
	{regexp.MustCompile(`(ok|DENIED) · [\d.]+ m?s`), "$1"},
	{regexp.MustCompile(` {2,}((␛\[\d+m[●✗] )?(ok|DENIED)(␛\[0m)?\n)`), "  $1"},
	{regexp.MustCompile(`orderNumber":\d+`), `orderNumber":1`},
	{regexp.MustCompile(`/\S*/data\b`), "/data"},
}

func steady(text string) string {
	for _, v := range varying {
		text = v.is.ReplaceAllString(text, v.shown)
	}
	return text
}
