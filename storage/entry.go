package storage

import (
	"iter"
	"slices"
)

// Entry is a change as it is stored: what a value becomes, whatever its type.
type Entry struct {
	Bucket Bucket
	Key    string // Key.Bytes
	Value  []byte // of Encode; nil deletes
}

// EntryOf returns a change as an entry.
func EntryOf(c Change) Entry {
	k := KeyOf(c)
	return Entry{Bucket: k.Bucket, Key: string(k.Bytes()), Value: Encode(c)}
}

// AppendEntry appends an entry to dst, a batch of them, which Entries reads.
func AppendEntry(dst []byte, e Entry) []byte {
	c := coder{b: slices.Grow(dst, len(e.Bucket)+len(e.Key)+len(e.Value)+8)}
	e.code(&c)
	return c.b
}

// Entries returns the entries of a batch. Its last one comes with an error if the batch is
// damaged. Values are slices of batch.
func Entries(batch []byte) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for d := (coder{b: batch, decode: true}); len(d.b) > 0; {
			var e Entry
			e.code(&d)
			if d.bad {
				yield(Entry{}, errDecode)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (e *Entry) code(c *coder) {
	text(c, &e.Bucket)
	text(c, &e.Key)
	puts := e.Value != nil
	if c.flag(&puts); !puts {
		return
	}
	if c.decode {
		e.Value = c.take()
	} else {
		c.b = appendText(c.b, e.Value)
	}
}
