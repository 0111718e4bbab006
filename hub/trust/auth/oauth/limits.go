package oauth

import (
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Source is the origin of requests, by which they are limited. Each has its own limits, so that none
// takes what others need. The caller of Register and Authorize names it.
type Source string

const (
	// Owner is the source of the user who runs the hub.
	Owner Source = ""
	crowd Source = "others" // of those that came when there were too many
)

const (
	maxSources   = 256
	maxQuestions = 4 // of all sources but the owner at the same time
)

// limits is what a source has left.
type limits struct {
	registrations *rate.Limiter
	clicks        *rate.Limiter // on the page, each of which may fetch a document
	unanswered    *rate.Limiter // questions that the owner did not answer
	asking        bool          // there is one question at a time
}

// sources are the limits of all that have come lately.
type sources struct {
	mu         sync.Mutex
	of         map[Source]*limits
	asking     int           // of them, but for the owner
	unanswered *rate.Limiter // questions of all but the owner: a program with many addresses is many sources
}

func newSources() sources {
	return sources{of: make(map[Source]*limits), unanswered: rate.NewLimiter(rate.Every(3*time.Minute), 20)}
}

func newLimits() *limits {
	return &limits{
		registrations: rate.NewLimiter(rate.Every(time.Second), 30),
		clicks:        rate.NewLimiter(rate.Every(2*time.Second), 10),
		unanswered:    rate.NewLimiter(rate.Every(12*time.Minute), 5),
	}
}

// isUnused reports whether new limits would be the same.
func (l *limits) isUnused() bool {
	for _, r := range []*rate.Limiter{l.registrations, l.clicks, l.unanswered} {
		if r.Tokens() < float64(r.Burst()) {
			return false
		}
	}
	return !l.asking
}

func (s *sources) limitsLocked(from Source) *limits {
	if l := s.of[from]; l != nil {
		return l
	}
	if from != Owner && from != crowd && len(s.of) >= maxSources {
		maps.DeleteFunc(s.of, func(_ Source, l *limits) bool { return l.isUnused() })
		if len(s.of) >= maxSources {
			return s.limitsLocked(crowd)
		}
	}
	l := newLimits()
	s.of[from] = l
	return l
}

// register reports whether a source may register a client.
func (s *sources) register(from Source) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.limitsLocked(from).registrations.Allow() {
		return errorf(TooMany, "too many clients register at this hub; try again in a minute")
	}
	return nil
}

// ask reports whether the owner may be asked for a source. The caller calls end, with whether
// there was an answer.
func (s *sources) ask(from Source) (end func(answered bool), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.limitsLocked(from)
	other := from != Owner
	switch {
	case l.asking, other && s.asking >= maxQuestions:
		return nil, errorf(TooMany, "another client is waiting for the owner's answer; try again when that is over")
	case !l.clicks.Allow(), l.unanswered.Tokens() < 1, other && s.unanswered.Tokens() < 1:
		return nil, errorf(TooMany, "too many clients have asked to sign in; try again in a few minutes")
	}
	l.asking = true
	if other {
		s.asking++
	}
	return func(answered bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		l.asking = false
		if other {
			s.asking--
		}
		if answered {
			return
		}
		l.unanswered.Allow()
		if other {
			s.unanswered.Allow()
		}
	}, nil
}
