package cluster

import (
	"sync/atomic"
	"time"
)

// Stats count what the node has done since it joined.
type Stats struct {
	Held           bool          // whether the lease is held now
	Age            time.Duration // since the last renewal that has succeeded was sent; 0: the lease is over
	Members        int           // with a lease, this node among them
	Renewals       int64         // of the lease
	RenewalsFailed int64         // attempts
	RenewalTime    time.Duration // of all that succeeded, from sent to answered
	Suspensions    int64         // times that the lease was held again after it was not
	Suspended      time.Duration // how long they lasted, all together
	Lost           int64         // times that all users had to be closed
	Ended          int64         // leases of others that this node has declared ended
	WatchRestarts  int64         // times that the members were read anew
	BadRecords     int64         // records in the bucket that no node of this cluster has signed
	PeersRefused   int64         // connections of peers that are not members
	Hints          int64         // look-ups of a credential in NATS
	HintsUnknown   int64         // look-ups that found no user
	HintsFailed    int64         // times that NATS did not answer about a credential
}

type stats struct {
	renewals, renewalsFailed, renewalTime, suspensions, suspended atomic.Int64
	lost, ended, watchRestarts, badRecords, peersRefused          atomic.Int64
}

// renewed counts a renewal, and the time before it in which the lease was not held.
func (s *stats) renewed(sent, last *instant, hold time.Duration) {
	s.renewals.Add(1)
	s.renewalTime.Add(int64(quick().mono - sent.mono))
	if last == nil {
		return
	}
	if gap := quick().mono - last.mono - hold; gap > 0 {
		s.suspensions.Add(1)
		s.suspended.Add(int64(gap))
	}
}

// UsersStats count what a node has done for users since it joined. UsersOptions.Opened learns of
// openings.
type UsersStats struct {
	Failed int64 // times that a user's hub could not be opened
	Moved  int64 // users moved to other nodes
}

type usersStats struct{ failed, moved atomic.Int64 }

// Stats returns the counters.
func (u *Users) Stats() UsersStats {
	return UsersStats{Failed: u.stats.failed.Load(), Moved: u.stats.moved.Load()}
}

// Stats returns the counters.
func (n *Node) Stats() Stats {
	s := &n.stats
	var age time.Duration
	if sent := n.lease.granted.Load(); sent != nil {
		age = quick().mono - sent.mono
	}
	return Stats{
		Held: n.lease.Held(), Age: age, Members: len(n.Members()),
		Renewals: s.renewals.Load(), RenewalsFailed: s.renewalsFailed.Load(), RenewalTime: time.Duration(s.renewalTime.Load()),
		Suspensions: s.suspensions.Load(), Suspended: time.Duration(s.suspended.Load()),
		Lost: s.lost.Load(), Ended: s.ended.Load(), WatchRestarts: s.watchRestarts.Load(),
		BadRecords: s.badRecords.Load(), PeersRefused: s.peersRefused.Load(),
		Hints: n.hints.read.Load(), HintsUnknown: n.hints.unknown.Load(), HintsFailed: n.hints.silence.Load(),
	}
}
