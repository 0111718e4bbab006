package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"tabhub/spec"
	"tabhub/storage/private"
)

// Document is where something of one user's is kept: with the state of the user's hub, if that
// moves from process to process.
type Document struct {
	// Body is what was saved last, nil if nothing was.
	Body []byte
	// Save replaces it, and blocks until that is on disk unless wait is false. It fails when
	// another hub has become the user's. Nothing of the body may be changed afterwards.
	Save func(body []byte, wait bool) error
}

// How long what is kept may lack when a client was used last. In a document that is a message
// to all who keep it.
const (
	saveUsedFile     = time.Minute
	saveUsedDocument = time.Hour
)

// clientSet is what is kept together: the clients of all users, or those of one.
type clientSet struct {
	save    func(all []*credential, wait bool) error
	rest    time.Duration // between two saves of who was used when
	unsaved atomic.Bool   // somebody was used since

	mu     sync.Mutex    // held for changes
	closed error         // why nothing is changed any more; nil: it is
	all    []*credential // the oldest first; immutable, replaced with Clients.mu held as well
}

// clientsFile is what the file or a document of Clients holds. It has no token.
type clientsFile struct {
	Clients []clientRecord `json:"clients"`
}

type clientRecord struct {
	Client
	Sum sum `json:"sha256,omitzero"` // of the token
}

func readClients(path string) ([]*credential, error) {
	var f clientsFile
	err := private.ReadJSON(path, &f)
	if _, ok := errors.AsType[*private.FormatError](err); ok {
		return nil, fmt.Errorf("%s holds no clients; restore it, or delete it and run `tabhub install` and `tabhub token mint` again for yours", path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the clients cannot be read: %w", err)
	}
	return f.credentials(), nil
}

func (f *clientsFile) credentials() (all []*credential) {
	for _, r := range f.Clients {
		all = append(all, newCredential(r.Client, r.Sum))
	}
	return all
}

func fileOf(all []*credential) clientsFile {
	f := clientsFile{Clients: []clientRecord{}}
	for _, c := range all {
		f.Clients = append(f.Clients, clientRecord{c.client(), c.sum})
	}
	return f
}

func writeClients(path string, all []*credential, durable bool) error {
	if err := private.WriteJSON(path, fileOf(all), durable); err != nil {
		return fmt.Errorf("the clients cannot be written: %w", err)
	}
	return nil
}

// parseClients reads a user's document.
func parseClients(user spec.UserID, body []byte) ([]*credential, error) {
	if body == nil {
		return nil, nil
	}
	var f clientsFile
	if err := json.Unmarshal(body, &f); err != nil {
		return nil, fmt.Errorf("the clients of user %q cannot be read: %w", user, err)
	}
	for _, r := range f.Clients {
		if r.User != user {
			return nil, fmt.Errorf("the clients of user %q cannot be read: one is user %q's", user, r.User)
		}
	}
	return f.credentials(), nil
}

func formatClients(all []*credential) ([]byte, error) { return json.Marshal(fileOf(all)) }
