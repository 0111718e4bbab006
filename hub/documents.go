package hub

import (
	"encoding/json"
	"slices"

	"tabhub/storage"
)

// Documents returns the documents of a kind that the store held when the Hub was opened, to
// whom they belong: a part that serves the Hub's clients, say. The Hub forgets them.
func (h *Hub) Documents(kind string) (of []storage.Document) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.documents = slices.DeleteFunc(h.documents, func(d storage.Document) bool {
		if d.Kind == kind {
			of = append(of, d)
		}
		return d.Kind == kind
	})
	return of
}

// SaveDocument stores a document, which must not be modified afterwards. It does not block.
// synced, if not nil, is called once that is synced to disk or has failed, and must not block.
func (h *Hub) SaveDocument(d storage.Document, synced func(error)) { h.writeDocument(d, synced) }

// DeleteDocument deletes what SaveDocument has stored. It does not block.
func (h *Hub) DeleteDocument(kind, id string) {
	h.writeDocument(storage.DeleteDocument{Kind: kind, ID: id}, nil)
}

// writeDocument has a change stored of which the state knows nothing, so that nobody who
// follows the state is woken.
func (h *Hub) writeDocument(c storage.Change, synced func(error)) {
	h.mu.Lock()
	stopped := h.stopped
	if !stopped {
		h.unwritten = append(h.unwritten, c)
		if synced != nil {
			h.synced = append(h.synced, synced)
		}
	}
	h.mu.Unlock()
	switch {
	case !stopped:
		h.flush()
	case synced != nil:
		synced(h.endedFailure(false))
	}
}

// Settings returns the settings of that name that the store held when the Hub was opened, nil
// if there were none, to whom they belong. The Hub forgets them.
func (h *Hub) Settings(name string) (body json.RawMessage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.settings = slices.DeleteFunc(h.settings, func(s storage.Settings) bool {
		if s.Name == name {
			body = s.Body
		}
		return s.Name == name
	})
	return body
}

// SaveSettings stores settings, as SaveDocument does a document.
func (h *Hub) SaveSettings(s storage.Settings, synced func(error)) { h.writeDocument(s, synced) }

// KeepSettings stores settings, and blocks until that is synced. If the Hub ends meanwhile, or
// has ended, the error is Err's; then nobody but the user's next Hub knows what is stored.
func (h *Hub) KeepSettings(s storage.Settings) error {
	synced := make(chan error, 1)
	h.SaveSettings(s, func(err error) { synced <- err })
	var err error
	select {
	case err = <-synced:
	case <-h.Done():
		err = h.Err()
	}
	if err != nil && h.Err() != nil {
		return h.Err()
	}
	return err
}
