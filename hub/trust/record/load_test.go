//go:build nightly

package record_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/storage/jetstream/natstest"
	"tabhub/storage/jetstream/streamlog"
)

// However many nodes write late lines while the owner goes on, each line is there once, each
// writer's lines are in its order, and the chain is whole.
func TestLateLinesWhileTheOwnerWrites(t *testing.T) {
	const nodes, each = 4, 3000
	servers := natstest.Shared(t)
	proxy := natstest.NewProxy(t, servers.URL(0))
	far, near := logsOf(t, servers.ConnTo(t, proxy.URL()), 1), logsOf(t, servers.Conn(t), 1)
	want := map[string]int{}
	var stale [nodes]*record.Recorder
	var of [nodes]record.Options
	for i := range nodes {
		of[i] = lateOptions(fmt.Sprint("node", i))
		stale[i] = openAs(far, spec.Epoch(i+1), of[i])
	}
	proxy.Cut()
	for i, r := range stale {
		name := fmt.Sprint("node", i)
		for n := range each {
			r.Append(call(fmt.Sprint(name, " ", n)))
		}
		want[name] = each
	}
	var closing sync.WaitGroup
	for _, r := range stale[1:] { // the first one has not heard that it was replaced
		closing.Go(r.Close)
	}
	owner := openAs(near, 100, options)
	defer owner.Close()
	add(t, owner, "owner 0")
	closing.Wait()
	proxy.Mend()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := range each {
		<-tick.C
		owner.Append(call(fmt.Sprint("owner ", n+1)))
		stale[0].Append(call(fmt.Sprint("node0 ", each+n)))
	}
	want["owner"], want["node0"] = each+1, 2*each
	stale[0].Close()
	for _, o := range of {
		written(t, o)
	}
	got, turns, last := map[string]int{}, 0, ""
	for _, tool := range calls(t, owner) {
		name, number, _ := strings.Cut(tool, " ")
		if number != fmt.Sprint(got[name]) {
			t.Fatalf("%q follows %d others of %s", tool, got[name], name)
		}
		got[name]++
		if name != last {
			turns, last = turns+1, name
		}
	}
	for name, n := range want {
		if got[name] != n {
			t.Errorf("%d lines of %s are there, want %d", got[name], name, n)
		}
	}
	for _, r := range append(stale[:], owner) {
		if s := r.Status(); s != (record.Status{}) {
			t.Errorf("%+v", s)
		}
	}
	if turns < 2*nodes {
		t.Errorf("nobody wrote at the same time: %d turns", turns)
	}
	verify(t, owner)
	t.Logf("%v, %d turns", got, turns)
}

// Reading all lines must not hold them in memory.
func TestManyLinesInBoundedMemory(t *testing.T) {
	servers := natstest.Shared(t)
	logs, err := streamlog.Open(t.Context(), servers.Conn(t), streamlog.Options{Stream: "TABHUB_RECORDS", Subject: "tabhub.record"})
	if err != nil {
		t.Fatal(err)
	}
	r := openAs(logs, 1, options)
	defer r.Close()
	const count = 20_000
	for i := range count {
		e := call("add_to_cart")
		e.Call = fmt.Sprint("c", i)
		r.Append(e)
		if i%2000 == 0 {
			if _, err := r.Read(t.Context(), record.Query{Limit: 1}); err != nil {
				t.Fatal(err)
			}
		}
	}
	peak, n := uint64(0), 0
	runtime.GC()
	low := inUse()
	if err := r.Each(t.Context(), record.Query{}, func(*record.Line) error {
		if n++; n%5000 == 0 {
			runtime.GC()
			peak = max(peak, inUse())
		}
		return nil
	}); err != nil || n < count {
		t.Fatalf("%d lines, %v", n, err)
	}
	if peak > low+16<<20 {
		t.Errorf("reading all takes %d KiB", (peak-low)>>10)
	}
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
