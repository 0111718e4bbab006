package storage

import (
	"encoding/json"
	"fmt"

	"tabhub/spec"
)

// Bucket names the values of one type that are kept of a user. The names are part of
// the stored format.
type Bucket string

// The buckets. Their values are encoded by Encode and decoded by State.Decode.
const (
	BucketTabs     Bucket = "tabs"
	BucketNames    Bucket = "names"
	BucketNumbers  Bucket = "numbers"
	BucketBrowsers Bucket = "browsers"
	BucketSites    Bucket = "sites"
)

// Buckets returns all buckets.
func Buckets() []Bucket {
	return []Bucket{BucketTabs, BucketNames, BucketNumbers, BucketBrowsers, BucketSites}
}

// Key says what a change replaces or deletes: a value in one of a user's buckets. Keys
// are comparable.
type Key struct {
	Bucket Bucket
	a, b   string
}

// Bytes returns the key within its bucket, as it is stored. No two keys of a bucket
// have the same bytes.
func (k Key) Bytes() []byte {
	switch k.Bucket {
	case BucketTabs, BucketNumbers:
		return append(appendText(make([]byte, 0, len(k.a)+len(k.b)+2), k.a), k.b...)
	}
	return []byte(k.a)
}

// KeyOf returns the key of a change. That of a Record, which replaces nothing, and of
// what is not a change is the zero Key.
func KeyOf(c Change) Key {
	switch c := c.(type) {
	case Tab:
		return Key{BucketTabs, string(c.Domain), c.Key}
	case DeleteTab:
		return Key{BucketTabs, string(c.Domain), c.Key}
	case Number:
		return Key{BucketNumbers, string(c.Domain), c.Key}
	case DeleteNumber:
		return Key{BucketNumbers, string(c.Domain), c.Key}
	case Name:
		return Key{BucketNames, c.Public, ""}
	case DeleteName:
		return Key{BucketNames, c.Public, ""}
	case Browser:
		return Key{BucketBrowsers, string(c.ID), ""}
	case Site:
		return Key{BucketSites, string(c.Domain), ""}
	}
	return Key{}
}

// Size estimates how many bytes a change takes, in memory and encoded.
func Size(c Change) int {
	n := 64
	switch c := c.(type) {
	case Tab:
		n += len(c.Domain) + len(c.Key) + len(c.Addr.Peer) + len(c.Origin) + len(c.URL) + len(c.Title) + len(c.Browser)
		for _, items := range [...][]json.RawMessage{c.Tools, c.Resources, c.Prompts} {
			for _, it := range items {
				n += len(it) + 4
			}
		}
	case Name:
		n += len(c.Public) + len(c.Domain) + len(c.Item)
	case Number:
		n += len(c.Domain) + len(c.Key)
	case Browser:
		n += len(c.ID) + len(c.SecretHash) + len(c.Name)
	case Site:
		n += len(c.Domain)
	case Record:
		n += 128 + len(c.Client) + len(c.Tab) + len(c.Domain) + len(c.Tool) + len(c.Digest) + len(c.Outcome) + len(c.Reason)
	}
	return n
}

// maxKey is bbolt's limit, less what Bytes adds.
const maxKey = 32<<10 - 16

// Validate returns ErrInvalid for changes that no store takes. A store that commits
// many writes together calls it first, so that one does not fail the others.
func Validate(user spec.UserID, changes []Change) error {
	if user == "" || len(user) > maxKey {
		return fmt.Errorf("%w: user id has %d bytes", ErrInvalid, len(user))
	}
	for _, c := range changes {
		if _, ok := c.(Record); ok {
			continue
		}
		k := KeyOf(c)
		if k.Bucket == "" {
			return fmt.Errorf("%w: %T is not a change", ErrInvalid, c)
		}
		if k.a == "" || len(k.a)+len(k.b) > maxKey {
			return fmt.Errorf("%w: key of a %T has %d bytes", ErrInvalid, c, len(k.a)+len(k.b))
		}
	}
	return nil
}
