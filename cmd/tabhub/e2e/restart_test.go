package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tabhub/spec/rawjson"
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

// countLost returns how many calls of a tool that must not run twice were lost with
// the hub. The others must have gone well, and no page may have run any of them twice.
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
	c := p.stdio("--tab-names=always")
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
		t.Errorf("%d calls were lost, want those that were under way: 1 to %d", n, inFlight)
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

// Ten windows of a host start at once and the hub dies five times under them: each
// goes on listing and calling, nothing runs twice, and when the windows are closed
// no process is left behind.
func TestManyBridgesAndFiveDeaths(t *testing.T) {
	t.Parallel()
	const bridges, deaths, workersEach = 10, 5, 3
	p := newPlace(t, "TABHUB_IDLE_EXIT=1s")
	began := time.Now()
	clients := make([]*client, bridges)
	for i := range clients {
		clients[i] = p.stdioRaw()
	}
	t.Logf("%d processes were started within %v", bridges, time.Since(began))
	for _, c := range clients {
		c.initialize()
	}
	counts := newCounter()
	p.open(&tab{key: "one", tools: countingTools, run: func(tool string, args json.RawMessage) string {
		counts.add(tool, args)
		return echo(args)
	}})

	var (
		stop    atomic.Bool
		lastN   atomic.Int64
		mu      sync.Mutex
		done    = make(map[int]string) // outcomes by n
		good    [bridges]int           // calls of each client that went well
		another = make(chan struct{}, 1)
	)
	var workers sync.WaitGroup
	for i, c := range clients {
		name := domainName(c.awaitTools("the tab's tools are listed", func(l tools) bool { return l.named("_buy") != "" }).names(), "_buy")
		for range workersEach {
			workers.Go(func() {
				for !stop.Load() {
					n := int(lastN.Add(1))
					got := c.call(name, fmt.Sprintf(`{"n":%d}`, n)).outcome()
					mu.Lock()
					done[n] = got
					if got == "ok" {
						good[i]++
					}
					mu.Unlock()
					select {
					case another <- struct{}{}:
					default:
					}
				}
			})
		}
	}
	// everybodyCalls waits until each client has had some calls go well from now on.
	everybodyCalls := func() {
		t.Helper()
		mu.Lock()
		was := good
		mu.Unlock()
		late := time.After(timeout)
		for {
			mu.Lock()
			behind := -1
			for i := range good {
				if good[i] < was[i]+5 {
					behind = i
				}
			}
			mu.Unlock()
			if behind < 0 {
				return
			}
			select {
			case <-another:
			case <-late:
				t.Errorf("the calls of client %d no longer go well", behind)
				return
			}
		}
	}
	everybodyCalls()
	for range deaths {
		p.kill()
		everybodyCalls()
	}
	stop.Store(true)
	workers.Wait()

	if n := countLost(t, done, func(n int) int { return counts.of("buy", n) }); n > deaths*bridges*workersEach {
		t.Errorf("%d calls were lost, which is more than were under way in %d deaths", n, deaths)
	}
	for i, c := range clients {
		if c.tools().named("_buy") == "" {
			t.Errorf("client %d no longer lists the tab's tools", i)
		}
		if c.noticed(listChanged) < deaths {
			t.Errorf("client %d was told %d times of another hub, want %d", i, c.noticed(listChanged), deaths)
		}
	}
	for _, c := range clients {
		c.close()
	}
	p.awaitNoHub()
	if left := p.processes(); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
}

// A second client finds the hub that the first has started, even if the first is gone.
func TestBridgesShareOneHub(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first := p.stdio()
	hub := p.hub().PID
	second := p.stdio()
	first.close()
	p.open(&tab{key: "one", tools: countingTools, run: func(_ string, args json.RawMessage) string { return echo(args) }})
	list := second.awaitTools("the tab's tools are listed", func(l tools) bool { return l.named("_buy") != "" })
	if a := second.call(list.named("_buy"), `{}`); a.outcome() != "ok" {
		t.Errorf("a call: %s", a.outcome())
	}
	if now := p.hub().PID; now != hub {
		t.Errorf("the hub was process %d and is %d: a client has started another one", hub, now)
	}
	if text, _ := rawjson.String(rawjson.Get(second.call("no_such_tool", `{}`).err, "message")); !strings.Contains(text, "no_such_tool") {
		t.Errorf("an unknown tool: %q, want an error that names it", text)
	}
}
