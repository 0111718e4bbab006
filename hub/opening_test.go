package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"tabhub/hub"
	"tabhub/hub/hubtest"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/storagetest"
)

// overtaken is a store that another hub loads right after the one that is opened, which learns of it
// before its write returns.
type overtaken struct{ *storagetest.Memory }

func (o overtaken) Load(ctx context.Context, user spec.UserID, stale time.Time) (*storage.State, error) {
	stored, err := o.Memory.Load(ctx, user, stale)
	_, _ = o.Memory.Load(ctx, user, stale)
	return stored, err
}

func (o overtaken) Write(user spec.UserID, epoch spec.Epoch, changes []storage.Change, done func(error)) {
	o.Memory.Write(user, epoch, changes, done)
	time.Sleep(20 * time.Millisecond)
}

// A hub that is opened removes the tasks whose time is over. Should the store say then that another
// hub serves the user, the process, which may serve many users, has to go on.
func TestHubThatIsSupersededWhileItOpens(t *testing.T) {
	store := new(storagetest.Memory)
	kept := make(chan error, 1)
	hubtest.Open(t, hub.Options{Store: store}).Core.SaveDocument(storage.Document{Kind: "task", ID: "t", Body: json.RawMessage(
		`{"taskId":"t","status":"completed","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":1}`)}, func(err error) { kept <- err })
	if err := <-kept; err != nil {
		t.Fatal(err)
	}
	h := hubtest.Open(t, hub.Options{Store: overtaken{store}})
	<-h.Core.Done()
	if err := h.Core.Err(); !errors.Is(err, storage.ErrStaleEpoch) {
		t.Error(err)
	}
}
