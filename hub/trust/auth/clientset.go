package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"tabhub/storage/private"
)

// clientSet is the clients of one document: those of all users, or those of one.
type clientSet struct {
	doc     private.Document
	unsaved atomic.Bool // a client was used since

	mu     sync.Mutex    // held for changes
	closed error         // why nothing can be changed any more; nil: it can
	all    []*credential // the oldest first; immutable, replaced with Clients.mu held as well
}

// clientsFile is what the file or a document of Clients holds. It has no token.
type clientsFile struct {
	Clients []clientRecord `json:"clients"`
}

type clientRecord struct {
	Client
	Sum string `json:"sha256,omitempty"` // of the token
}

// readClients reads a document. Each of its clients has to be as check wants it.
func readClients(body []byte, check func(Client) error) (all []*credential, err error) {
	if body == nil {
		return nil, nil
	}
	var f clientsFile
	if err := json.Unmarshal(body, &f); err != nil {
		return nil, err
	}
	for _, r := range f.Clients {
		if r.Sum != "" && len(r.Sum) != hex.EncodedLen(sha256.Size) {
			return nil, errors.New("it holds something else than the hash of a token")
		}
		if err := check(r.Client); err != nil {
			return nil, err
		}
		all = append(all, newCredential(r.Client, r.Sum))
	}
	return all, nil
}

// save stores the clients. The caller holds s.mu.
func (s *clientSet) save(all []*credential, wait bool) error {
	f := clientsFile{Clients: []clientRecord{}}
	for _, c := range all {
		f.Clients = append(f.Clients, clientRecord{c.client(), c.sum})
	}
	if err := s.doc.Write(f, wait); err != nil {
		return fmt.Errorf("the clients cannot be written: %w", err)
	}
	return nil
}
