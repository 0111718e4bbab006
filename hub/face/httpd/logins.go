package httpd

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"

	"tabhub/hub/trust/auth"
	"tabhub/spec"
)

// logins are random texts, each of which stands for an auth.Identity for a while. Only this process
// knows them. They end with it, or when the user's hub in it is closed. Safe for concurrent use.
type logins struct {
	dir     auth.Directory // is given the user of each; nil: there is none
	life    time.Duration  // how long one lasts
	perUser int            // how many a user may have; a new one replaces the one that ends first

	mu  sync.Mutex
	all map[[sha256.Size]byte]login // by the hash of the text; Expires is set
}

// login is what such a text stands for.
type login struct {
	auth.Identity
	host string    // the only one that it is good at, see dashboardHost; "": all others
	used time.Time // last, by a person
	hint string    // what it is called in the directory; "": it is not there

	valid context.Context // until it is taken, or forgotten, or Identity.Revoked
	end   context.CancelFunc
}

func newLogins(life time.Duration, perUser int, dir auth.Directory) *logins {
	return &logins{dir: dir, life: life, perUser: perUser, all: make(map[[sha256.Size]byte]login)}
}

// add makes a text of at least 128 bits that stands for id at a host, until its life is over or id
// expires or is revoked. The error is the directory's.
func (s *logins) add(id auth.Identity, host string) (text string, expires time.Time, err error) {
	now := time.Now()
	expires = now.Add(s.life)
	if id.Expires.IsZero() || id.Expires.After(expires) {
		id.Expires = expires
	}
	text = rand.Text()
	added := login{Identity: id, host: host, used: now}
	if s.dir != nil {
		added.hint, _ = auth.HintOf(text)
		if err := s.dir.Hint(added.hint, id.User, id.Expires); err != nil {
			return "", time.Time{}, err
		}
	}
	s.mu.Lock()
	replaced := s.makeRoomLocked(id.User)
	until := id.Revoked
	if until == nil {
		until = context.Background()
	}
	added.valid, added.end = context.WithCancel(until)
	s.all[sha256.Sum256([]byte(text))] = added
	s.mu.Unlock()
	s.unhint(replaced)
	return text, id.Expires, nil
}

// unhint removes a hint from the directory, "" for none. It may block.
func (s *logins) unhint(hint string) {
	if hint != "" {
		s.dir.Forget(hint)
	}
}

// makeRoomLocked forgets what has expired, and one of the user's if there are too many, whose hint
// it returns. The directory itself forgets what has expired.
func (s *logins) makeRoomLocked(user spec.UserID) (hint string) {
	var oldest [sha256.Size]byte
	var first time.Time
	n := 0
	for sum, id := range s.all {
		if id.Ended() {
			s.forgetLocked(sum)
			continue
		}
		if id.User != user {
			continue
		}
		if n++; n == 1 || id.Expires.Before(first) {
			oldest, first = sum, id.Expires
		}
	}
	if n < s.perUser {
		return ""
	}
	hint = s.all[oldest].hint
	s.forgetLocked(oldest)
	return hint
}

// forgetAll forgets a user's. The directory forgets them by itself, when they expire.
func (s *logins) forgetAll(user spec.UserID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for sum, id := range s.all {
		if id.User == user {
			s.forgetLocked(sum)
		}
	}
}

// forgetLocked ends a login, and the requests in flight that have shown it.
func (s *logins) forgetLocked(sum [sha256.Size]byte) {
	if forgotten, ok := s.all[sum]; ok {
		forgotten.end()
		delete(s.all, sum)
	}
}

// get returns what a text stands for. Revoked is done when it is not good any more. The lookup is by
// hash, so its time says nothing about other secrets.
func (s *logins) get(text string) (login, bool) {
	sum := sha256.Sum256([]byte(text))
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.all[sum]
	if !ok || id.Ended() {
		return login{}, false
	}
	id.Revoked = id.valid
	return id, true
}

// take is get for a text that is good once.
func (s *logins) take(text string) (login, bool) {
	sum := sha256.Sum256([]byte(text))
	s.mu.Lock()
	id, ok := s.all[sum]
	s.forgetLocked(sum)
	s.mu.Unlock()
	s.unhint(id.hint)
	return id, ok && !id.Ended()
}

// use notes that a person has used the page that has a text.
func (s *logins) use(text string) {
	sum := sha256.Sum256([]byte(text))
	s.mu.Lock()
	defer s.mu.Unlock()
	if used, ok := s.all[sum]; ok {
		used.used = time.Now()
		s.all[sum] = used
	}
}
