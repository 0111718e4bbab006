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
	keyEpoch    = []byte("epoch")
)

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

// readEpoch returns the greatest epoch under which anything of a user was written.
func readEpoch(user *bbolt.Bucket) (spec.Epoch, error) {
	b := user.Get(keyEpoch)
	e, n := binary.Uvarint(b)
	if n != len(b) {
		return 0, fmt.Errorf("epoch: %w", errDecode)
	}
	return spec.Epoch(e), nil
}
