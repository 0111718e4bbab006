//go:build nightly

package record_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"tabhub/hub/broadcast"
	"tabhub/storage/jetstream/natstest"
)

// The leader of the stream may die at any time: nothing is lost, nothing is there twice.
func TestLeaderDies(t *testing.T) {
	servers := natstest.Start(t, 3)
	logs := logsOf(t, servers.Conn(t), 3)
	o := options
	o.Changed = new(broadcast.Signal)
	r := openAs(logs, 1, o)
	defer r.Close()
	var want []string
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := range 2000 {
		if i == 500 {
			servers.Kill(servers.Leader("TABHUB_RECORDS"))
		}
		want = append(want, fmt.Sprint(i))
		r.Append(call(want[i]))
		<-tick.C
	}
	await(t, r, o.Changed, func() bool { return r.Queued() == 0 })
	if got := calls(t, r); !slices.Equal(got, want) {
		t.Errorf("%d of %d entries are there", len(got), len(want))
	}
	if s := r.Status(); s.Lost > 0 {
		t.Errorf("%+v", s)
	}
	verify(t, r)
}
