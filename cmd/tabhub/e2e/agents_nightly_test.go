//go:build nightly

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tabhub/spec/rawjson"
)

// lone is a client of revision 2026-07-28, whose requests stand alone. Several may be under way.
type lone struct {
	p      *place
	name   string
	header http.Header
	lastID atomic.Int64
}

func (p *place) lone(name, token string) *lone {
	h := bearer(token)
	h.Set("Mcp-Protocol-Version", "2026-07-28")
	return &lone{p: p, name: name, header: h}
}

// ask sends a request, once there is a hub that takes it.
func (c *lone) ask(method, params string) answer {
	meta := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":%q,"version":"1"}}`, c.name)
	if params != "{}" {
		meta = "," + meta
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s%s}}`, c.lastID.Add(1), method, strings.TrimSuffix(params, "}"), meta)
	header := c.header.Clone()
	header.Set("Mcp-Method", method)
	if name, ok := rawjson.String(rawjson.Get([]byte(params), "name")); ok {
		header.Set("Mcp-Name", name)
	}
	for late := time.Now().Add(timeout); ; {
		resp, b, err := post(c.p.within(), "http://"+c.p.listen+"/mcp", header, body)
		if errors.Is(err, syscall.ECONNREFUSED) && time.Now().Before(late) {
			<-time.After(50 * time.Millisecond) // the hub is being started anew
			continue
		}
		if err == nil && resp.StatusCode == http.StatusBadGateway { // the node that has the hub died
			err = fmt.Errorf("%s", b)
		}
		if err != nil {
			return answer{err: json.RawMessage(strconv.Quote("lost: " + err.Error()))}
		}
		if at := strings.LastIndex(string(b), "data: "); at >= 0 && b[0] != '{' {
			b = b[at+len("data: "):]
		}
		return answerOf(b)
	}
}

func (c *lone) call(tool, args string) answer {
	return c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
}

// reload has the tab come back with another document.
func (x *tab) reload() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.reloads++
	x.peer.Close()
}

// look says that the user looks at the tab now.
func (x *tab) look() {
	x.send(`{"jsonrpc":"2.0","method":"browser/tabState","params":{"visible":true,"windowFocused":true}}`)
}

// journal is what the page of one tab has run.
type journal struct {
	mu   sync.Mutex
	runs map[string]int // by client and call
}

func (j *journal) add(args json.RawMessage) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.runs[string(rawjson.Get(args, "client"))+" "+string(rawjson.Get(args, "n"))]++
}

// agentCalls is how many calls each client makes; TABHUB_AGENT_CALLS sets another number.
func agentCalls() int {
	if n, err := strconv.Atoi(os.Getenv("TABHUB_AGENT_CALLS")); err == nil {
		return n
	}
	return 250
}

// Eight agents on one site, each with a tab that it has claimed, do not meet: no call runs in
// another's tab, none runs twice and each has an end, though the tabs are reloaded, the user
// looks here and there, and the hub is killed.
func TestAgentsHoldTheirTabs(t *testing.T) {
	t.Parallel()
	const agents, workers, kills = 8, 4, 2
	calls := agentCalls()
	p := newPlace(t)
	clients := make([]agent, agents)
	for i := range clients {
		if i%2 == 0 {
			clients[i] = p.stdio()
			continue
		}
		name := fmt.Sprint("agent", i)
		token, stderr, exit := p.run("token", "mint", "--name", name)
		if exit != 0 {
			t.Fatal(stderr)
		}
		clients[i] = p.lone(name, strings.TrimSpace(token))
	}
	tabs, journals := make([]*tab, agents), make([]*journal, agents)
	for i := range tabs {
		j := &journal{runs: map[string]int{}}
		journals[i] = j
		tabs[i] = p.open(&tab{key: fmt.Sprint("tab", i), tools: countingTools, run: func(_ string, args json.RawMessage) string {
			j.add(args)
			return echo(args)
		}})
	}
	buy := domainName(clients[0].(*client).awaitTools("the tabs' tools are listed", func(l tools) bool { return len(l.names()) >= 3 }).names(), "_buy")
	for i, c := range clients {
		claim(t, c, fmt.Sprint("tab", i), fmt.Sprint("agent ", i))
	}
	if a := clients[0].call(strings.TrimSuffix(buy, "buy")+"tab2_buy", `{"client":0,"n":-1}`); a.outcome() != "TAB_LEASED" || !strings.Contains(string(a.result), "(agent 1) until") {
		t.Errorf("a call of another's tab by its number: %s", a.result)
	}

	var done atomic.Int64
	outcomes := make([][]string, agents)
	var all sync.WaitGroup
	for i, c := range clients {
		outcomes[i] = make([]string, calls)
		var next atomic.Int64
		for range workers {
			all.Go(func() {
				for n := int(next.Add(1)) - 1; n < calls; n = int(next.Add(1)) - 1 {
					a := c.call(buy, fmt.Sprintf(`{"client":%d,"n":%d}`, i, n))
					outcomes[i][n] = a.outcome()
					if want := fmt.Sprintf(`{\"client\":%d,\"n\":%d}`, i, n); outcomes[i][n] == "ok" && !strings.Contains(string(a.result), want) {
						outcomes[i][n] = "the answer to another call: " + string(a.result)
					}
					done.Add(1)
				}
			})
		}
	}
	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(ended)
	}()
	// What happens meanwhile: the user looks here and there, tabs are reloaded, the hub is killed.
	killed, reloaded, looked := 0, 0, 0
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-tick.C:
			looked++
			tabs[rand.IntN(agents)].look()
			if looked%100 == 50 {
				reloaded++
				tabs[rand.IntN(agents)].reload()
			}
			if int(done.Load()) > (killed+1)*agents*calls/(kills+1) && killed < kills {
				killed++
				p.kill()
			}
		}
	}
	if killed != kills {
		t.Errorf("the hub was killed %d times, want %d", killed, kills)
	}

	lostCalls := 0
	for i := range clients {
		for key, n := range journals[i].runs {
			if client, _, _ := strings.Cut(key, " "); client != strconv.Itoa(i) || n != 1 {
				t.Errorf("the tab of agent %d has run call %q %d times", i, key, n)
			}
		}
		for n, got := range outcomes[i] {
			ran := journals[i].runs[fmt.Sprintf("%d %d", i, n)]
			switch {
			case got == "ok" && ran == 1:
			case ran <= 1 && (slices.Contains(lost, got) || strings.HasPrefix(got, `"lost: `)):
				lostCalls++
			default:
				t.Errorf("call %d of agent %d: %s, and the page ran it %d times", n, i, got, ran)
			}
		}
	}
	t.Logf("%d calls, %d looks, %d reloads, %d deaths: %d calls were lost", agents*calls, looked, reloaded, killed, lostCalls)
	if most := agents*workers*kills + workers*reloaded; lostCalls > most {
		t.Errorf("%d calls were lost, want those that were under way: %d at most", lostCalls, most)
	}
}
