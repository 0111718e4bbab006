package packs

import (
	"slices"

	"tabhub/hub/core"
	"tabhub/hub/offer/item"
	"tabhub/hub/offer/pack"
	"tabhub/hub/state"
)

// Start lists, from now on, the tools of packs that say where they start, while no tab has them. It must
// come after Core.Restore.
func (p *Packs) Start() {
	if starts := p.starts(); len(starts) > 0 {
		p.core.Update(func(tx *state.Tx) { tx.SetStarts(starts) })
	}
}

// offer makes what the hub lists that which the active packs have.
func (p *Packs) offer() {
	core.DropPacks(p.core)
	starts := p.starts()
	p.core.Update(func(tx *state.Tx) { tx.SetStarts(starts) })
}

// starts returns the tools that are listed while no tab has them: those that the start of their pack has.
func (p *Packs) starts() (starts []state.Start) {
	for _, s := range p.List() {
		if s.Active == nil || s.Active.StartURL() == "" {
			continue
		}
		url := s.Active.StartURL()
		for _, t := range s.Active.AllTools() {
			if !offers(t, url) {
				continue
			}
			it, err := core.ToolItem(p.core, t, item.OriginOf(url))
			if err != nil {
				p.core.Log.Warn("tool of a pack left out", "pack", s.Name, "tool", t.Name, "err", err)
				continue
			}
			starts = append(starts, state.Start{Item: it, URL: url})
		}
	}
	return starts
}

// offers reports whether a tool is offered at an address of its pack.
func offers(t *pack.Tool, url string) bool {
	return len(t.On) == 0 || slices.ContainsFunc(t.On, func(on string) bool {
		p, err := pack.ParsePattern(on)
		return err == nil && p.Matches(url)
	})
}
