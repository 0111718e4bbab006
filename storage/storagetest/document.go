package storagetest

import (
	"testing"
	"time"

	"tabhub/spec"
	"tabhub/storage"
	"tabhub/storage/private"
)

// Documents opens a user's store, as the next process does that owns the user, and returns its
// settings as documents: each by its name.
func (m *Memory) Documents(t testing.TB, user spec.UserID) func(name string) private.Document {
	t.Helper()
	kept, err := m.Load(t.Context(), user, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return func(name string) private.Document {
		doc := private.Document{Save: func(body []byte, wait bool) error {
			done := make(chan error, 1)
			m.Write(user, kept.Epoch, []storage.Change{storage.Settings{Name: name, Body: body}}, func(err error) { done <- err })
			if !wait {
				return nil
			}
			return <-done
		}}
		for _, s := range kept.Settings {
			if s.Name == name {
				doc.Body = s.Body
			}
		}
		return doc
	}
}
