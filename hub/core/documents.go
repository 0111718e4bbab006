package core

import (
	"encoding/json"
	"slices"

	"tabhub/hub/trust/record"
	"tabhub/storage"
)

// Documents returns the documents of a kind that the store held when the Core was opened, to
// their owner: a part that serves clients, say. The Core forgets them.
func (c *Core) Documents(kind string) (of []storage.Document) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.documents = slices.DeleteFunc(c.documents, func(d storage.Document) bool {
		if d.Kind == kind {
			of = append(of, d)
		}
		return d.Kind == kind
	})
	return of
}

// SaveDocument stores a document, which must not be modified afterwards. It does not block.
// synced, if not nil, is called once that is synced to disk or has failed, and must not block.
func (c *Core) SaveDocument(d storage.Document, synced func(error)) { c.writeDocument(d, synced) }

// DeleteDocument deletes what SaveDocument has stored. It does not block, and calls synced as that does.
func (c *Core) DeleteDocument(kind, id string, synced func(error)) {
	c.writeDocument(storage.DeleteDocument{Kind: kind, ID: id}, synced)
}

// writeDocument has a change stored of which the state knows nothing, so that no watcher of
// the state wakes.
func (c *Core) writeDocument(change storage.Change, synced func(error)) {
	c.mu.Lock()
	stopped := c.stopped
	if !stopped {
		c.unwritten = append(c.unwritten, change)
		if synced != nil {
			c.synced = append(c.synced, synced)
		}
	}
	c.mu.Unlock()
	switch {
	case !stopped:
		c.flush()
	case synced != nil:
		synced(c.EndedFailure(false))
	}
}

// Settings returns the settings of that name that the store held when the Hub was opened, nil
// if there were none, to their owner. The Core forgets them.
func (c *Core) Settings(name string) (body json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settings = slices.DeleteFunc(c.settings, func(s storage.Settings) bool {
		if s.Name == name {
			body = s.Body
		}
		return s.Name == name
	})
	return body
}

// SaveSettings stores settings, as SaveDocument does a document.
func (c *Core) SaveSettings(s storage.Settings, synced func(error)) { c.writeDocument(s, synced) }

// KeepSettings stores settings, and blocks until that is synced. If the Hub ends meanwhile, or
// has ended, the error is Err's; then only the user's next hub knows what is stored.
func (c *Core) KeepSettings(s storage.Settings) error {
	synced := make(chan error, 1)
	c.SaveSettings(s, func(err error) { synced <- err })
	var err error
	select {
	case err = <-synced:
	case <-c.Done():
		err = c.Err()
	}
	if err != nil && c.Err() != nil {
		return c.Err()
	}
	return err
}

// Record adds an entry to the record, for what happens beside the calls that the hub
// runs. It does not block.
func (c *Core) Record(e record.Entry) { c.Options.Record.Append(e) }
