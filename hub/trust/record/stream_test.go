package record_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"tabhub/hub/broadcast"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/storage/jetstream/natstest"
	"tabhub/storage/jetstream/streamlog"
)

func call(tool string) record.Entry {
	return record.Entry{Time: time.Now(), Event: record.Call, Tool: tool, Outcome: "ok", URL: "https://shop.example/cart?id=1"}
}

// openAs opens a record with an epoch.
func openAs(logs *streamlog.Logs, epoch spec.Epoch, o record.Options) *record.Recorder {
	return record.OpenStream(logs.User("ann", func(context.Context) (spec.Epoch, error) { return epoch, nil }), o)
}

// add records a call, and waits until that is written or cannot be.
func add(t *testing.T, r *record.Recorder, tool string) {
	t.Helper()
	r.Append(call(tool))
	if _, err := r.Read(t.Context(), record.Query{Limit: 1}); err != nil {
		t.Fatal(err)
	}
}

// await waits until a log is as it should be, which is looked at whenever it has written.
func await(t *testing.T, r *record.Recorder, changed *broadcast.Signal, is func() bool) {
	t.Helper()
	for timeout := time.After(30 * time.Second); ; {
		next := changed.Wait()
		if is() {
			return
		}
		select {
		case <-next:
		case <-timeout:
			t.Fatalf("%+v, %d bytes wait", r.Status(), r.Queued())
		}
	}
}

var options = record.Options{User: "ann", Key: []byte("a key of these tests")}

// A hub that was cut off while its write was on the way does not know whether that has landed.
// When it comes back it finds out, and writes the lines neither twice nor never.
func TestUnconfirmedWriteIsNotRepeated(t *testing.T) {
	t.Parallel()
	servers := natstest.Shared(t)
	proxy := natstest.NewProxy(t, servers.URL(0))
	logs := logsOf(t, servers.ConnTo(t, proxy.URL()), 1)
	o := options
	o.Changed = new(broadcast.Signal)
	r := openAs(logs, 1, o)
	defer r.Close()
	add(t, r, "a")
	landed, err := servers.Conn(t).SubscribeSync("tabhub.record.>")
	if err != nil {
		t.Fatal(err)
	}
	proxy.CutReplies()
	r.Append(call("b"))
	if _, err := landed.NextMsg(30 * time.Second); err != nil {
		t.Fatal(err)
	}
	proxy.Break() // and with it what the server has said
	r.Append(call("c"))
	proxy.Mend()
	await(t, r, o.Changed, func() bool { return r.Queued() == 0 })
	add(t, r, "d")
	if got := calls(t, r); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
		t.Errorf("the record has %q", got)
	}
	if notes := notesOf(t, r); len(notes) > 0 || r.Status() != (record.Status{}) {
		t.Errorf("%+v, %+v", notes, r.Status())
	}
	verify(t, r)
}

// A hub that was cut off, was replaced, and comes back with lines that it has not written, writes
// them behind those of its successor, and cannot fork the chain: not with a write that was on the
// way, and not as one that has not begun.
func TestStaleHubCannotFork(t *testing.T) {
	t.Parallel()
	servers := natstest.Shared(t)
	proxy := natstest.NewProxy(t, servers.URL(0))
	far, near := logsOf(t, servers.ConnTo(t, proxy.URL()), 1), logsOf(t, servers.Conn(t), 1)
	stale, silent, next := openAs(far, 1, options), openAs(near, 1, options), openAs(near, 2, options)
	add(t, stale, "a")
	proxy.CutRequests()
	stale.Append(call("on the way"))
	add(t, next, "b")
	silent.Append(call("never began"))
	silent.Close()
	add(t, next, "c")
	proxy.Mend()
	add(t, stale, "late")
	stale.Close()
	add(t, next, "d")
	next.Close()
	for who, r := range map[string]*record.Recorder{"stale": stale, "silent": silent, "next": next} {
		if s := r.Status(); s != (record.Status{}) {
			t.Errorf("the %s hub: %+v", who, s)
		}
	}
	if got := calls(t, next); !slices.Equal(got, []string{"a", "b", "never began", "c", "on the way", "late", "d"}) {
		t.Errorf("the record has %q", got)
	}
	verify(t, next)
}

// A hub that ends does not wait for servers that do not answer, and says what it has lost.
func TestCloseWhileCutOff(t *testing.T) {
	t.Parallel()
	servers := natstest.Shared(t)
	proxy := natstest.NewProxy(t, servers.URL(0))
	r := openAs(logsOf(t, servers.ConnTo(t, proxy.URL()), 1), 1, options)
	add(t, r, "a")
	proxy.Cut()
	r.Append(call("b"))
	r.Append(call("c"))
	r.Close() // though nobody answers; TestCloseOfSilentServers has how long it takes
	if s := r.Status(); s.Lost != 2 || s.Error == "" {
		t.Errorf("%+v", s)
	}
}
