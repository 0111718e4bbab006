package storage

import (
	"encoding/json"
	"fmt"

	"tabhub/spec"
)

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
		n += len(c.Public) + len(c.Domain) + len(c.Item) + len(c.Pack)
	case Number:
		n += len(c.Domain) + len(c.Key)
	case Browser:
		n += len(c.ID) + len(c.SecretHash) + len(c.Name) + len(c.Label)
	case Site:
		n += len(c.Domain)
	case Settings:
		n += len(c.Name) + len(c.Body)
	case Document:
		n += len(c.Kind) + len(c.ID) + len(c.Body)
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
