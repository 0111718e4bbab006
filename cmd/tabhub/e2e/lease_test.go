package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tabhub/hub/agents"
	"tabhub/hub/state"
	"tabhub/spec/rawjson"
)

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

// The owner sees which client leases a tab, and ends the lease.
func TestOwnerEndsALease(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := p.stdio()
	p.open(&tab{key: "one", tools: countingTools, run: func(_ string, args json.RawMessage) string { return echo(args) }})
	if out := p.succeed("tabs", "held"); out != "" {
		t.Errorf("before there was one: %s", out)
	}
	claim(t, c, "one", "buying tea")
	leases, tabs := p.succeed("tabs", "held"), p.succeed("tabs")
	fields := strings.Fields(strings.Split(leases, "\n")[1])
	if !strings.Contains(leases, "buying tea") || !strings.Contains(tabs, "LEASED BY") || !strings.Contains(tabs, "buying tea") {
		t.Errorf("%s%s", leases, tabs)
	}
	buy := domainName(c.tools().names(), "_buy")
	if out := p.succeed("explain", buy); !strings.Contains(out, "(buying tea) until") {
		t.Errorf("of nobody's call explain says %s", out)
	}
	var sessions []agents.SessionInfo
	if err := json.Unmarshal([]byte(p.succeed("tabs", "held", "--json")), &sessions); err != nil || len(sessions) != 1 {
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
	if _, stderr, exit := p.run("tabs", "release", "1a2b3c4d:7"); exit == 0 || !strings.Contains(stderr, "no session leases that tab") {
		t.Errorf("a tab that nobody holds: %d %s", exit, stderr)
	}
	p.succeed("tabs", "release", fields[0])
	if out := p.succeed("tabs", "held"); out != "" {
		t.Errorf("after its end: %s", out)
	}
}
