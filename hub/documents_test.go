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

// What a hub has confirmed as stored is there at the next hub. A superseded hub refuses to store: the
// change would be lost, or undo what its successor has stored.
func TestSettingsAreKeptByTheNewestHub(t *testing.T) {
	store := new(storagetest.Memory)
	first := hubtest.Open(t, hub.Options{Store: store})
	of := func(body string) storage.Settings {
		return storage.Settings{Name: "clients", Body: json.RawMessage(body)}
	}
	if got := first.Core.Settings("clients"); got != nil {
		t.Errorf("at first: %s", got)
	}
	if err := first.Core.KeepSettings(of(`1`)); err != nil {
		t.Fatal(err)
	}
	second := hubtest.Open(t, hub.Options{Store: store})
	if got := second.Core.Settings("clients"); string(got) != `1` {
		t.Errorf("kept: %s", got)
	}
	if got := second.Core.Settings("clients"); got != nil {
		t.Errorf("handed out twice: %s", got)
	}
	for range 2 { // it finds out, and then knows
		if err := first.Core.KeepSettings(of(`2`)); !errors.Is(err, storage.ErrStaleEpoch) {
			t.Errorf("the first, when there is a second: %v", err)
		}
	}
	third := hubtest.Open(t, hub.Options{Store: store})
	if got := third.Core.Settings("clients"); string(got) != `1` {
		t.Errorf("the first has kept %s", got)
	}
	if err := third.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := third.Core.KeepSettings(of(`3`)); err == nil {
		t.Error("a hub that is closed has kept something")
	}
}
