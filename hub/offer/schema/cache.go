package schema

import (
	"bytes"
	"encoding/json"
	"sync"
	"unsafe"
)

// maxCached is how many bytes the schemas of a Cache may take. A compiled schema takes many
// times the bytes of its text, and most tools are never called.
const maxCached = 16 << 20

// Cache holds the schemas that were used last. The zero value is ready to use. It is
// safe for concurrent use.
type Cache struct {
	mu       sync.RWMutex
	new, old map[string]*Schema // by text; old ones were not used since new was empty
	size     int                // of new
}

// Compile returns the Schema of raw, which must be a schema for objects: one whose
// type is "object" or left out, {} or true. It keeps a copy of raw, not raw. The
// error tells the page's author what is wrong.
func (c *Cache) Compile(raw json.RawMessage) (*Schema, error) {
	s, isNew := c.lookup(raw)
	if isNew {
		return s, nil
	}
	text := bytes.Clone(raw)
	if s == nil {
		var err error
		if s, err = compileTool(text); err != nil {
			return nil, err
		}
	}
	c.insert(unsafe.String(unsafe.SliceData(text), len(text)), s)
	return s, nil
}

func (c *Cache) lookup(raw []byte) (s *Schema, isNew bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if s = c.new[string(raw)]; s != nil {
		return s, true
	}
	return c.old[string(raw)], false
}

// insert adds a schema to the new ones. When these take half of the room, they are the old ones. It
// does not add one that takes a quarter of the room.
func (c *Cache) insert(text string, s *Schema) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.size > maxCached/4 || c.new[text] != nil {
		return
	}
	if c.new == nil || c.size+s.size > maxCached/2 {
		c.new, c.old, c.size = map[string]*Schema{}, c.new, 0
	}
	c.new[text] = s
	c.size += s.size
}
