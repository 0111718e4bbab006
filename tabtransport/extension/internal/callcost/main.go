// Command callcost measures a call of a page's tool, from an MCP client on stdio to the
// page and back, and where its time goes:
//
//	go run ./tabtransport/extension/internal/callcost [-calls 500] [-peer "npx chrome-devtools-mcp@1.11" [-together]]
//
// A browser with the extension shows a page with a WebMCP tool, which is called through
// `tabhub stdio`, a hub and the extension. With -peer the same page's tool is called through
// another MCP server, too, that drives a browser over its DevTools, in turn, so that what
// else the machine does hits both alike. -peer is the command of Chrome's DevTools server;
// where the browser is, and what else it must be told, is added. Each has a browser of its
// own unless -together is set: DevTools that are attached to a browser report each call of
// a tool, whoever makes it, and that delays tabhub's calls.
//
// Then tabhub alone is called again with each hop observed, which costs a little itself:
// when the worker has the frame, when the extension asks the browser to run the tool, when
// the tool runs, and so on back. All clocks are this computer's.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tabhub/tabtransport/extension/internal/lab"
)

// page has a tool that notes when it was run. A page that is isolated has a finer clock.
const page = `<!doctype html><title>Clock</title><script>
	let ran = 0;
	document.modelContext.registerTool({
		name: "clock",
		description: "Returns what it is given",
		inputSchema: {type: "object", properties: {text: {type: "string"}}},
		execute: ({text}) => {
			ran = performance.timeOrigin + performance.now();
			return {text};
		},
	});
</script>`

func servePage(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
	w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
	_, _ = w.Write([]byte(page))
}

func main() {
	calls := flag.Int("calls", 500, "call the tool `n` times")
	peer := flag.String("peer", "", "`command` of an MCP server to compare with: Chrome's DevTools server")
	together := flag.Bool("together", false, "let the peer drive the browser with the extension")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *calls, *together, strings.Fields(*peer)); err != nil {
		fmt.Fprintln(os.Stderr, "callcost:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, calls int, together bool, peer []string) error {
	l, err := lab.Open(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	site, err := l.Site(http.HandlerFunc(servePage))
	if err != nil {
		return err
	}
	ourTab, profile, err := l.Browser(ctx, true)
	if err != nil {
		return err
	}
	if err := chromedp.Do(ourTab, chromedp.Navigate(site)); err != nil {
		return err
	}
	client, err := connect(ctx, l.Command("stdio"))
	if err != nil {
		return fmt.Errorf("tabhub: %w", err)
	}
	defer client.Close()
	name, err := awaitTool(ctx, client, "_clock")
	if err != nil {
		return fmt.Errorf("tabhub: %w", err)
	}
	ours := func() error {
		return call(ctx, client, name, map[string]any{"text": "hello"})
	}
	if len(peer) > 0 {
		if !together {
			var tab context.Context
			if tab, profile, err = l.Browser(ctx, false); err != nil {
				return err
			}
			if err := chromedp.Do(tab, chromedp.Navigate(site)); err != nil {
				return err
			}
		}
		if err := compare(ctx, calls, ours, peer, profile); err != nil {
			return err
		}
	}
	return split(ctx, calls, ourTab, ours)
}

// compare calls the tool in turn through tabhub and through the peer.
func compare(ctx context.Context, calls int, ours func() error, peer []string, profile string) error {
	address, err := devTools(profile)
	if err != nil {
		return err
	}
	peer = append(peer, "--wsEndpoint", address, "--categoryExperimentalWebmcp", "--no-page-id-routing",
		"--no-usage-statistics", "--no-performance-crux")
	cmd := exec.CommandContext(ctx, peer[0], peer[1:]...)
	other, err := connect(ctx, cmd)
	if err != nil {
		return fmt.Errorf("%s: %w", peer[0], err)
	}
	defer other.Close()
	theirs := func() error {
		return call(ctx, other, "execute_webmcp_tool", map[string]any{"toolName": "clock", "input": `{"text":"hello"}`})
	}
	var a, b []float64
	const warmUp = 50
	for i := range warmUp + calls {
		x, err := took(ours)
		if err != nil {
			return fmt.Errorf("tabhub: %w", err)
		}
		y, err := took(theirs)
		if err != nil {
			return fmt.Errorf("%s: %w", peer[0], err)
		}
		if i >= warmUp {
			a, b = append(a, x), append(b, y)
		}
	}
	for _, q := range []float64{0.5, 0.95} {
		ratio := lab.Compare(a, b, func(a, b []float64) float64 { return lab.Quantile(a, q) / lab.Quantile(b, q) })
		fmt.Printf("p%.0f: %s times the peer's; tabhub %.2f ms, the peer %.2f ms\n", q*100, ratio, lab.Quantile(a, q), lab.Quantile(b, q))
	}
	return nil
}

// devTools returns the address of the DevTools of the browser with a profile.
func devTools(profile string) (string, error) {
	text, err := os.ReadFile(filepath.Join(profile, "DevToolsActivePort"))
	if err != nil {
		return "", err
	}
	port, path, ok := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if !ok {
		return "", fmt.Errorf("%s has no DevTools", profile)
	}
	return "ws://127.0.0.1:" + port + path, nil
}

// took returns how many ms f took.
func took(f func() error) (float64, error) {
	began := time.Now()
	err := f()
	return float64(time.Since(began).Microseconds()) / 1000, err
}

func connect(ctx context.Context, server *exec.Cmd) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "callcost", Version: "1"}, nil)
	return client.Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
}

// awaitTool waits until a server has a tool whose name ends so, and returns the name.
func awaitTool(ctx context.Context, client *mcp.ClientSession, suffix string) (string, error) {
	for range 100 {
		list, err := client.ListTools(ctx, nil)
		if err != nil {
			return "", err
		}
		for _, tool := range list.Tools {
			if strings.HasSuffix(tool.Name, suffix) {
				return tool.Name, nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return "", errors.New("the page's tool is not listed")
}

func call(ctx context.Context, client *mcp.ClientSession, name string, args map[string]any) error {
	result, err := client.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return err
	}
	if result.IsError || len(result.Content) == 0 {
		return fmt.Errorf("%s failed: %+v", name, result.Content)
	}
	return nil
}
