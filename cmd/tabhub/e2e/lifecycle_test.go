package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"tabhub/spec"
)

// `tabhub stop` in the middle of calls: those under way are finished, and one that
// comes then starts a hub again, so that nothing is lost and a client needs no restart.
func TestStopUnderCalls(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	c := p.stdio()
	started, finish, counts := make(chan struct{}, 10), make(chan struct{}), newCounter()
	x := p.open(&tab{key: "one", tools: countingTools, run: func(tool string, args json.RawMessage) string {
		counts.add(tool, args)
		select {
		case started <- struct{}{}:
		default:
		}
		<-finish
		return echo(args)
	}})
	buy := c.awaitTools("the tab's tools are listed", func(l tools) bool { return l.named("_buy") != "" }).named("_buy")
	first := p.users().PID
	var open []<-chan answer
	for n := range 5 { // fewer than started has room for
		open = append(open, c.begin("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"n":%d}}`, buy, n)))
		<-started
	}
	// What `tabhub stop` does before it waits for the end.
	p.askToStop()
	close(finish)
	for n, ch := range open {
		if got := c.wait("a call under way", ch).outcome(); got != "ok" {
			t.Errorf("call %d, which was under way: %s", n, got)
		}
	}
	// A client that does not know of the stop calls on.
	n := len(open)
	for back := false; !back; n++ {
		if got := c.call(buy, fmt.Sprintf(`{"n":%d}`, n)).outcome(); got != "ok" {
			t.Fatalf("call %d, after the stop: %s", n, got)
		}
		select {
		case <-x.joined:
			back = true
		default:
		}
	}
	for n := range n {
		if runs := counts.of("buy", n); runs != 1 {
			t.Errorf("call %d ran %d times", n, runs)
		}
	}
	if now := p.users().PID; now == first {
		t.Errorf("the hub is still process %d", now)
	}
}

// The hub ends when it is idle, in spite of an unused tab, and the next client starts it again.
func TestIdleHubEndsAndComesBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "TABHUB_IDLE_EXIT=100ms")
	first := p.stdio()
	x := p.open(&tab{key: "one", tools: countingTools, run: func(_ string, args json.RawMessage) string { return echo(args) }})
	names := first.awaitTools("the tab's tools are listed", func(l tools) bool { return len(l.names()) == 3 }).names()
	first.close()
	if p.nodes == nil { // the tab's nodes stay
		if code := x.awaitLoss(); code != spec.CloseGoingAway {
			t.Errorf("the tab was closed with %d, want %d: come back later", code, spec.CloseGoingAway)
		}
	}
	p.awaitNoHub()
	second := p.stdio()
	if again := second.awaitTools("the tab has come back", func(l tools) bool { return len(l.names()) == 3 }).names(); !slices.Equal(again, names) {
		t.Errorf("the names were %q, and are %q", names, again)
	}
}
