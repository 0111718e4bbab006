package schema

import (
	"bytes"
	"encoding/json"
	"runtime"
	"sync"
	"weak"
)

// Cache compiles schemas, each distinct text once as long as its Schema is in use.
// The zero value is ready to use. All methods are safe for concurrent use.
type Cache struct {
	mu      sync.Mutex
	schemas map[string]weak.Pointer[Schema] // by text
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
	return c.insert(string(text), s), nil
}

func (c *Cache) lookup(raw []byte) *Schema {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.schemas[string(raw)].Value()
}

// insert adds s, the Schema of raw, unless another has compiled the same text meanwhile.
func (c *Cache) insert(raw string, s *Schema) *Schema {
	c.mu.Lock()
	defer c.mu.Unlock()
	if other := c.schemas[raw].Value(); other != nil {
		return other
	}
	if c.schemas == nil {
		c.schemas = map[string]weak.Pointer[Schema]{}
	}
	c.schemas[raw] = weak.Make(s)
	runtime.AddCleanup(s, c.drop, raw)
	return s
}

// drop removes a text whose Schema is gone.
func (c *Cache) drop(raw string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.schemas[raw].Value() == nil {
		delete(c.schemas, raw)
	}
}
