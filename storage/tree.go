package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"tabhub/spec"
)

// The buckets and keys of doc.go's tree that are not a Bucket.
var (
	bucketMeta  = []byte("meta")
	keyVersion  = []byte("version")
	bucketUsers = []byte("users")
	bucketLog   = []byte("log")
	keyEpoch    = []byte("epoch")
)

// blockRecords is how many records one value of the log holds at most. Trimming
// drops whole blocks.
const blockRecords = 256

func writeBatch(tx *bbolt.Tx, batch *batch) error {
	meta, err := tx.CreateBucketIfNotExists(bucketMeta)
	if err != nil {
		return err
	}
	if meta.Get(keyVersion) == nil {
		if err := meta.Put(keyVersion, binary.AppendUvarint(nil, schemaVersion)); err != nil {
			return err
		}
	}
	users, err := tx.CreateBucketIfNotExists(bucketUsers)
	if err != nil {
		return err
	}
	for id, u := range batch.users {
		user, err := users.CreateBucketIfNotExists([]byte(id))
		if err != nil {
			return err
		}
		if epoch := binary.AppendUvarint(nil, uint64(u.epoch)); !bytes.Equal(user.Get(keyEpoch), epoch) {
			if err := user.Put(keyEpoch, epoch); err != nil {
				return err
			}
		}
		if err := writeChanges(user, u.changes); err != nil {
			return err
		}
		if err := writeLog(user, u.records); err != nil {
			return err
		}
	}
	return nil
}

func writeChanges(user *bbolt.Bucket, changes map[Key]Change) error {
	buckets := make(map[Bucket]*bbolt.Bucket, 5)
	for k, c := range changes {
		bucket := buckets[k.Bucket]
		if bucket == nil {
			var err error
			if bucket, err = user.CreateBucketIfNotExists([]byte(k.Bucket)); err != nil {
				return err
			}
			buckets[k.Bucket] = bucket
		}
		// bbolt keeps what it is given until the commit: no buffer is used twice.
		key, value := k.Bytes(), Encode(c)
		var err error
		if value == nil {
			err = bucket.Delete(key)
		} else {
			err = bucket.Put(key, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeLog appends records as blocks and drops the oldest blocks, so that no more
// than MaxRecords are left.
func writeLog(user *bbolt.Bucket, records []Record) error {
	if len(records) == 0 {
		return nil
	}
	log, err := user.CreateBucketIfNotExists(bucketLog)
	if err != nil {
		return err
	}
	log.FillPercent = 1 // it only grows at its end
	next := log.Sequence()
	if skip := len(records) - MaxRecords; skip > 0 {
		next += uint64(skip)
		records = records[skip:]
	}
	for len(records) > 0 {
		n := min(len(records), blockRecords)
		var block coder
		for i := range records[:n] {
			records[i].code(&block)
		}
		if err := log.Put(binary.BigEndian.AppendUint64(nil, next), block.b); err != nil {
			return err
		}
		next += uint64(n)
		records = records[n:]
	}
	c := log.Cursor()
	for k, _ := c.First(); len(k) == 8 && next-binary.BigEndian.Uint64(k) > MaxRecords; k, _ = c.First() {
		if err := c.Delete(); err != nil {
			return err
		}
	}
	return log.SetSequence(next)
}

// readLog returns the records of a user that match q, newest first.
func readLog(user *bbolt.Bucket, q Query) (found []Record, err error) {
	log := user.Bucket(bucketLog)
	if log == nil {
		return nil, nil
	}
	c := log.Cursor()
	for k, v := c.Last(); k != nil && len(found) < q.Max(); k, v = c.Prev() {
		block, err := DecodeRecords(v)
		if err != nil {
			return nil, fmt.Errorf("log: %w", err)
		}
		for i := len(block) - 1; i >= 0 && len(found) < q.Max(); i-- {
			if q.Match(&block[i]) {
				found = append(found, block[i])
			}
		}
	}
	return found, nil
}

// readState adds what is kept of a user to s.
func readState(user *bbolt.Bucket, s *State) error {
	for _, name := range Buckets() {
		b := user.Bucket([]byte(name))
		if b == nil {
			continue
		}
		if err := b.ForEach(func(_, v []byte) error { return s.Decode(name, v) }); err != nil {
			return err
		}
	}
	return nil
}

// readEpoch returns the greatest epoch under which anything of a user was written. It
// is 0 if only a version without epochs has written.
func readEpoch(user *bbolt.Bucket) (spec.Epoch, error) {
	b := user.Get(keyEpoch)
	e, n := binary.Uvarint(b)
	if n != len(b) {
		return 0, fmt.Errorf("epoch: %w", errDecode)
	}
	return spec.Epoch(e), nil
}
