package e2e

import (
	"strings"
	"testing"

	"tabhub/cmd/tabhub/e2e/rig"
)

// Who writes a page sees in a terminal what it has offered and what it was asked, of the site
// that they have pasted from the address bar, and nothing of other sites.
func TestTraceOfARealPage(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	b := p.browse()
	url := website(t)
	cmd, told := p.command("trace", url+"/?1#top"), rig.NewOutput()
	cmd.Stdout = told
	tracing := rig.Start(t, cmd)
	tracing.Stderr.Await(t, "waiting for messages")
	p.open(&tab{key: "other", tools: `[{"name":"elsewhere"}]`, run: nil})
	b.Open(url + "/?1")
	told.Await(t, " browser/registerTools, ")
	told.Await(t, `"name": "buy"`)
	c := p.stdio()
	list := c.awaitTools("the shop's tools are listed", func(l tools) bool { return l.named("_buy") != "" })
	c.call(list.named("_buy"), `{"n":4711}`)
	c.call(list.named("_throws"), `{}`)
	site := strings.TrimPrefix(url, "http://") + " tab 1"
	told.Await(t, "→ "+site+" browser/executeTool buy, ")
	told.Await(t, `"n": 4711`)
	told.Await(t, "← "+site+" browser/executeTool buy answered after ")
	told.Await(t, "← "+site+" browser/executeTool throws failed after ")
	if text := told.String(); strings.Contains(text, "elsewhere") || strings.Contains(text, "browser/hello") || strings.ContainsRune(text, '\x1b') {
		t.Errorf("%s", text)
	}
	tracing.Stop()
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ends with %d", code)
	}
	if _, stderr, exit := p.run("trace", url, "first"); exit != 2 || !strings.Contains(stderr, "is no tab; it is a number") {
		t.Errorf("%d %s", exit, stderr)
	}
}
