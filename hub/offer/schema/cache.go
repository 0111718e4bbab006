package schema

import (
	"bytes"
	"container/list"
	"encoding/json"
	"sync"
	"sync/atomic"
	"unsafe"
)

// maxCached is how many bytes the schemas of a Cache may take. A compiled schema takes many
// times the bytes of its text, and most tools are never called.
const maxCached = 16 << 20

// Cache holds the schemas that were compiled or used last. The zero value is ready to use. It is
// safe for concurrent use.
type Cache struct {
	mu      sync.RWMutex
	schemas map[string]*cached // by text
	queue   list.List          // of *cached, the next to go first
	size    int                // of all
}

// cached is a schema of a Cache.
type cached struct {
	text   string
	schema *Schema
	used   atomic.Bool // since it was queued
}

// Compile returns the Schema of raw, which must be a schema for objects: one whose
// type is "object" or left out, {} or true. It keeps a copy of raw, not raw. The
// error tells the page's author what is wrong.
func (c *Cache) Compile(raw json.RawMessage) (*Schema, error) {
	if s := c.lookup(raw); s != nil {
		return s, nil
	}
	text := bytes.Clone(raw)
	s, err := compileTool(text)
	if err != nil {
		return nil, err
	}
	c.insert(&cached{text: unsafe.String(unsafe.SliceData(text), len(text)), schema: s})
	return s, nil
}

func (c *Cache) lookup(raw []byte) *Schema {
	c.mu.RLock()
	defer c.mu.RUnlock()
	s := c.schemas[string(raw)]
	if s == nil {
		return nil
	}
	if !s.used.Load() { // calls side by side are not to write the same
		s.used.Store(true)
	}
	return s.schema
}

// insert adds a schema, and removes the oldest of those that were not used since they were
// last passed over. It does not add one that takes a quarter of the room.
func (c *Cache) insert(s *cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.schema.size > maxCached/4 || c.schemas[s.text] != nil {
		return
	}
	if c.schemas == nil {
		c.schemas = map[string]*cached{}
	}
	c.schemas[s.text] = s
	c.queue.PushBack(s)
	for c.size += s.schema.size; c.size > maxCached; {
		first := c.queue.Front()
		old := first.Value.(*cached)
		if old.used.Swap(false) {
			c.queue.MoveToBack(first)
			continue
		}
		c.queue.Remove(first)
		delete(c.schemas, old.text)
		c.size -= old.schema.size
	}
}
