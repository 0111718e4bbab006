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

	"tabhub/hub/state"
	"tabhub/spec/rawjson"
)

// agent is one of several clients that work side by side.
type agent interface {
	face
	call(tool, args string) answer
}

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

// text returns what a tool of the hub has answered.
func text(a answer) json.RawMessage {
	for block := range rawjson.Elements(rawjson.Get(a.result, "content")) {
		s, _ := rawjson.String(rawjson.Get(block, "text"))
		return json.RawMessage(s)
	}
	return a.err
}

// claim has a client lease the tab of a key.
func claim(t *testing.T, c agent, key, name string) {
	t.Helper()
	list := text(c.call("browser_tab", `{"action":"list"}`))
	for tab := range rawjson.Elements(rawjson.Get(list, "tabs")) {
		if url, _ := rawjson.String(rawjson.Get(tab, "url")); !strings.HasSuffix(url, "/"+key) {
			continue
		}
		id, _ := rawjson.String(rawjson.Get(tab, "tabId"))
		a := c.call("browser_tab", fmt.Sprintf(`{"action":"claim","tabId":%q,"name":%q}`, id, name))
		if a.outcome() != "ok" {
			t.Fatalf("claim: %s %s", a.result, a.err)
		}
		return
	}
	t.Fatalf("no tab is at %s: %s", key, list)
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

// The owner sees who holds a tab, and ends it.
func TestOwnerEndsALease(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := p.stdio()
	p.open(&tab{key: "one", tools: countingTools, run: func(_ string, args json.RawMessage) string { return echo(args) }})
	if out := p.succeed("lease"); out != "" {
		t.Errorf("before there was one: %s", out)
	}
	claim(t, c, "one", "buying tea")
	leases, tabs := p.succeed("lease"), p.succeed("tabs")
	fields := strings.Fields(strings.Split(leases, "\n")[1])
	if !strings.Contains(leases, "buying tea") || !strings.Contains(tabs, "HELD BY") || !strings.Contains(tabs, "buying tea") {
		t.Errorf("%s%s", leases, tabs)
	}
	buy := domainName(c.tools().names(), "_buy")
	if out := p.succeed("explain", buy); !strings.Contains(out, "(buying tea) until") {
		t.Errorf("of nobody's call explain says %s", out)
	}
	var sessions []state.SessionInfo
	if err := json.Unmarshal([]byte(p.succeed("lease", "--json")), &sessions); err != nil || len(sessions) != 1 {
		t.Fatal(sessions, err)
	}
	for _, who := range []string{sessions[0].Client, sessions[0].Label, sessions[0].Name} {
		if out := p.succeed("explain", buy, "--client", who); !strings.Contains(out, state.ReasonHeld) {
			t.Errorf("of a call of %q, the holder, explain says %s", who, out)
		}
	}
	if _, stderr, exit := p.run("explain", buy, "--client", "nobody"); exit == 0 || !strings.Contains(stderr, "there is no client") {
		t.Errorf("of nobody's call explain says %s", stderr)
	}
	if _, stderr, exit := p.run("lease", "end", "1a2b3c4d:7"); exit == 0 || !strings.Contains(stderr, "nobody holds that tab") {
		t.Errorf("a tab that nobody holds: %d %s", exit, stderr)
	}
	p.succeed("lease", "end", fields[0])
	if out := p.succeed("lease"); out != "" {
		t.Errorf("after its end: %s", out)
	}
}

// Without a claim each agent stays in the tab that its first call went to, wherever the user
// looks.
func TestAgentsStayInTheirTabs(t *testing.T) {
	t.Parallel()
	const agents, moves = 4, 1000
	p := newPlace(t)
	clients := make([]*client, agents)
	tabs, ran := make([]*tab, agents), make([]atomic.Int64, agents)
	for i := range clients {
		clients[i] = p.stdio()
	}
	for i := range tabs {
		tabs[i] = p.open(&tab{key: fmt.Sprint("tab", i), tools: countingTools, run: func(_ string, args json.RawMessage) string {
			if string(rawjson.Get(args, "client")) != strconv.Itoa(i) {
				t.Errorf("tab %d runs %s", i, args)
			}
			ran[i].Add(1)
			return echo(args)
		}})
	}
	buy := domainName(clients[0].awaitTools("the tabs' tools are listed", func(l tools) bool { return len(l.names()) >= 3 }).names(), "_buy")
	call := func(i int) {
		if got := clients[i].call(buy, fmt.Sprintf(`{"client":%d}`, i)).outcome(); got != "ok" {
			t.Errorf("agent %d: %s", i, got)
		}
	}
	for i, x := range tabs {
		x.look()
		// What comes after it on the same connection is taken after it.
		x.ask(`"looked"`, fmt.Sprintf(`{"jsonrpc":"2.0","id":"looked","method":"browser/registerTools","params":{"tools":%s,"tabUrl":%q}}`, countingTools, tabOrigin+"/"+x.key))
		call(i)
	}
	for n := range moves {
		tabs[n*7%agents].look()
		call(n % agents)
	}
	for i := range ran {
		if n := ran[i].Load(); n != moves/agents+1 {
			t.Errorf("tab %d ran %d calls", i, n)
		}
	}
}
