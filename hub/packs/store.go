package packs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tabhub/hub/offer/pack"
	"tabhub/storage"
)

// kind is that of the documents in the store. Their ids are the names of the packs.
const kind = "pack"

// stored is the body of a document.
type stored struct {
	Active  *storedVersion `json:"active,omitempty"`
	Waiting *storedVersion `json:"waiting,omitempty"`
}

// storedVersion has the text of a version as a string, so that its bytes, and so its hash, stay.
type storedVersion struct {
	Text  string    `json:"text"`
	Added time.Time `json:"added"`
	By    string    `json:"by"`
	From  string    `json:"from,omitempty"`
}

func encode(s State) json.RawMessage {
	write := func(v *Version) *storedVersion {
		if v == nil {
			return nil
		}
		return &storedVersion{string(v.Text()), v.Added, v.By, v.From}
	}
	body, err := json.Marshal(stored{write(s.Active), write(s.Waiting)})
	if err != nil {
		panic(fmt.Sprintf("packs: %v", err)) // strings and times
	}
	return body
}

// decode reads a document. A version that this tabhub does not take any more is left out.
func decode(d storage.Document) (State, error) {
	var body stored
	if err := json.Unmarshal(d.Body, &body); err != nil {
		return State{}, err
	}
	var failed error
	read := func(v *storedVersion) *Version {
		if v == nil {
			return nil
		}
		of, err := pack.Parse([]byte(v.Text))
		if err != nil {
			failed = err
			return nil
		}
		return &Version{of, v.Added, v.By, v.From}
	}
	s := State{d.ID, read(body.Active), read(body.Waiting)}
	if s.isEmpty() {
		return s, cmp.Or(failed, errors.New("it has no version"))
	}
	return s, nil
}

func (s State) isEmpty() bool { return s.Active == nil && s.Waiting == nil }

// store stores what there is of a pack, and blocks until that is synced.
func (p *Packs) store(s State) error {
	synced := make(chan error, 1)
	tell := func(err error) { synced <- err }
	if s.isEmpty() {
		p.core.DeleteDocument(kind, s.Name, tell)
	} else {
		p.core.SaveDocument(storage.Document{Kind: kind, ID: s.Name, Body: encode(s)}, tell)
	}
	select {
	case err := <-synced:
		if err != nil && p.core.Err() == nil {
			return fmt.Errorf("it could not be stored: %w", err)
		}
	case <-p.core.Done():
	}
	return p.core.Err()
}
