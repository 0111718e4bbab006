package tenant

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Limits bound what each user takes of a process that others use, too. 0 bounds nothing.
type Limits struct {
	Rate    int // requests a second, in the long run; burst times as many at once
	Calls   int // calls under way, which the Hub bounds; of requests there may be spare more
	Sockets int // WebSockets, event streams and bridges at once, of clients, and as many of the user's browsers and pages
}

// Shares gives each user of a process a Share. Its methods are safe for concurrent use.
type Shares struct {
	limits            Limits
	requests, sockets atomic.Int64 // refused
}

const (
	// spare is how many requests may be under way beside calls, of which some stop these.
	spare = 64
	// burst is how many seconds' worth of requests may come at once.
	burst = 4
	// refusalPause is how long a request waits to be refused, and up to half as long again, so that a
	// client that repeats it at once does not keep the process busy with refusals; maxPaused is how many
	// of a user wait.
	refusalPause = time.Second
	maxPaused    = 256
)

// NewShares returns Shares within the limits.
func NewShares(l Limits) *Shares { return &Shares{limits: l} }

// New returns what one user may take, of which nothing is taken yet. Of a nil Shares it is nil.
func (all *Shares) New() *Share {
	if all == nil {
		return nil
	}
	s := &Share{of: all, limits: all.limits}
	for i := range s.lanes {
		s.lanes[i].rate = rate.NewLimiter(rate.Inf, 0)
		if r := s.limits.Rate; r > 0 {
			s.lanes[i].rate = rate.NewLimiter(rate.Limit(r), burst*r)
		}
	}
	return s
}

// Refused returns how many requests of all users were refused, and how many sockets and streams.
func (all *Shares) Refused() (requests, sockets int64) {
	if all == nil {
		return 0, 0
	}
	return all.requests.Load(), all.sockets.Load()
}

// Share is what one user takes of a process. A nil Share lets everything pass. All methods are
// safe for concurrent use.
type Share struct {
	of     *Shares
	limits Limits
	lanes  [2]lane // of the user, and of clients: an agent that asks too much must not keep its owner from stopping it
}

type lane struct {
	rate    *rate.Limiter
	under   atomic.Int64
	sockets atomic.Int64
	paused  atomic.Int64
}

// LimitError says which of a user's Limits is in the way.
type LimitError struct{ text string }

func (e *LimitError) Error() string { return e.text }

// Request admits a request, of a client or of the user, until leave is called. Its error is a
// *LimitError, which it returns after a pause; the pause ends early when gone is closed.
func (s *Share) Request(client bool, gone <-chan struct{}) (leave func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	l, most := s.lane(client), s.limits.Calls
	if most > 0 {
		most += spare
	}
	return s.take(l, &l.under, most, "%d requests of this user are under way already; wait for some to end", &s.of.requests, gone)
}

// Socket is Request for a WebSocket, an event stream or a bridge.
func (s *Share) Socket(client bool, gone <-chan struct{}) (leave func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	l, of := s.lane(client), "browsers and pages"
	if client {
		of = "clients"
	}
	return s.take(l, &l.sockets, s.limits.Sockets, "%d sockets and streams of this user's "+of+" are open already; close some", &s.of.sockets, gone)
}

func (s *Share) lane(client bool) *lane {
	if client {
		return &s.lanes[1]
	}
	return &s.lanes[0]
}

// take takes one of at most most things that are counted by n.
func (s *Share) take(l *lane, n *atomic.Int64, most int, tooMany string, refused *atomic.Int64, gone <-chan struct{}) (leave func(), err error) {
	leave = func() { n.Add(-1) }
	switch now := n.Add(1); {
	case most > 0 && now > int64(most):
		err = &LimitError{fmt.Sprintf(tooMany, most)}
	case !l.rate.Allow():
		err = &LimitError{fmt.Sprintf("this user has asked more than %d times a second, and nothing was done; try again in a second", s.limits.Rate)}
	default:
		return leave, nil
	}
	leave()
	refused.Add(1)
	l.pause(gone)
	return nil, err
}

// pause makes a refused request wait.
func (l *lane) pause(gone <-chan struct{}) {
	defer l.paused.Add(-1)
	if l.paused.Add(1) > maxPaused {
		return
	}
	t := time.NewTimer(refusalPause + rand.N(refusalPause/2))
	defer t.Stop()
	select {
	case <-t.C:
	case <-gone:
	}
}
