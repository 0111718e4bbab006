package storage

import (
	"encoding/binary"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// What an older version has logged must be read once, in order, and then be gone.
func TestOldLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tabhub.db")
	b, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	read := func() []OldRecord {
		t.Helper()
		got, err := b.OldLog("ann")
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := read(); got != nil {
		t.Errorf("a new store has %+v", got)
	}
	if err := b.DropOldLog("ann"); err != nil {
		t.Error(err)
	}
	now := time.Unix(1, 2).UTC()
	want := []OldRecord{
		{Time: now, Event: "register", Tab: "p/1", Domain: "e.com", Outcome: "ok", Reason: "1 tool"},
		{Time: now, Event: "call", Via: "proxy", Client: "c", Tool: "t", Digest: "0123", Outcome: "ok", Duration: time.Second},
		{Time: now, Event: "call", Outcome: "cancelled"},
	}
	err = b.db.Update(func(tx *bbolt.Tx) error {
		users, err := tx.CreateBucketIfNotExists(bucketUsers)
		if err != nil {
			return err
		}
		user, err := users.CreateBucket([]byte("ann"))
		if err != nil {
			return err
		}
		log, err := user.CreateBucket(bucketLog)
		if err != nil {
			return err
		}
		for i, block := range [][]OldRecord{want[:2], want[2:]} {
			var c coder
			for _, r := range block {
				if r.Via != "" {
					r.Event += " " + r.Via
				}
				r.code(&c)
			}
			if err := log.Put(binary.BigEndian.AppendUint64(nil, uint64(i*256)), c.b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := read(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if err := b.DropOldLog("ann"); err != nil {
		t.Error(err)
	}
	if got := read(); got != nil {
		t.Errorf("deleted, and there is %+v", got)
	}
}
