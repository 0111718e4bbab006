package packs

import (
	"cmp"
	"fmt"
	"maps"
	"time"

	"tabhub/hub/offer/pack"
	"tabhub/hub/offer/pack/draft"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// AddOptions say how a document has come.
type AddOptions struct {
	By   string // by what means, as in the record
	From string // as in Version
	// Accept: its owner has read it and decided. Otherwise it waits for that.
	Accept bool
}

// What becomes of a version, for the record.
const (
	added    = "added"
	accepted = "accepted"
	rejected = "rejected"
	removed  = "removed"
)

// Add adds a document: as a new pack, or in place of the version of its name that waits; with Accept also
// in place of the active one. The document that is active already is only taken back from what waits. The
// error is ErrFull or the store's.
func (p *Packs) Add(doc *pack.Pack, o AddOptions) (State, error) {
	is := &Version{doc, time.Now(), o.By, o.From}
	err := p.edit(doc.Name, func(was State) (State, change, error) {
		switch {
		case was.Active != nil && was.Active.Hash == doc.Hash:
			return State{doc.Name, was.Active, nil}, change{rejected, o.By, was.Waiting}, nil
		case o.Accept:
			return State{doc.Name, is, nil}, change{accepted, o.By, is}, nil
		}
		return State{doc.Name, was.Active, is}, change{added, o.By, is}, nil
	})
	s, _ := p.State(doc.Name)
	return s, err
}

// Accept makes the version of a pack that waits the active one, if its hash is what its owner has read.
// The error is ErrNoPack, ErrNotWaiting or the store's.
func (p *Packs) Accept(name, hash, by string) error {
	return p.edit(name, func(was State) (State, change, error) {
		if err := was.waits(hash); err != nil {
			return was, change{}, err
		}
		is := &Version{was.Waiting.Pack, time.Now(), by, was.Waiting.From}
		return State{name, is, nil}, change{accepted, by, is}, nil
	})
}

// Reject forgets the version of a pack that waits, and a draft as a whole. The errors are Accept's.
func (p *Packs) Reject(name, hash, by string) error {
	return p.edit(name, func(was State) (State, change, error) {
		return State{name, was.Active, nil}, change{rejected, by, was.Waiting}, was.waits(hash)
	})
}

// Remove forgets a pack: its tools are gone from all tabs, and the owner's answers that allow it anything
// do not count any more. The error is ErrNoPack or the store's.
func (p *Packs) Remove(name, by string) error {
	return p.edit(name, func(was State) (State, change, error) {
		if was.isEmpty() {
			return was, change{}, ErrNoPack
		}
		of := was.Active
		if of == nil {
			of = was.Waiting
		}
		return State{Name: name}, change{removed, by, of}, nil
	})
}

// Recorded takes in what a person has shown in a browser, as a version that waits, and returns its pack's name.
// What differs from the version of that name which there is becomes arguments.
func (p *Packs) Recorded(r *spec.Recorded, by string) (name string, err error) {
	var before *spec.Pack
	if s, ok := p.State(r.Name); ok {
		before = &cmp.Or(s.Waiting, s.Active).Pack.Pack
	}
	draft, err := draft.Make(r, before)
	if err != nil {
		return "", err
	}
	if r.Name == "" { // it has that of its site: no other pack is to change
		named := draft.Name
		for n := 2; ; n++ {
			if _, taken := p.State(draft.Name); !taken {
				break
			}
			draft.Name = fmt.Sprintf("%.28s-%d", named, n)
		}
	}
	doc, err := pack.New(draft)
	if err != nil {
		return "", fmt.Errorf("what was recorded makes no pack: %w", err)
	}
	_, err = p.Add(doc, AddOptions{By: by, From: r.URL})
	return doc.Name, err
}

// waits returns why the owner cannot decide about a version.
func (s State) waits(hash string) error {
	switch {
	case s.isEmpty():
		return ErrNoPack
	case s.Waiting == nil || s.Waiting.Hash != hash:
		return ErrNotWaiting
	}
	return nil
}

// change is what an edit does, for the record.
type change struct {
	what, by string
	of       *Version
}

// edit changes what there is of a pack, by f. It holds once it is stored; then no tab has items of a
// version that is not active, and browsers are told.
func (p *Packs) edit(name string, f func(was State) (State, change, error)) error {
	p.editing.Lock()
	defer p.editing.Unlock()
	packs := p.table.Load().packs
	was, known := packs[name]
	is, c, err := f(was)
	switch {
	case err != nil:
		return err
	case known && is == was:
		return nil
	case !known && len(packs) >= MaxPacks:
		return ErrFull
	}
	if is.Active != was.Active && doesMore(was.Active, is.Active) {
		// First, so that no version is active under answers about another.
		if _, err := p.rules.WithdrawPack(name, c.by); err != nil {
			return err
		}
	}
	if err := p.store(is); err != nil {
		return err
	}
	packs = maps.Clone(packs)
	if packs[name] = is; is.isEmpty() {
		delete(packs, name)
	}
	p.table.Store(newTable(packs))
	if is.Active != was.Active {
		p.offer()
		for _, f := range p.changes {
			f()
		}
	}
	p.changed.Fire()
	p.core.NoteChange()
	p.core.Record(record.Entry{Time: time.Now(), Event: record.Pack, By: c.by, Pack: name, Outcome: c.what, Reason: c.of.Hash})
	return nil
}

// doesMore reports whether answers of the owner about one version do not stand for another: the pack has gone,
// or may do what they were not asked about.
func doesMore(was, is *Version) bool {
	return was == nil || is == nil || pack.ActsMore(was.Pack, is.Pack)
}
