package hub

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"tabhub/hub/lists"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/storagetest"
)

// slowStore takes a second to keep what it is given.
type slowStore struct{ storagetest.Memory }

func (s *slowStore) Write(user spec.UserID, epoch spec.Epoch, changes []storage.Change, done func(error)) {
	s.Memory.Write(user, epoch, changes, func(err error) {
		time.Sleep(time.Second)
		done(err)
	})
}

// What another process does not know of yet, and would give to something else, is not told.
func TestSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fixture{t: t, store: &slowStore{}}
		t.Cleanup(func() { time.Sleep(time.Minute) }) // for what is on its way at the end
		w.start(Options{StoredFirst: true})
		p := w.page("https://e.com", "a")
		p.Notify(0, tools("https://e.com/", "x"))
		synctest.Wait()
		if n := len(w.hub.Lists.List(lists.ListTools).Items); n != 1 {
			t.Fatalf("%d tools are listed", n)
		}
		began := time.Now()
		if err := w.hub.Core.Settled(t.Context()); err != nil || time.Since(began) < time.Second/2 {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		began = time.Now()
		if err := w.hub.Core.Settled(t.Context()); err != nil || time.Since(began) != 0 {
			t.Errorf("with nothing on its way, after %v: %v", time.Since(began), err)
		}
		p.Notify(0, tools("https://e.com/", "x", "y"))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := w.hub.Core.Settled(ctx); err == nil {
			t.Error("it does not wait")
		}
	})
}
