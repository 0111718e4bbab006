package e2e

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// A user's calls pass through a node that does not have the user, to a tab that has come to another
// one. When the node that has the user dies in the middle of a call, that one is not told as done, the
// next ones work, however a client has come, and none runs twice.
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
	// buy makes a call in a session that is new: one that has begun ends with the user's hub.
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
		t.Error("the node died before the answer, and the call is told as done")
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
