package hub_test

import (
	"encoding/json"
	"errors"
	"testing"

	"tabhub/hub"
	"tabhub/hub/hubtest"
	"tabhub/storage"
	"tabhub/storage/storagetest"
)

// What a part of the hub has stored, and been told is stored, is there when the next hub opens:
// as it was stored last, of its kind alone, and to be had once.
func TestDocumentsOutliveTheHub(t *testing.T) {
	store := new(storagetest.Memory)
	first := hubtest.Open(t, hub.Options{Store: store})
	save := func(h *hubtest.Hub, kind, id, body string) error {
		synced := make(chan error, 1)
		h.SaveDocument(storage.Document{Kind: kind, ID: id, Body: json.RawMessage(body)}, func(err error) { synced <- err })
		return <-synced
	}
	for _, d := range [][3]string{{"a", "1", `1`}, {"a", "2", `2`}, {"b", "1", `3`}, {"a", "1", `4`}} {
		if err := save(first, d[0], d[1], d[2]); err != nil {
			t.Fatal(err)
		}
	}
	first.DeleteDocument("a", "2")
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := save(first, "a", "3", `5`); err == nil {
		t.Error("a hub that is closed has stored a document")
	}
	second := hubtest.Open(t, hub.Options{Store: store})
	if got := second.Documents("a"); len(got) != 1 || got[0].ID != "1" || string(got[0].Body) != `4` {
		t.Errorf("kept: %+v", got)
	}
	if got := second.Documents("a"); got != nil {
		t.Errorf("handed out twice: %+v", got)
	}
	if got := second.Documents("b"); len(got) != 1 {
		t.Errorf("of the other kind: %+v", got)
	}
}

// Who has been told that something is kept finds it at the next hub, and one that has given way
// to another says so: what it is asked to keep would be lost, or undo what the other has kept.
func TestSettingsAreKeptByTheNewestHub(t *testing.T) {
	store := new(storagetest.Memory)
	first := hubtest.Open(t, hub.Options{Store: store})
	of := func(body string) storage.Settings {
		return storage.Settings{Name: "clients", Body: json.RawMessage(body)}
	}
	if got := first.Settings("clients"); got != nil {
		t.Errorf("at first: %s", got)
	}
	if err := first.KeepSettings(of(`1`)); err != nil {
		t.Fatal(err)
	}
	second := hubtest.Open(t, hub.Options{Store: store})
	if got := second.Settings("clients"); string(got) != `1` {
		t.Errorf("kept: %s", got)
	}
	if got := second.Settings("clients"); got != nil {
		t.Errorf("handed out twice: %s", got)
	}
	for range 2 { // it finds out, and then knows
		if err := first.KeepSettings(of(`2`)); !errors.Is(err, storage.ErrStaleEpoch) {
			t.Errorf("the first, when there is a second: %v", err)
		}
	}
	third := hubtest.Open(t, hub.Options{Store: store})
	if got := third.Settings("clients"); string(got) != `1` {
		t.Errorf("the first has kept %s", got)
	}
	if err := third.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := third.KeepSettings(of(`3`)); err == nil {
		t.Error("a hub that is closed has kept something")
	}
}
