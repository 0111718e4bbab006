package record_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"tabhub/hub/trust/record"
	"tabhub/storage/jetstream/natstest"
)

// lateOptions are the options of a node that goes on with lines that it could not write.
func lateOptions(node string) record.Options {
	o := options
	o.Node, o.Deferred = node, record.NewDeferred(64<<20)
	return o
}

// written waits until all lines of closed recorders are written.
func written(t *testing.T, o record.Options) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	o.Deferred.Close(ctx)
	if ctx.Err() != nil {
		t.Fatal("late lines were not written")
	}
}

// The record gets the calls that a node made while it was cut off, even if another node has taken
// the user over: behind that node's lines, with the time of the call, and marked as late.
func TestLateLines(t *testing.T) {
	t.Parallel()
	servers := natstest.Shared(t)
	proxy := natstest.NewProxy(t, servers.URL(0))
	proxied, direct := logsOf(t, servers.ConnTo(t, proxy.URL()), 1), logsOf(t, servers.Conn(t), 1)
	o := lateOptions("node-a")
	stale, next := openAs(proxied, 1, o), openAs(direct, 2, options)
	defer next.Close()
	add(t, stale, "a")
	proxy.Cut()
	stale.Append(call("b"))
	stale.Append(call("c"))
	cut := time.Now()
	stale.Close() // though nobody answers; TestCloseOfSilentServers has how long it takes
	add(t, next, "d")
	proxy.Mend()
	written(t, o)
	for _, tool := range []string{"e", "f"} {
		add(t, next, tool)
	}
	if got := calls(t, next); !slices.Equal(got, []string{"a", "d", "b", "c", "e", "f"}) {
		t.Errorf("the record has %q", got)
	}
	lines, err := next.Read(t.Context(), record.Query{})
	if err != nil {
		t.Fatal(err)
	}
	var marks []string // whose the lines are, and where the notes say so
	for _, l := range lines {
		if l.Note == nil {
			marks = append(marks, l.Tool+l.Late)
		} else if marks = append(marks, l.Note.Late); l.Note.Late != l.Late {
			t.Errorf("%+v", l)
		}
	}
	if !slices.Equal(marks, []string{"", "a", "", "d", "node-a", "bnode-a", "cnode-a", "", "e", "f"}) {
		t.Errorf("the record says %q", marks)
	}
	for what, q := range map[string]record.Query{"a b c": {Until: cut}, "d e f": {Since: cut}, "e f": {Limit: 2, Event: record.Call}, "c e f": {Limit: 3, Event: record.Call}} {
		q.Event = record.Call
		found, err := next.Read(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, l := range found {
			names = append(names, l.Tool)
		}
		if got := strings.Join(names, " "); got != what {
			t.Errorf("%+v finds %q, want %q", q, got, what)
		}
	}
	if report := verify(t, next); !report.To.Equal(lines[len(lines)-1].Time) || report.Last.N != lines[len(lines)-1].N {
		t.Errorf("%+v", report)
	}
	for name, r := range map[string]*record.Recorder{"stale": stale, "next": next} {
		if s := r.Status(); s != (record.Status{}) {
			t.Errorf("the %s hub: %+v", name, s)
		}
	}
}

// A late write that may have been stored is not repeated, even if another node has written since.
func TestUnconfirmedLateLines(t *testing.T) {
	t.Parallel()
	servers := natstest.Shared(t)
	proxy := natstest.NewProxy(t, servers.URL(0))
	proxied, direct := logsOf(t, servers.ConnTo(t, proxy.URL()), 1), logsOf(t, servers.Conn(t), 1)
	landed, err := servers.Conn(t).SubscribeSync("tabhub.record.>")
	if err != nil {
		t.Fatal(err)
	}
	await := func(tool string) {
		t.Helper()
		for {
			m, err := landed.NextMsg(30 * time.Second)
			if err != nil {
				t.Fatalf("%s: %v", tool, err)
			}
			if bytes.Contains(m.Data, []byte(`"tool":"`+tool+`"`)) {
				return
			}
		}
	}
	o := lateOptions("node-a")
	stale, next := openAs(proxied, 1, o), openAs(direct, 2, options)
	defer next.Close()
	add(t, stale, "a")
	add(t, next, "b")
	add(t, stale, "c")
	proxy.CutReplies()
	stale.Append(call("d"))
	await("d")
	stale.Append(call("e"))
	stale.Close()
	proxy.Break() // and with it what the server has said
	add(t, next, "f")
	proxy.Mend()
	written(t, o)
	add(t, next, "g")
	if got := calls(t, next); !slices.Equal(got, []string{"a", "b", "c", "d", "f", "e", "g"}) {
		t.Errorf("the record has %q", got)
	}
	if s := stale.Status(); s != (record.Status{}) {
		t.Errorf("%+v", s)
	}
	verify(t, next)
}

// A process that ends does not wait for servers for ever, and bounds the memory of its deferred
// lines. It logs how many lines were lost.
func TestLateLinesLost(t *testing.T) {
	for name, room := range map[string]int{"the process ends": 1 << 20, "there is no room": 100} {
		t.Run(name, func(t *testing.T) {
			servers := natstest.Shared(t)
			proxy := natstest.NewProxy(t, servers.URL(0))
			var said bytes.Buffer
			o := options
			o.Log, o.Deferred = slog.New(slog.NewTextHandler(&said, nil)), record.NewDeferred(room)
			r := openAs(logsOf(t, servers.ConnTo(t, proxy.URL()), 1), 1, o)
			add(t, r, "a")
			proxy.Cut()
			r.Append(call("b"))
			r.Append(call("c"))
			r.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			o.Deferred.Close(ctx)
			if s := r.Status(); s.Lost != 2 {
				t.Errorf("%+v", s)
			}
			if !strings.Contains(said.String(), "entries of the record are lost") || !strings.Contains(said.String(), "count=2") {
				t.Errorf("the log says %q", &said)
			}
		})
	}
}
