package jetstream

import (
	"fmt"

	"tabhub/storage"
)

// fold is the state that the messages of a journal, read so far, add up to.
type fold struct {
	values map[storage.Bucket]map[string][]byte
	live   int // bytes of the values and their keys

	last     uint64     // sequence of the last message
	messages int        // since, and with, the first part of the last snapshot
	bytes    int        // of their payloads
	start    uint64     // the first part of the last snapshot, 0 if there is none
	before   bool       // there are messages before start
	parts    []*message // of an unfinished flush or snapshot
	gap      error      // a message is missing, which does not matter if a snapshot comes after it
}

var errGap = fmt.Errorf("%w: a message is missing", storage.ErrCorrupt)

// add folds the next message in.
func (f *fold) add(m *message) error {
	if m.after != f.last { // perhaps a purge is running: it begins at the front
		f.gap = fmt.Errorf("%w: %d, before %d", errGap, m.after, m.seq)
		f.parts = nil
	}
	if m.part == 0 {
		f.parts = nil // an unfinished one ends here
	}
	f.last = m.seq
	f.messages++
	f.bytes += len(m.data)
	if m.kind == kindClaim || m.kind == kindRelease {
		return nil
	}
	if m.part != len(f.parts) || m.part > 0 && (m.of != f.parts[0].of || m.kind != f.parts[0].kind || m.epoch != f.parts[0].epoch) {
		if f.gap != nil {
			return nil
		}
		return fmt.Errorf("%w: %d is part %d of %d", errMessage, m.seq, m.part, m.of)
	}
	f.parts = append(f.parts, m)
	if len(f.parts) < m.of {
		return nil
	}
	parts := f.parts
	f.parts = nil
	return f.finish(parts)
}

// finish folds in a flush or snapshot that is whole.
func (f *fold) finish(parts []*message) error {
	if f.gap != nil && parts[0].kind != kindSnapshot {
		return nil
	}
	payload := parts[0].data
	if len(parts) > 1 {
		n := 0
		for _, p := range parts {
			n += len(p.data)
		}
		payload = make([]byte, 0, n)
		for _, p := range parts {
			payload = append(payload, p.data...)
		}
	}
	if len(payload) == 0 || payload[0] == 0 {
		return fmt.Errorf("%w: %d has no payload", errMessage, parts[0].seq)
	}
	if payload[0] > formatVersion {
		return fmt.Errorf("%w: message %d has format %d, this program knows %d", storage.ErrNewer, parts[0].seq, payload[0], formatVersion)
	}
	if parts[0].kind == kindSnapshot {
		f.before = f.start != 0 || f.messages > len(parts)
		f.values, f.live, f.gap = nil, 0, nil
		f.start, f.messages, f.bytes = parts[0].seq, len(parts), len(payload)
	}
	for e, err := range storage.Entries(payload[1:]) {
		if err != nil {
			return fmt.Errorf("%w: %d: %w", errMessage, parts[0].seq, err)
		}
		f.set(e)
	}
	return nil
}

func (f *fold) set(e storage.Entry) {
	b := f.values[e.Bucket]
	if old, ok := b[e.Key]; ok {
		f.live -= len(e.Key) + len(old)
	}
	if e.Value == nil {
		delete(b, e.Key)
		return
	}
	if b == nil {
		b = make(map[string][]byte)
		if f.values == nil {
			f.values = make(map[storage.Bucket]map[string][]byte)
		}
		f.values[e.Bucket] = b
	}
	b[e.Key] = e.Value
	f.live += len(e.Key) + len(e.Value)
}

// state returns the user's state, without an epoch.
func (f *fold) state() (*storage.State, error) {
	if f.gap != nil {
		return nil, f.gap
	}
	s := &storage.State{}
	for bucket, values := range f.values {
		for _, v := range values {
			if err := s.Decode(bucket, v); err != nil {
				return nil, fmt.Errorf("%w: %w", storage.ErrCorrupt, err)
			}
		}
	}
	return s, nil
}

// snapshot returns the payload of a snapshot.
func (f *fold) snapshot() []byte {
	payload := make([]byte, 1, 1+f.live+f.live/8)
	payload[0] = formatVersion
	for bucket, values := range f.values {
		for k, v := range values {
			payload = storage.AppendEntry(payload, storage.Entry{Bucket: bucket, Key: k, Value: v})
		}
	}
	return payload
}
