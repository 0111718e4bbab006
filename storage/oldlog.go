package storage

import (
	"fmt"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"tabhub/spec"
)

var bucketLog = []byte("log")

// OldRecord is a line of the log as the store had it before package record kept it.
type OldRecord struct {
	Time     time.Time
	Event    string // "register", "call" or "proxy"
	Client   string // what the client called itself
	Via      string
	Tab      string
	Domain   spec.Domain
	Tool     string
	Digest   string
	Outcome  string
	Reason   string
	Duration time.Duration
}

// OldLog returns the log that an older version has left of a user, oldest first.
func (b *Bolt) OldLog(user spec.UserID) ([]OldRecord, error) {
	var records []OldRecord
	err := b.view(user, func(u *bbolt.Bucket) error {
		log := u.Bucket(bucketLog)
		if log == nil {
			return nil
		}
		return log.ForEach(func(_, block []byte) error {
			for d := (coder{b: block, decode: true}); len(d.b) > 0; {
				var r OldRecord
				r.code(&d)
				if d.bad {
					return fmt.Errorf("log: %w", errDecode)
				}
				records = append(records, r)
			}
			return nil
		})
	})
	return records, err
}

// DropOldLog deletes what OldLog returns.
func (b *Bolt) DropOldLog(user spec.UserID) error {
	err := guard(b.path, func() error {
		return b.db.Update(func(tx *bbolt.Tx) error {
			users := tx.Bucket(bucketUsers)
			if users == nil {
				return nil
			}
			if u := users.Bucket([]byte(user)); u != nil && u.Bucket(bucketLog) != nil {
				return u.DeleteBucket(bucketLog)
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("delete the log of user %q: %w", user, err)
	}
	return nil
}

func (r *OldRecord) code(c *coder) {
	c.time(&r.Time)
	text(c, &r.Event)
	if c.decode { // Via stands behind the event
		r.Event, r.Via, _ = strings.Cut(r.Event, " ")
	}
	text(c, &r.Client)
	text(c, &r.Tab)
	text(c, &r.Domain)
	text(c, &r.Tool)
	text(c, &r.Digest)
	text(c, &r.Outcome)
	text(c, &r.Reason)
	integer(c, &r.Duration)
}
