package schema

import (
	"bytes"
	"container/list"
	"encoding/json"
	"sync"
	"unsafe"
)

// maxCached is how many bytes the schemas of a Cache may take. A compiled schema takes many
// times what its text does, and what a page gives, nobody may ever call.
const maxCached = 16 << 20

// Cache keeps the schemas that were compiled last. The zero value is ready to use. All
// methods are safe for concurrent use.
type Cache struct {
	mu      sync.Mutex
	schemas map[string]*list.Element // of *cached, by text
	recent  list.List                // what was used last first
	size    int                      // of all
}

// cached is a schema of a Cache.
type cached struct {
	text   string
	schema *Schema
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
	c.insert(&cached{unsafe.String(unsafe.SliceData(text), len(text)), s})
	return s, nil
}

func (c *Cache) lookup(raw []byte) *Schema {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.schemas[string(raw)]
	if e == nil {
		return nil
	}
	c.recent.MoveToFront(e)
	return e.Value.(*cached).schema
}

// insert adds a schema, and takes away those that were not used for longest. One that would
// take a quarter of the room is not kept.
func (c *Cache) insert(s *cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.schema.size > maxCached/4 || c.schemas[s.text] != nil {
		return
	}
	if c.schemas == nil {
		c.schemas = map[string]*list.Element{}
	}
	c.schemas[s.text] = c.recent.PushFront(s)
	for c.size += s.schema.size; c.size > maxCached; {
		last := c.recent.Remove(c.recent.Back()).(*cached)
		delete(c.schemas, last.text)
		c.size -= last.schema.size
	}
}
