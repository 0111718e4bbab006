package record_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"

	"tabhub/hub/trust/record"
	"tabhub/hub/trust/record/recordtest"
	"tabhub/spec"
	"tabhub/storage/jetstream/natstest"
	"tabhub/storage/jetstream/streamlog"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	recordtest.Run(t, func(t *testing.T) recordtest.Place {
		dir := t.TempDir() + "/record"
		return func(o record.Options) *record.Recorder { return record.Open(dir, o) }
	})
}

func TestStream(t *testing.T) {
	t.Parallel()
	logs := logsOf(t, natstest.Shared(t).Conn(t), 1)
	n := 0
	recordtest.Run(t, func(t *testing.T) recordtest.Place {
		n++
		return newPlace(logs, spec.UserID(fmt.Sprint("user", n)))
	})
}

func logsOf(t testing.TB, nc *nats.Conn, replicas int) *streamlog.Logs {
	t.Helper()
	logs, err := streamlog.Open(t.Context(), nc, streamlog.Options{
		Stream: "TABHUB_RECORDS", Subject: "tabhub.record", Replicas: replicas, PieceSize: recordtest.MinPiece,
	})
	if err != nil {
		t.Fatal(err)
	}
	return logs
}

// newPlace returns a user's record, of which each opening has a greater epoch.
func newPlace(logs *streamlog.Logs, user spec.UserID) recordtest.Place {
	var epoch spec.Epoch
	return func(o record.Options) *record.Recorder {
		epoch++
		mine := epoch
		return record.OpenStream(logs.User(user, func(context.Context) (spec.Epoch, error) { return mine, nil }), o)
	}
}
