package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// page has a tool.
const page = `<!doctype html><title>Echo</title><script>
	document.modelContext.registerTool({
		name: "echo",
		description: "Returns what it is given",
		inputSchema: {type: "object", properties: {text: {type: "string"}}},
		execute: ({text}) => ({text}),
	});
</script>`

// measureCalls compares calls through tabhub with those through a peer: the command of Chrome's
// DevTools server.
func measureCalls(ctx context.Context, l *lab, n int, peer []string) error {
	site, err := l.Site(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { serveHTML(w, page) }))
	if err != nil {
		return err
	}
	profiles := make([]string, 2)
	for i := range profiles {
		tab, profile, err := l.Browser(ctx, i == 0)
		if err != nil {
			return err
		}
		if err := chromedp.Do(tab, chromedp.Navigate(site)); err != nil {
			return err
		}
		profiles[i] = profile
	}
	client, err := connect(ctx, l.Command("stdio"))
	if err != nil {
		return fmt.Errorf("tabhub: %w", err)
	}
	defer client.Close()
	name, err := awaitTool(ctx, client, "_echo")
	if err != nil {
		return fmt.Errorf("tabhub: %w", err)
	}
	ours := func() error { return call(ctx, client, name, map[string]any{"text": "hello"}) }
	return compare(ctx, n, ours, peer, profiles[1])
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
		return call(ctx, other, "execute_webmcp_tool", map[string]any{"toolName": "echo", "input": `{"text":"hello"}`})
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
		fmt.Printf("p%.0f: %s times the peer's; tabhub %.2f ms, the peer %.2f ms\n", q*100, ratioOf(a, b, q), quantile(a, q), quantile(b, q))
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
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
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
