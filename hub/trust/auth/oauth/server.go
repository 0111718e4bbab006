package oauth

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/record"
	"tabhub/spec"
	"tabhub/storage/private"
	"tabhub/tabtransport"
)

const (
	codeLife   = time.Minute
	codeKept   = 10 * time.Minute // after it was made: a code that is shown twice ends its grant
	accessLife = 10 * time.Minute
	idleLife   = 90 * 24 * time.Hour // of a grant whose tokens are not replaced
	maxGrants  = 64

	// repeatLife is how long a refresh token that was used is answered as it was then: the
	// answer may have been lost, or the windows of one client have asked at the same time.
	repeatLife = 10 * time.Second
)

// Options configure a Server. Clients and Approve must be set.
type Options struct {
	Clients *auth.Clients // gets a client for each grant
	// Approve asks the owner whether a client may use the hub, as consent.Desk.SignIn does,
	// and blocks until there is an answer.
	Approve func(context.Context, consent.SignIn) (consent.Answer, error)
	// Record gets an entry for each client that signs in, and for each grant that ends. Nil discards.
	Record func(record.Entry)
	Log    *slog.Logger // nil discards
}

// Server is the authorization server. It is safe for concurrent use. Verify and Register do not block;
// Token and Revoke block until what they change is kept.
type Server struct {
	clients   *auth.Clients
	approve   func(context.Context, consent.SignIn) (consent.Answer, error)
	record    func(record.Entry)
	log       *slog.Logger
	documents *http.Client

	sources sources

	state atomic.Pointer[state]

	mu      sync.Mutex        // held for changes
	doc     private.Document  // where the state is kept
	codes   map[string]*code  // by their hash
	repeats map[string]repeat // by the id of the grant; its latest
	entries []record.Entry    // of what was done with mu held; see recordEntries
}

// state is what the file or the document holds. It is immutable.
type state struct {
	Key    []byte  `json:"key"` // of the ids that clients get
	Grants []grant `json:"grants,omitempty"`
}

// grant is the sign-in of a client. Stored are only the hashes of its tokens.
type grant struct {
	ID       string    `json:"id"`
	Client   string    `json:"client"`   // the id of the auth.Client
	ClientID string    `json:"clientId"` // the hash of its OAuth client id
	Family   string    `json:"family"`   // what all its refresh tokens have in common
	Refresh  string    `json:"refresh"`  // the one that is good
	Access   []access  `json:"access"`   // the latest, at most two
	Used     time.Time `json:"used"`     // when the tokens were replaced
}

// access is an access token.
type access struct {
	Sum     string    `json:"sha256"`
	Expires time.Time `json:"expires"`
}

// New returns a Server that has no grants until Load.
func New(o Options) *Server {
	s := &Server{
		clients: o.Clients, approve: o.Approve, record: o.Record, log: o.Log, documents: newFetcher(),
		sources: newSources(),
		codes:   make(map[string]*code),
		repeats: make(map[string]repeat),
	}
	if s.record == nil {
		s.record = func(record.Entry) {}
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.Unload()
	return s
}

// Load makes the grants known that are in doc, and has them kept there. If it holds none yet,
// Load blocks until it does.
func (s *Server) Load(doc private.Document) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if doc.Body == nil {
		now := newState()
		if err := doc.Write(now, true); err != nil {
			return fmt.Errorf("the grants of clients cannot be kept: %w", err)
		}
		s.doc = doc
		s.state.Store(now)
		return nil
	}
	now := new(state)
	if err := json.Unmarshal(doc.Body, now); err != nil || len(now.Key) < 16 {
		return errors.Join(ErrNoGrants, err)
	}
	s.doc = doc
	s.state.Store(now)
	return nil
}

// ErrNoGrants says that a document is something else.
var ErrNoGrants = errors.New("the document holds no grants")

// Unload forgets the grants until the next Load. A client with a code must begin again.
func (s *Server) Unload() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doc = private.Document{Save: func([]byte, bool) error { return tabtransport.ErrGoingAway }}
	s.state.Store(newState())
	clear(s.codes)
	clear(s.repeats)
}

func newState() *state {
	now := &state{Key: make([]byte, 32)}
	rand.Read(now.Key)
	return now
}

// find returns the grant of that id, nil if there is none.
func (s *state) find(id string) *grant {
	i := slices.IndexFunc(s.Grants, func(g grant) bool { return g.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Grants[i]
}

// putLocked stores g, in place of an older grant of its id. It drops grants that were not used for long,
// and those whose client was revoked.
func (s *Server) putLocked(g grant) error {
	now := s.state.Load()
	known := s.clients.List(spec.LocalUser)
	next := state{Key: now.Key}
	for _, other := range now.Grants {
		alive := slices.ContainsFunc(known, func(c auth.Client) bool { return c.ID == other.Client })
		if alive && other.ID != g.ID {
			next.Grants = append(next.Grants, other)
		}
	}
	next.Grants = append(next.Grants, g) // so the first was used least lately
	var over []grant
	for len(next.Grants) > maxGrants || time.Since(next.Grants[0].Used) > idleLife {
		over = append(over, next.Grants[0])
		next.Grants = next.Grants[1:]
	}
	if err := s.writeLocked(&next); err != nil {
		return err
	}
	for _, old := range over {
		_ = s.clients.Revoke(spec.LocalUser, old.Client) // its tokens are void already
	}
	return nil
}

// endLocked takes a grant back, and the client's identity with it. why is for the record.
func (s *Server) endLocked(id, why string) error {
	now := s.state.Load()
	g := now.find(id)
	if g == nil {
		return nil
	}
	s.noteLocked(g.Client, why)
	// First the client: what it has open ends with that, whatever becomes of the file.
	err := s.clients.Revoke(spec.LocalUser, g.Client)
	if errors.Is(err, auth.ErrNoClient) {
		err = nil
	}
	next := state{Key: now.Key, Grants: slices.DeleteFunc(slices.Clone(now.Grants), func(o grant) bool { return o.ID == id })}
	return errors.Join(err, s.writeLocked(&next))
}

// noteLocked notes for the record what becomes of a client's credential. One that was
// revoked is there already.
func (s *Server) noteLocked(client, what string) {
	if c, err := s.clients.Find(spec.LocalUser, client); err == nil {
		s.entries = append(s.entries, record.Entry{Time: time.Now(), Event: record.Client, Client: c.ID, Name: c.Name, Outcome: "ok", Reason: what})
	}
}

// recordEntries records what was noted.
func (s *Server) recordEntries() {
	s.mu.Lock()
	noted := s.entries
	s.entries = nil
	s.mu.Unlock()
	for _, e := range noted {
		s.record(e)
	}
}

func (s *Server) writeLocked(next *state) error {
	if err := s.doc.Write(next, true); err != nil {
		return fmt.Errorf("the grants of clients cannot be written: %w", err)
	}
	s.state.Store(next)
	return nil
}
