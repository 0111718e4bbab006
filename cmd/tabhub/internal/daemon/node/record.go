package node

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"time"

	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/storage/jetstream/streamlog"
)

const (
	// recordMargin is how much longer the stream stores lines than the hubs, which remove old lines
	// and record that: the stream removes those of users who no longer come.
	recordMargin = 48 * time.Hour
	// A record is removed by sixteenths, if these are no larger than what is read at once.
	recordPieces   = 16
	minRecordPiece = 64 << 10
	// maxDeferred is how many bytes of lines a node keeps, of users that are no longer its own, until
	// NATS takes them.
	maxDeferred = 64 << 20
)

// OpenRecord opens a user's record.
func (n *Node) OpenRecord(user spec.UserID, epoch func(context.Context) (spec.Epoch, error), o record.Options) (_ *record.Recorder, err error) {
	if o.Key, err = n.digestKey(user); err != nil {
		return nil, err
	}
	o.Node, o.Deferred = n.Self().Name, n.deferred
	return record.OpenStream(n.records.User(user, epoch), o), nil
}

// openRecords opens the stream of the users' records.
func (n *Node) openRecords(ctx context.Context, replicas int) (*streamlog.Logs, error) {
	c := n.Config
	return streamlog.Open(ctx, n.data, streamlog.Options{
		Stream: "TABHUB_RECORDS", Subject: "tabhub.record", Replicas: replicas,
		MaxAge:    time.Duration(c.LogKeep) + recordMargin,
		PieceSize: max(minRecordPiece, min(streamlog.DefaultPieceSize, int64(c.LogMax)/recordPieces)),
	})
}

// digestKey returns the key of the digests in a user's record. It is the same on each node, and
// nothing in NATS reveals it.
func (n *Node) digestKey(user spec.UserID) ([]byte, error) {
	return hkdf.Key(sha256.New, n.secret, nil, "tabhub record digest "+string(user), sha256.Size)
}
