package storage

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"tabhub/spec"
)

// bucketName is the name of a bucket of doc.go's tree.
type bucketName string

const (
	bucketMeta     bucketName = "meta"
	bucketUsers    bucketName = "users"
	bucketTabs     bucketName = "tabs"
	bucketNames    bucketName = "names"
	bucketNumbers  bucketName = "numbers"
	bucketBrowsers bucketName = "browsers"
	bucketSites    bucketName = "sites"
	bucketLog      bucketName = "log"
)

var keyVersion = []byte("version")

// blockRecords is how many records one value of the log holds at most. Trimming
// drops whole blocks.
const blockRecords = 256

func writeBatch(tx *bbolt.Tx, batch *batch, keep int) error {
	meta, err := tx.CreateBucketIfNotExists([]byte(bucketMeta))
	if err != nil {
		return err
	}
	if meta.Get(keyVersion) == nil {
		if err := meta.Put(keyVersion, binary.AppendUvarint(nil, schemaVersion)); err != nil {
			return err
		}
	}
	users, err := tx.CreateBucketIfNotExists([]byte(bucketUsers))
	if err != nil {
		return err
	}
	for id, pending := range batch.users {
		user, err := users.CreateBucketIfNotExists([]byte(id))
		if err != nil {
			return err
		}
		if err := writeChanges(user, pending.changes); err != nil {
			return err
		}
		if err := writeLog(user, pending.records, keep); err != nil {
			return err
		}
	}
	return nil
}

func writeChanges(user *bbolt.Bucket, changes map[changeKey]Change) error {
	buckets := make(map[bucketName]*bbolt.Bucket, 5)
	for k, c := range changes {
		bucket := buckets[k.bucket]
		if bucket == nil {
			var err error
			if bucket, err = user.CreateBucketIfNotExists([]byte(k.bucket)); err != nil {
				return err
			}
			buckets[k.bucket] = bucket
		}
		// bbolt keeps what it is given until the commit: no buffer is used twice.
		key, value := k.encode(), encode(c)
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

// encode returns the value that c puts, or nil if it deletes.
func encode(c Change) []byte {
	switch c := c.(type) {
	case Tab:
		return appendTab(make([]byte, 0, size(c)), &c)
	case Name:
		return appendName(make([]byte, 0, size(c)), &c)
	case Number:
		return appendNumber(make([]byte, 0, size(c)), &c)
	case Browser:
		return appendBrowser(make([]byte, 0, size(c)), &c)
	case Site:
		return appendSite(make([]byte, 0, size(c)), &c)
	}
	return nil
}

// writeLog appends records as blocks and drops the oldest blocks, so that no more
// than keep records are left.
func writeLog(user *bbolt.Bucket, records []Record, keep int) error {
	if len(records) == 0 {
		return nil
	}
	log, err := user.CreateBucketIfNotExists([]byte(bucketLog))
	if err != nil {
		return err
	}
	log.FillPercent = 1 // it only grows at its end
	next := log.Sequence()
	if skip := len(records) - keep; skip > 0 {
		next += uint64(skip)
		records = records[skip:]
	}
	for len(records) > 0 {
		n := min(len(records), blockRecords, keep)
		var block []byte
		for i := range records[:n] {
			block = appendRecord(block, &records[i])
		}
		if err := log.Put(binary.BigEndian.AppendUint64(nil, next), block); err != nil {
			return err
		}
		next += uint64(n)
		records = records[n:]
	}
	c := log.Cursor()
	for k, _ := c.First(); len(k) == 8 && next-binary.BigEndian.Uint64(k) > uint64(keep); k, _ = c.First() {
		if err := c.Delete(); err != nil {
			return err
		}
	}
	return log.SetSequence(next)
}

// readLog returns the records that match q, newest first.
func readLog(tx *bbolt.Tx, user spec.UserID, q Query) ([]Record, error) {
	log := bucket(tx, user, bucketLog)
	if log == nil {
		return nil, nil
	}
	limit := q.limit()
	var found []Record
	c := log.Cursor()
	for k, v := c.Last(); k != nil && len(found) < limit; k, v = c.Prev() {
		block, err := decodeBlock(v)
		if err != nil {
			return nil, fmt.Errorf("log: %w", err)
		}
		for i := len(block) - 1; i >= 0 && len(found) < limit; i-- {
			if q.match(&block[i]) {
				found = append(found, block[i])
			}
		}
	}
	return found, nil
}

// read fills s with what is kept of a user.
func (s *State) read(tx *bbolt.Tx, user spec.UserID) error {
	var err error
	if s.Tabs, err = readAll(tx, user, bucketTabs, decodeTab); err != nil {
		return err
	}
	if s.Names, err = readAll(tx, user, bucketNames, decodeName); err != nil {
		return err
	}
	if s.Numbers, err = readAll(tx, user, bucketNumbers, decodeNumber); err != nil {
		return err
	}
	if s.Browsers, err = readAll(tx, user, bucketBrowsers, decodeBrowser); err != nil {
		return err
	}
	s.Sites, err = readAll(tx, user, bucketSites, decodeSite)
	return err
}

func readAll[T any](tx *bbolt.Tx, user spec.UserID, name bucketName, decode func([]byte) (T, error)) ([]T, error) {
	b := bucket(tx, user, name)
	if b == nil {
		return nil, nil
	}
	var all []T
	err := b.ForEach(func(_, v []byte) error {
		t, err := decode(v)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, t)
		return nil
	})
	return all, err
}

// bucket returns one of a user's buckets, or nil if nothing was put there yet.
func bucket(tx *bbolt.Tx, user spec.UserID, name bucketName) *bbolt.Bucket {
	users := tx.Bucket([]byte(bucketUsers))
	if users == nil {
		return nil
	}
	b := users.Bucket([]byte(user))
	if b == nil {
		return nil
	}
	return b.Bucket([]byte(name))
}
