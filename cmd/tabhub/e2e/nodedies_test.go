package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A remote node forwards a user's calls, and the tab is connected to a third node. When the owner
// node dies in the middle of a call, the call does not succeed, later calls work over each
// transport, and none runs twice.
func TestUsersNodeDies(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if p.nodes == nil {
		p.join()
	}
	p.serve("--set=tab-names=always")
	counts := newCounter()
	p.open(&tab{key: "one", tools: countingTools, run: func(tool string, args json.RawMessage) string {
		if counts.add(tool, args) == 2 {
			p.kill()
		}
		return echo(args)
	}})
	// buy makes a call in a new session: existing ones end with the user's hub.
	buy := func(f face, n int) (outcome string) {
		name := ""
		p.until("the tool is listed", func() bool {
			name = listTools(t, f).named("_buy")
			return name != ""
		})
		return f.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"n":%d}}`, name, n)).outcome()
	}
	if outcome := buy(p.http(), 0); outcome != "ok" {
		t.Fatal(outcome)
	}
	outcome, died := buy(p.http(), 1), time.Now()
	if outcome == "ok" {
		t.Error("the node died before the answer, and the call succeeded")
	}
	next := []face{p.http(), p.sse(), p.stdio()}
	for i, f := range next {
		if next := buy(f, 2+i); next != "ok" {
			t.Error(next)
		}
	}
	t.Logf("the call under way: %s; the next ones have worked %v after", outcome, time.Since(died))
	for n := range 2 + len(next) {
		if ran := counts.of("buy", n); ran != 1 {
			t.Errorf("call %d has run %d times", n, ran)
		}
	}
}

// Tabs that speak the protocol plainly cannot resume a call, and have come to a node that is replaced
// while their users are on another one. Each of 100 calls a second has run once, or is known as unsent.
func TestTabsNodeIsReplaced(t *testing.T) {
	t.Parallel()
	const rounds, clients, tabs = 3, 5, 2
	p := newPlace(t)
	if p.nodes == nil {
		p.join()
	}
	p.serve("--set=tab-names=always")
	counts := newCounter()
	for i := range tabs {
		p.open(&tab{key: fmt.Sprint("tab", i), plain: i%2 == 0, tools: countingTools, run: func(tool string, args json.RawMessage) string {
			counts.add(tool, args)
			time.Sleep(rand.N(100 * time.Millisecond))
			return echo(args)
		}})
	}
	names := domainNames(listTools(t, p.http()), "_buy")
	if len(names) != tabs {
		t.Fatalf("%q", names)
	}
	var next, sent, slowest atomic.Int64
	var calling sync.WaitGroup
	done := make(chan struct{})
	for range clients {
		for of := range tabs {
			c := p.http()
			calling.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					n, began := int(next.Add(1)), time.Now()
					a := c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"n":%d}}`, names[of], n))
					took := int64(time.Since(began))
					for was := slowest.Load(); took > was && !slowest.CompareAndSwap(was, took); was = slowest.Load() {
					}
					ran, outcome := counts.of("buy", n), a.outcome()
					switch {
					case outcome == "ok" && ran == 1:
						sent.Add(1)
					case outcome != "ok" && ran == 0 && a.err == nil && !strings.Contains(string(a.result), "may have"):
					default:
						t.Errorf("call %d has run %d times: %s %s", n, ran, a.err, a.result)
					}
				}
			})
		}
	}
	for range rounds {
		time.Sleep(time.Second)
		began := time.Now()
		p.nodes.get(tabsNode).Stop()
		t.Logf("the node has ended within %v", time.Since(began))
		p.nodes.set(tabsNode, p.nodes.run(p, tabsNode, p.nodes.tabs))
		p.nodes.get(tabsNode).Stderr.Await(t, "listening on ")
	}
	time.Sleep(time.Second)
	close(done)
	calling.Wait()
	t.Logf("%d of %d calls were sent, the slowest took %v", sent.Load(), next.Load(), time.Duration(slowest.Load()))
}

// domainNames returns the names of one tool in each of several tabs.
func domainNames(l tools, suffix string) (names []string) {
	for _, name := range l.names() {
		if strings.HasSuffix(name, suffix) && strings.Contains(name, "_tab") {
			names = append(names, name)
		}
	}
	return names
}
