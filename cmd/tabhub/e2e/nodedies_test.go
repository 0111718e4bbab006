package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tabhub/cmd/tabhub/internal/porttest"
	"tabhub/storage/jetstream/natstest"
)

// A user's calls pass through a node that does not have the user, to a tab that has come to another
// one. When the node that has the user dies in the middle of a call, that one is not told as done, the
// next ones work, however a client has come, and none runs twice.
func TestUsersNodeDies(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "cluster")
	if err := os.WriteFile(secret, []byte(strings.Repeat("a secret of the cluster ", 2)), 0o600); err != nil {
		t.Fatal(err)
	}
	servers := strings.Join(natstest.Start(t, 1).URLs(), ",")
	node := func(name string) *place {
		p := newPlace(t, "TABHUB_CLUSTER="+servers, "TABHUB_CLUSTER_SECRET="+secret,
			"TABHUB_NODE_NAME="+name, "TABHUB_NODE_URL=https://"+porttest.Free(t))
		p.serve("--set=tab-names=always")
		return p
	}
	// By its name, the last one is where the user is placed.
	clients, tabs, owner := node("clients"), node("tabs"), node("owner20")
	counts := newCounter()
	tabs.open(&tab{key: "one", tools: countingTools, run: func(tool string, args json.RawMessage) string {
		if counts.add(tool, args) == 2 {
			owner.kill()
		}
		return echo(args)
	}})
	// buy makes a call in a session that is new: one that has begun ends with the user's hub.
	buy := func(f face, n int) (outcome string) {
		name := ""
		clients.until("the tool is listed", func() bool {
			name = listTools(t, f).named("_buy")
			return name != ""
		})
		return f.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"n":%d}}`, name, n)).outcome()
	}
	if outcome := buy(clients.http(), 0); outcome != "ok" {
		t.Fatal(outcome)
	}
	outcome, died := buy(clients.http(), 1), time.Now()
	if outcome == "ok" {
		t.Error("the node died before the answer, and the call is told as done")
	}
	next := []face{clients.http(), clients.sse(), clients.stdio()}
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
