package main

import (
	"compress/gzip"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"tabhub/cmd/tabhub/internal/home"
	"tabhub/hub/record"
	"tabhub/spec"
	"tabhub/storage"
)

// Who updates keeps what the version before had recorded, in a store that it has written:
// once, however often the hub is started.
func TestOldLogIsMoved(t *testing.T) {
	dir := home.Dir(t.TempDir())
	packed, err := os.Open(filepath.Join("testdata", "store_with_log.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	store, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir.Store(), store, 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	want := []record.Entry{
		{Time: at, Event: record.Register, Tab: "t/1", Domain: "shop.example", Outcome: "ok", Reason: "1 tool"},
		{Time: at.Add(time.Second), Event: record.Call, Said: "claude-ai", Via: "proxy", Tab: "t/1", Domain: "shop.example", Tool: "buy",
			Digest: "0123456789abcdef", Outcome: "ok", Reason: "the only tab", Duration: time.Second},
	}
	for range 3 {
		p := &process{dir: dir, log: slog.New(slog.DiscardHandler), config: new(config)}
		if p.store, err = storage.Open(dir.Store(), storage.Options{}); err != nil {
			t.Fatal(err)
		}
		log, err := p.openRecord(spec.LocalUser, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := log.Read(t.Context(), record.Query{})
		var got []record.Entry
		for _, l := range lines {
			got = append(got, l.Entry)
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
		if old, err := p.store.OldLog(spec.LocalUser); err != nil || old != nil {
			t.Errorf("the store has still %+v, %v", old, err)
		}
		state, err := p.store.Load(t.Context(), spec.LocalUser, time.Time{})
		if err != nil || len(state.Numbers) != 1 {
			t.Errorf("the rest of the store: %+v, %v", state, err)
		}
		log.Close()
		if err := p.store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	r, err := record.Verify(record.Dir(dir.Records(), spec.LocalUser))
	if err != nil || len(r.Problems) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
