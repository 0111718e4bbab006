package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// countingTools are what the tabs of these tests offer: one that must not run twice,
// one that may, and one that stays listed without a tab.
const countingTools = `[
	{"name":"buy","description":"Counts","inputSchema":{"type":"object"}},
	{"name":"look","description":"Counts","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},
	{"name":"kept","description":"Counts","inputSchema":{"type":"object"},"annotations":{"cache":true}}]`

// lost are the outcomes that tell a client of a call that was under way when the hub
// died, or whose tab was not back in time.
var lost = []string{"NOT_CONNECTED", "TAB_CLOSED"}

// countLost returns how many calls of a tool that must not run twice were lost with the
// hub. The others must have succeeded, and no page may have run a call twice.
func countLost(t *testing.T, outcomes map[int]string, runs func(n int) int) (n int) {
	t.Helper()
	for call, got := range outcomes {
		switch ran := runs(call); {
		case got == "ok" && ran == 1:
		case slices.Contains(lost, got) && ran <= 1:
			n++
		default:
			t.Errorf("call %d: %s, and the page ran it %d times", call, got, ran)
		}
	}
	t.Logf("%d of %d calls were lost", n, len(outcomes))
	return n
}

// A hub that is killed under a client's calls costs that client the calls that were
// under way, and nothing else: it comes back by itself, what a page did is not done
// twice, the tab is the same tab, and each call is answered.
func TestHubKilledUnderCalls(t *testing.T) {
	t.Parallel()
	const calls, inFlight, killAt = 1000, 32, 400
	p := newPlace(t)
	c := p.stdio("--set=tab-names=always")
	counts := newCounter()
	rejoin, dead := make(chan struct{}), make(chan struct{})
	die := sync.OnceFunc(func() {
		p.kill()
		close(dead)
	})
	p.open(&tab{key: "one", tools: countingTools, rejoin: rejoin, run: func(tool string, args json.RawMessage) string {
		if counts.add(tool, args) == killAt {
			// The page has run it, and cannot say so any more.
			die()
		}
		return echo(args)
	}})
	before := c.awaitTools("the tab's tools are listed", func(l tools) bool { return len(l.names()) == 6 }).names()
	buy, look, kept := domainName(before, "_buy"), domainName(before, "_look"), domainName(before, "_kept")

	outcomes := make([]string, calls)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range inFlight {
		workers.Go(func() {
			for n := int(next.Add(1)) - 1; n < calls; n = int(next.Add(1)) - 1 {
				name := buy
				if n%4 == 3 {
					name = look
				}
				args := fmt.Sprintf(`{"n":%d}`, n)
				a := c.call(name, args)
				outcomes[n] = a.outcome()
				if outcomes[n] == "ok" && !strings.Contains(string(a.result), strings.ReplaceAll(args, `"`, `\"`)) {
					outcomes[n] = "the answer to another call: " + string(a.result)
				}
			}
		})
	}

	<-dead
	c.awaitTools("only what is cached is listed while the tab is away", func(l tools) bool { return slices.Equal(l.names(), []string{kept}) })
	close(rejoin)
	workers.Wait()

	after := c.awaitTools("the tab is back", func(l tools) bool { return len(l.names()) == 6 }).names()
	if !slices.Equal(after, before) {
		t.Errorf("the names were %q, and are %q after the restart", before, after)
	}
	bought := make(map[int]string)
	for n, got := range outcomes {
		if n%4 != 3 {
			bought[n] = got
		} else if runs := counts.of("look", n); got != "ok" || runs < 1 || runs > 2 {
			t.Errorf("call %d, which may run twice: %s, and the page ran it %d times", n, got, runs)
		}
	}
	if n := countLost(t, bought, func(n int) int { return counts.of("buy", n) }); n == 0 || n > inFlight {
		t.Errorf("%d calls were lost, want those in flight: 1 to %d", n, inFlight)
	}
}

func domainName(names []string, suffix string) string {
	for _, name := range names {
		if strings.HasSuffix(name, suffix) && !strings.Contains(name, "_tab1_") {
			return name
		}
	}
	return "no name ends in " + suffix
}
