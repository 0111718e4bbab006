package storage

import (
	"encoding/json"
	"fmt"

	"tabhub/spec"
)

// changeKey is what a change replaces: a key in one of a user's buckets.
type changeKey struct {
	bucket bucketName
	a, b   string
}

func (k changeKey) encode() []byte {
	switch k.bucket {
	case bucketTabs, bucketNumbers:
		return pair(make([]byte, 0, len(k.a)+len(k.b)+2), k.a, k.b)
	}
	return []byte(k.a)
}

// keyOf returns the key of a change; a Record has none.
func keyOf(c Change) changeKey {
	switch c := c.(type) {
	case Tab:
		return changeKey{bucketTabs, string(c.Domain), c.Key}
	case DeleteTab:
		return changeKey{bucketTabs, string(c.Domain), c.Key}
	case Number:
		return changeKey{bucketNumbers, string(c.Domain), c.Key}
	case DeleteNumber:
		return changeKey{bucketNumbers, string(c.Domain), c.Key}
	case Name:
		return changeKey{bucketNames, c.Public, ""}
	case DeleteName:
		return changeKey{bucketNames, c.Public, ""}
	case Browser:
		return changeKey{bucketBrowsers, string(c.ID), ""}
	case Site:
		return changeKey{bucketSites, string(c.Domain), ""}
	}
	return changeKey{}
}

// size estimates the bytes that a change holds, and how long its value gets.
func size(c Change) int {
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

// maxKey is bbolt's limit, less what pair adds.
const maxKey = 32<<10 - 16

// validate refuses what would fail the whole commit, other users' changes too.
func validate(user spec.UserID, changes []Change) error {
	if user == "" || len(user) > maxKey {
		return fmt.Errorf("%w: user id has %d bytes", ErrInvalid, len(user))
	}
	for _, c := range changes {
		if _, ok := c.(Record); ok {
			continue
		}
		k := keyOf(c)
		if k.bucket == "" {
			return fmt.Errorf("%w: %T is not a change", ErrInvalid, c)
		}
		if k.a == "" || len(k.a)+len(k.b) > maxKey {
			return fmt.Errorf("%w: key of a %T has %d bytes", ErrInvalid, c, len(k.a)+len(k.b))
		}
	}
	return nil
}
