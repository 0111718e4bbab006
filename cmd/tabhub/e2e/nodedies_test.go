package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"tabhub/spec/rawjson"
)

// A user's calls pass through a node that does not have the user, to a tab that has come to another
// one. When the node that has the user dies in the middle of a call, that one is not told as done, the
// next one works, and none runs twice.
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
	// buy makes a call in a session of its own: one that has begun ends with the user's hub.
	buy := func(n int) (outcome string) {
		c := p.http()
		name := ""
		p.until("the tool is listed", func() bool {
			for tool := range rawjson.Elements(rawjson.Get(c.ask("tools/list", "{}").result, "tools")) {
				if s, _ := rawjson.String(rawjson.Get(tool, "name")); strings.HasSuffix(s, "_buy") {
					name = s
				}
			}
			return name != ""
		})
		return c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"n":%d}}`, name, n)).outcome()
	}
	if outcome := buy(0); outcome != "ok" {
		t.Fatal(outcome)
	}
	outcome, died := buy(1), time.Now()
	if outcome == "ok" {
		t.Error("the node died before the answer, and the call is told as done")
	}
	if next := buy(2); next != "ok" {
		t.Error(next)
	}
	t.Logf("the call under way: %s; the next one has worked %v after", outcome, time.Since(died))
	for n := range 3 {
		if ran := counts.of("buy", n); ran != 1 {
			t.Errorf("call %d has run %d times", n, ran)
		}
	}
}
