//go:build nightly

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"tabhub/spec/rawjson"
	"tabhub/tabtransport/tabtest/chromium"
)

// A call of a page's tool through the hub takes about as long as one through the browser's
// debugger. Each uses a separate browser, and they call in turn, so that the load of the machine
// is the same for both.
func TestAsFastAsChromeDevTools(t *testing.T) {
	const calls = 200
	url := website(t)

	p := newPlace(t)
	hub := p.stdio()
	page := p.browse().Open(url)
	buy := hub.awaitTools("the shop's tools are listed", func(l tools) bool { return l.named("_buy") != "" }).named("_buy")

	module, err := filepath.Abs(nodeClients + "/node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js")
	if err != nil {
		t.Fatal(err)
	}
	profile := t.TempDir()
	args := []string{module, "--headless", "--isolated", "--performanceCrux=false", "--executablePath", chromium.Require(t), "--categoryExperimentalWebmcp", "--chromeArg=--enable-features=WebMCP"}
	if os.Geteuid() == 0 {
		args = append(args, "--chromeArg=--no-sandbox")
	}
	cmd := node(t, args...)
	cmd.Env = append(os.Environ(), "HOME="+profile, "CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS=1", "CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS=1")
	devtools := pipe(t, cmd)
	devtools.initialize()
	opened := devtools.call("new_page", fmt.Sprintf(`{"url":%q}`, url))
	id := regexp.MustCompile(`(\d+): [^\\]*` + regexp.QuoteMeta(url)).FindSubmatch(opened.result)
	if id == nil {
		t.Fatalf("chrome-devtools-mcp has not opened the page: %s%s", opened.result, opened.err)
	}

	sides := []struct {
		name, tool, args string
		client           *client
		took             []time.Duration
	}{
		{name: "the hub", client: hub, tool: buy, args: `{"n":%d}`},
		{name: "chrome-devtools-mcp", client: devtools, tool: "execute_webmcp_tool", args: `{"pageId":` + string(id[1]) + `,"toolName":"buy","input":"{\"n\":%d}"}`},
	}
	for n := range calls {
		for i := range sides {
			s := &sides[i]
			began := time.Now()
			a := s.client.call(s.tool, fmt.Sprintf(s.args, n))
			s.took = append(s.took, time.Since(began))
			if a.outcome() != "ok" || !regexp.MustCompile(fmt.Sprintf(`bought[\\": ]+%d\b`, n)).Match(rawjson.Get(a.result, "content")) {
				t.Fatalf("call %d of %s: %s %s", n, s.name, a.outcome(), a.result)
			}
		}
	}
	if ran := page.Eval("Object.keys(runs).length"); ran != fmt.Sprint(calls) {
		t.Errorf("the page's tool ran %s times, not %d", ran, calls)
	}
	var medians []time.Duration
	for _, s := range sides {
		slices.Sort(s.took)
		medians = append(medians, s.took[calls/2])
		t.Logf("%s: %v; fastest tenth %v, slowest %v", s.name, s.took[calls/2], s.took[calls/10], s.took[calls*9/10])
	}
	ratio := float64(medians[0]) / float64(medians[1])
	t.Logf("a call takes %.2f times what it takes chrome-devtools-mcp", ratio)
	// On a busy machine, whose processors wait for each other, the ratio varies by a fifth.
	if ratio > 1.3 {
		t.Error("the hub's path has become slow")
	}
}
