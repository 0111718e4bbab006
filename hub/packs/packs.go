package packs

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tabhub/hub/broadcast"
	"tabhub/hub/core"
	"tabhub/hub/offer/pack"
	"tabhub/spec"
)

// MaxPacks is how many packs a user may have, with drafts.
const MaxPacks = 64

// The errors of changes, beside those of the store.
var (
	ErrNoPack     = errors.New("there is no pack of that name; `tabhub pack list` shows those that there are")
	ErrNotWaiting = errors.New("that version does not wait any more: it was accepted or rejected, or another one has taken its place")
	ErrFull       = errors.New("there are 64 packs already: remove one first")
)

// State is what there is of one pack. It is immutable.
type State struct {
	Name    string
	Active  *Version // gives its tools; nil: the pack is a draft
	Waiting *Version // waits for the owner to accept or reject it; nil: none does
}

// Version is a document of a pack, and how it has come.
type Version struct {
	*pack.Pack
	Added time.Time // when it was accepted or, while it waits, when it came
	By    string    // by what means, as in the record
	From  string    // the file, or the address of the page where it was recorded; "" if there is none
}

// Packs are the packs of one user. Its methods are safe for concurrent use.
type Packs struct {
	core    *core.Core
	rules   *core.Rules
	changed broadcast.Signal
	table   atomic.Pointer[table] // never nil

	changes []func() // static once the hub is open

	editing sync.Mutex // held while packs are changed; taken before the locks of Core and Rules
}

// table is what there is of all packs. It is immutable.
type table struct {
	packs  map[string]State
	states []State           // by name
	active []spec.ActivePack // by name
}

// Open returns the packs that the store has. It must come before Core.Restore, which asks for them.
func Open(c *core.Core, rules *core.Rules) *Packs {
	p := &Packs{core: c, rules: rules}
	packs := map[string]State{}
	for _, d := range c.Documents(kind) {
		s, err := decode(d)
		if err != nil {
			c.Log.Warn("stored pack left out", "pack", d.ID, "err", err)
			continue
		}
		packs[s.Name] = s
	}
	p.table.Store(newTable(packs))
	return p
}

func newTable(packs map[string]State) *table {
	t := &table{packs: packs, states: []State{}, active: []spec.ActivePack{}}
	for _, s := range packs {
		t.states = append(t.states, s)
	}
	slices.SortFunc(t.states, func(a, b State) int { return cmp.Compare(a.Name, b.Name) })
	for _, s := range t.states {
		if s.Active != nil {
			t.active = append(t.active, s.Active.Active())
		}
	}
	return t
}

// OnChange has f called each time that other versions are active, which must be before the hub is served. f must
// not change packs.
func (p *Packs) OnChange(f func()) { p.changes = append(p.changes, f) }

// Pack returns an active pack; nil if that version is none.
func (p *Packs) Pack(ref spec.PackRef) *pack.Pack {
	if a := p.table.Load().packs[ref.Name].Active; a != nil && a.Hash == ref.Hash {
		return a.Pack
	}
	return nil
}

// PackTool returns a tool of an active pack; nil if that version is none, or has no such tool.
func (p *Packs) PackTool(ref spec.PackRef, tool string) *pack.Tool {
	if of := p.Pack(ref); of != nil {
		return of.Tool(tool)
	}
	return nil
}

// PackAdded returns when the active version of a pack was accepted; zero if there is none.
func (p *Packs) PackAdded(name string) time.Time {
	if a := p.table.Load().packs[name].Active; a != nil {
		return a.Added
	}
	return time.Time{}
}

// Script returns the document of an active pack with a script; false if that version is none, or has no script.
func (p *Packs) Script(ref spec.PackRef) (document string, ok bool) {
	of := p.Pack(ref)
	if of == nil || of.Script == "" {
		return "", false
	}
	return string(of.Text()), true
}

// List returns all packs by name. The caller must not modify it.
func (p *Packs) List() []State { return p.table.Load().states }

// State returns what there is of a pack.
func (p *Packs) State(name string) (State, bool) {
	s, ok := p.table.Load().packs[name]
	return s, ok
}

// Active returns what browsers are told of the active packs, by name. The caller must not modify it.
func (p *Packs) Active() []spec.ActivePack { return p.table.Load().active }

// Changed returns a channel that is closed after the next change.
func (p *Packs) Changed() <-chan struct{} { return p.changed.Wait() }

// Watch calls tell with the active packs, and again when these have changed. It blocks until ctx ends or the
// Core does.
func (p *Packs) Watch(ctx context.Context, tell func(spec.Packs)) {
	var told []spec.ActivePack
	for {
		changed := p.Changed()
		if now := p.Active(); told == nil || !slices.EqualFunc(told, now, func(a, b spec.ActivePack) bool { return a.PackRef == b.PackRef }) {
			told = now
			tell(spec.Packs{Packs: now})
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-p.core.Done():
			return
		}
	}
}
