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

// grants are random secrets, each of which stands for an auth.Identity for a while. They
// are known to this process alone and end with it, or with the user's hub in it. Safe for
// concurrent use.
type grants struct {
	dir     auth.Directory // learns whose they are; nil: nobody needs it
	life    time.Duration  // how long one lasts
	perUser int            // how many a user may have; the one that ends first goes

	mu  sync.Mutex
	all map[[sha256.Size]byte]grant // by the hash of the secret; Expires is set
}

// grant is what a secret stands for.
type grant struct {
	auth.Identity
	host string    // the only one that it is good at, see dashboardHost; "": all others
	used time.Time // last, by a person
	hint string    // what it is called in the directory; "": it is not there

	valid context.Context // until it is taken, or forgotten, or Identity.Revoked
	end   context.CancelFunc
}

func newGrants(life time.Duration, perUser int, dir auth.Directory) *grants {
	return &grants{dir: dir, life: life, perUser: perUser, all: make(map[[sha256.Size]byte]grant)}
}

// add makes a secret of at least 128 bits that stands for id until its life is over,
// or id expires or is revoked, at a host. The error is the directory's.
func (g *grants) add(id auth.Identity, host string) (secret string, expires time.Time, err error) {
	now := time.Now()
	expires = now.Add(g.life)
	if id.Expires.IsZero() || id.Expires.After(expires) {
		id.Expires = expires
	}
	secret = rand.Text()
	added := grant{Identity: id, host: host, used: now}
	if g.dir != nil {
		added.hint, _ = auth.HintOf(secret)
		if err := g.dir.Hint(added.hint, id.User, id.Expires); err != nil {
			return "", time.Time{}, err
		}
	}
	g.mu.Lock()
	replaced := g.makeRoomLocked(id.User)
	until := id.Revoked
	if until == nil {
		until = context.Background()
	}
	added.valid, added.end = context.WithCancel(until)
	g.all[sha256.Sum256([]byte(secret))] = added
	g.mu.Unlock()
	g.unhint(replaced)
	return secret, id.Expires, nil
}

// unhint takes a hint out of the directory, "" for none. It may block.
func (g *grants) unhint(hint string) {
	if hint != "" {
		g.dir.Forget(hint)
	}
}

// makeRoomLocked forgets what is over, and one of the user's if there are too many, whose hint it
// returns. The directory itself forgets what is over.
func (g *grants) makeRoomLocked(user spec.UserID) (hint string) {
	var oldest [sha256.Size]byte
	var first time.Time
	n := 0
	for sum, id := range g.all {
		if id.Ended() {
			g.forgetLocked(sum)
			continue
		}
		if id.User != user {
			continue
		}
		if n++; n == 1 || id.Expires.Before(first) {
			oldest, first = sum, id.Expires
		}
	}
	if n < g.perUser {
		return ""
	}
	hint = g.all[oldest].hint
	g.forgetLocked(oldest)
	return hint
}

// forgetAll forgets a user's. The directory does so by itself, when they end.
func (g *grants) forgetAll(user spec.UserID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for sum, id := range g.all {
		if id.User == user {
			g.forgetLocked(sum)
		}
	}
}

// forgetLocked ends what is done with a secret.
func (g *grants) forgetLocked(sum [sha256.Size]byte) {
	if forgotten, ok := g.all[sum]; ok {
		forgotten.end()
		delete(g.all, sum)
	}
}

// get returns what a secret stands for, Revoked when it is not good any more. It looks the secret up by its hash, so the time
// that it takes tells nothing of the others.
func (g *grants) get(secret string) (grant, bool) {
	sum := sha256.Sum256([]byte(secret))
	g.mu.Lock()
	defer g.mu.Unlock()
	id, ok := g.all[sum]
	if !ok || id.Ended() {
		return grant{}, false
	}
	id.Revoked = id.valid
	return id, true
}

// take is get for a secret that is good once.
func (g *grants) take(secret string) (grant, bool) {
	sum := sha256.Sum256([]byte(secret))
	g.mu.Lock()
	id, ok := g.all[sum]
	g.forgetLocked(sum)
	g.mu.Unlock()
	g.unhint(id.hint)
	return id, ok && !id.Ended()
}

// use notes that a person has used what a secret stands for.
func (g *grants) use(secret string) {
	sum := sha256.Sum256([]byte(secret))
	g.mu.Lock()
	defer g.mu.Unlock()
	if used, ok := g.all[sum]; ok {
		used.used = time.Now()
		g.all[sum] = used
	}
}
