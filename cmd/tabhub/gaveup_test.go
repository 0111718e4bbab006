package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tabhub/cmd/tabhub/internal/daemon"
	"tabhub/hub/builtin"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
	"tabhub/tabtransport"
)

// host makes one call of payTool as a program that others wrote does, and returns what it has of it, when it
// has that or gives up. With patience it waits for the owner.
type host func(t *testing.T, hub *serving, patience bool) string

const payTool = "website_tool_shop_example__pay"

// hosts are one of each kind; giveUp is after what time they do, "" if it is their own.
var (
	giveUp = "1500"
	hosts  = map[string]host{
		"the TypeScript SDK":                    sdkHost("v1 stdio 2025-11-25"),
		"the TypeScript SDK, over HTTP":         sdkHost("v2 http 2025-11-25"),
		"a client without progress, which ends": rawHost,
	}
)

func sdkHost(kind string) host {
	return func(t *testing.T, hub *serving, patience bool) string {
		args := append(strings.Fields(kind), payTool)
		if patience {
			args = append(args, "100000")
		} else if giveUp != "" {
			args = append(args, giveUp)
		}
		cmd := nodeScript(t, "call.mjs", args...)
		cmd.Env = hub.env()
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return string(out)
	}
}

func rawHost(t *testing.T, hub *serving, patience bool) string {
	cmd := exec.Command("tabhub", "stdio", "--data-dir", hub.dir)
	cmd.Env = hub.env()
	in, _ := cmd.StdinPipe()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return ""
	}
	defer cmd.Wait()
	defer in.Close()
	lines := bufio.NewReader(out)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`)
	lines.ReadString('\n')
	fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+payTool+`","arguments":{}}}`)
	if !patience {
		time.AfterFunc(1500*time.Millisecond, func() { in.Close() })
	}
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return "gave up"
		}
		if strings.Contains(line, `"id":1,`) {
			return line
		}
	}
}

// A host gives up while its owner is asked in a browser: the window stays, the owner answers there, and when the
// host asks again, its call is made once.
func TestHostThatGivesUp(t *testing.T) {
	t.Parallel()
	nodeScript(t, "call.mjs")
	for name, call := range hosts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, hub := serveAsked(t, "--set", "ask=browser,dashboard")
			asked, ran := joinAsked(t, p)
			made := func(patience bool) <-chan string {
				got := make(chan string, 1)
				go func() { got <- call(t, hub, patience) }()
				return got
			}

			first := made(false)
			q := <-asked
			if got := <-first; strings.Contains(got, "paid") || ran.Load() != 0 {
				t.Fatalf("the first call: %s", got)
			}
			desk := deskOf(t, p)
			until := func(what string, holds func([]consent.Question) bool) {
				t.Helper()
				for all := range desk.Watch(t.Context()) {
					if holds(all) {
						return
					}
				}
				t.Fatalf("never %s", what)
			}
			until("deferred", func(all []consent.Question) bool { return len(all) == 1 && all[0].Deferred })
			if q.ctx.Err() != nil {
				t.Fatal("its window is closed")
			}
			q.answer <- spec.ReachOnce
			until("allowed", func(all []consent.Question) bool { return len(all) == 1 && all[0].Allowed })
			if n := ran.Load(); n != 0 {
				t.Fatalf("it ran %d times although nobody asked for it", n)
			}

			if got := <-made(true); !strings.Contains(got, "paid") || ran.Load() != 1 {
				t.Fatalf("it ran %d times when the host asked again: %s", ran.Load(), got)
			}

			third := made(true)
			(<-asked).answer <- spec.ReachNo
			if got := <-third; !strings.Contains(got, "declined") || ran.Load() != 1 {
				t.Errorf("it ran %d times, the third call: %s", ran.Load(), got)
			}
		})
	}
}

// serveAsked is serveTest for clients in processes of their own.
func serveAsked(t *testing.T, flags ...string) (*daemon.Process, *serving) {
	t.Helper()
	p, _ := serveTest(t, flags...)
	token, err := os.ReadFile(filepath.Join(string(p.Dir), "token"))
	if err != nil {
		t.Fatal(err)
	}
	return p, &serving{url: "http://" + p.Info.Addrs[0], dir: string(p.Dir), token: strings.TrimSpace(string(token))}
}

func deskOf(t *testing.T, p *daemon.Process) *consent.Desk {
	t.Helper()
	tenant, err := p.Tenants.Get(t.Context(), spec.LocalUser)
	if err != nil {
		t.Fatal(err)
	}
	return tenant.Hub.Owner.Desk()
}

// shownQuestion is a question in a window.
type shownQuestion struct {
	*spec.Ask
	ctx    context.Context // ends when the hub closes the window
	answer chan<- spec.Reach
}

// joinAsked opens the owner's browser, which shows what it is asked, and a shop there, which counts how often
// it is paid.
func joinAsked(t *testing.T, p *daemon.Process) (asked <-chan shownQuestion, ran *atomic.Int32) {
	t.Helper()
	shown, ran := make(chan shownQuestion, 1), new(atomic.Int32)
	browser, err := tabtransport.Join(t.Context(), p.Tabs.Transport(spec.LocalUser), tabtransport.Conn{
		Attested: true, Dialect: "tabhub.v1", Pairing: "p-1",
		Hello: &spec.Hello{ProtocolVersion: spec.ProtocolVersion, BrowserID: "b-1", BrowserName: "Chromium on Linux", Capabilities: []spec.Capability{spec.CapAsk}},
	}, func(ctx context.Context, in tabtransport.Incoming) (spec.Response, error) {
		switch r := in.Request.(type) {
		case *spec.Ask:
			answer := make(chan spec.Reach, 1)
			shown <- shownQuestion{r, ctx, answer}
			select {
			case reach := <-answer:
				b, _ := json.Marshal(spec.AskResult{Reach: reach})
				return spec.Response{Result: b}, nil
			case <-ctx.Done():
				return spec.Response{}, ctx.Err()
			}
		case *spec.ExecuteTool:
			ran.Add(1)
			return spec.Response{Result: builtin.Text("paid")}, nil
		}
		return spec.Response{}, spec.Errorf(spec.CodeInternal, "not in this test")
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(browser.Close)
	if _, err := browser.Ask(t.Context(), 1, &spec.Register{
		Kind: spec.KindTool, TabURL: "https://shop.example/", Title: "Shop",
		Items: []json.RawMessage{json.RawMessage(`{"name":"pay","description":"Pays.","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}`)},
	}); err != nil {
		t.Fatal(err)
	}
	return shown, ran
}
