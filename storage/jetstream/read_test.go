package jetstream

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"testing"

	"github.com/nats-io/nats.go"

	"tabhub/storage/jetstream/natstest"
	"tabhub/storage/jetstream/streams"
)

// A message that is lost in transit, as when a route between servers drops it, is no gap in the
// journal: read asks for it again. A purged message is a gap.
func TestReadLost(t *testing.T) {
	t.Parallel()
	for what, answers := range map[string][][]uint64{
		"lost":   {{1, 3}, {2, 3}},
		"purged": {{1, 3}, {3}},
	} {
		c := natstest.StartOptions(t, 1, natstest.Options{NoJetStream: true})
		nc := c.Conn(t)
		st := &Store{nc: nc, log: slog.New(slog.DiscardHandler)}
		n := 0
		_, err := nc.Subscribe(streams.DirectGet(streamName), func(m *nats.Msg) {
			var asked streams.Get
			if err := json.Unmarshal(m.Data, &asked); err != nil || asked.Seq != uint64(n+1) || n >= len(answers) {
				t.Errorf("%s: request %d is %+v, %v", what, n, asked, err)
				return
			}
			for _, seq := range answers[n] {
				answer := nats.NewMsg(m.Reply)
				answer.Header.Set(headerKind, kindClaim)
				answer.Header.Set(nats.ExpectedLastSubjSeqHdr, strconv.FormatUint(seq-1, 10))
				answer.Header.Set("Nats-Sequence", strconv.FormatUint(seq, 10))
				if err := nc.PublishMsg(answer); err != nil {
					t.Error(err)
				}
			}
			n++
			end := nats.NewMsg(m.Reply)
			end.Header.Set("Status", "204")
			if err := nc.PublishMsg(end); err != nil {
				t.Error(err)
			}
		})
		must(t, err)
		var visited []uint64
		must(t, st.read(t.Context(), "s", 3, func(m *message) error { visited = append(visited, m.seq); return nil }))
		want := []uint64{1, 2, 3}
		if what == "purged" {
			want = []uint64{1, 3}
		}
		if !slices.Equal(visited, want) {
			t.Errorf("%s: visited %d", what, visited)
		}
	}
}
