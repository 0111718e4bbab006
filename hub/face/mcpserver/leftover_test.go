package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/storage/storagetest"
	"tabhub/tabtransport"
)

// A hub weighs no more for the tabs and clients that have come and gone: half of the tabs are of
// sites that come once, and half of the clients go without a word.
func TestWhatIsLeftOfTabsAndClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tabs := tabtransport.NewPeers()
		h, err := hub.Open(t.Context(), hub.Options{User: spec.LocalUser, Transport: tabs, Store: new(storagetest.Memory), Mode: policy.ModeOpen})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close(context.Background()) })
		web := inBubble(t, newServer(t, h, Options{}))
		seen := json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat("seen ", 40) + `"}]}`)
		page := func(context.Context, tabtransport.Incoming) (spec.Response, error) {
			return spec.Response{Result: seen}, nil
		}
		const inRound, first = 40, 40
		round := func(n int) {
			var open []*tabtransport.Local
			for i := range inRound {
				site := fmt.Sprintf("https://site%d.example", i%8)
				if i%2 == 1 {
					site = fmt.Sprintf("https://once%d.example", n*inRound+i)
				}
				l, err := tabs.Join(t.Context(), tabtransport.Conn{Origin: site, Hello: &spec.Hello{TabKey: fmt.Sprint(n, i)}}, page)
				if err != nil {
					t.Fatal(err)
				}
				open = append(open, l)
				if _, err := l.Ask(t.Context(), 0, &spec.Register{Kind: spec.KindTool, Items: []json.RawMessage{json.RawMessage(`{"name":"look","inputSchema":{"type":"object","properties":{"what":{"type":"string"}}}}`)}}); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 10 {
				c := *web
				c.header = c.header.Clone()
				c.initialize("2025-06-18")
				c.post(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
				if _, body := c.post(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"website_tool_site0_example__look","arguments":{"what":"it"}}}`); !strings.Contains(body, "seen") {
					t.Fatal(body)
				}
				if i%2 == 0 {
					c.do("DELETE", "/mcp", "").Body.Close()
				}
			}
			for _, l := range open {
				l.Close()
			}
			time.Sleep(time.Second)
		}
		weigh := func() int {
			time.Sleep(2 * spec.TabGrace)
			synctest.Wait()
			var m runtime.MemStats
			for range 3 {
				runtime.GC()
			}
			runtime.ReadMemStats(&m)
			return int(m.HeapAlloc)
		}
		for n := range first {
			round(n)
		}
		before := weigh()
		for n := range leftoverRounds - first {
			round(first + n)
		}
		after := weigh()
		t.Logf("%d kB after %d rounds, %d kB after %d", before>>10, first, after>>10, leftoverRounds)
		if after > before+before/10 {
			t.Errorf("it weighs %d kB after %d rounds, and %d kB after %d", before>>10, first, after>>10, leftoverRounds)
		}
	})
}

const leftoverRounds = 80
