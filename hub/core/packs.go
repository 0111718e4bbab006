package core

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tabhub/hub/offer/item"
	"tabhub/hub/offer/pack"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/hub/trust/policy"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Definitions are the packs that the owner has added, as far as a Core asks for them. They are safe for
// concurrent use and do not block.
type Definitions interface {
	// Pack returns a version of a pack that is active; nil if it is not.
	Pack(spec.PackRef) *pack.Pack
	// PackAdded returns when the active version of a pack was added; zero if there is none.
	PackAdded(name string) time.Time
}

// define returns the item of a tool of a pack as the pack defines it. Other items stay as they are.
func define(c *Core, it *item.Item) (*item.Item, error) {
	if it.Pack.Name == "" {
		return it, nil
	}
	of := active(c, it.Pack)
	if of == nil {
		return it, errInactive
	}
	if !of.ReachesOrigin(it.Origin) {
		return it, fmt.Errorf("the pack %s does not match pages of %s", of.Name, it.Origin)
	}
	t := of.Tool(it.Source)
	switch {
	case t != nil:
		return it.Packed(item.Packed{Definition: t.Definition(), Class: t.Class, Repeatable: t.Repeatable, Digest: t.Digest()})
	case of.Script != "":
		return it.Packed(item.Packed{Class: policy.Write, Digest: of.Hash})
	}
	return it, fmt.Errorf("the pack %s has no tool of that name", of.Name)
}

// ToolItem returns the item of an active pack's tool at an origin, as the page itself has it in a tab there.
func ToolItem(c *Core, t *pack.Tool, origin string) (*item.Item, error) {
	domain, err := naming.DomainOf(origin, true)
	if err != nil {
		return nil, err
	}
	ref := rawjson.AppendStringMember(rawjson.AppendStringMember([]byte{'{'}, "name", t.Pack.Name), "hash", t.Pack.Hash)
	raw := rawjson.AppendMember(rawjson.AppendStringMember([]byte{'{'}, "name", t.Name), "pack", append(ref, '}'))
	return c.ParseStored(spec.KindTool, append(raw, '}'), item.Provenance{Domain: domain, Origin: origin, Verified: true})
}

var errInactive = errors.New("that version of the pack is not active: it was removed, or another one was accepted")

var errNoBrowser = errors.New("it claims to be of a pack, and no browser has registered it")

// active returns a version of a pack that is active; nil if it is not.
func active(c *Core, ref spec.PackRef) *pack.Pack {
	if c.Options.Packs == nil {
		return nil
	}
	return c.Options.Packs.Pack(ref)
}

// isActive reports whether an item is of no pack, or of a version that is active.
func isActive(c *Core, it *item.Item) bool { return it.Pack.Name == "" || active(c, it.Pack) != nil }

// DescribePack completes a question about a call, if that is of a pack's tool: with what the call does, and when
// the owner has added the pack.
func DescribePack(c *Core, it *item.Item, q *consent.Call) {
	of := active(c, it.Pack)
	if of == nil {
		return
	}
	t := of.Tool(it.Source)
	if t == nil { // of a script
		t = &pack.Tool{Pack: of}
	}
	q.Title = strings.TrimSuffix(q.Title, " (pack "+of.Name+")") // the question has that already
	q.Added, q.Steps = c.Options.Packs.PackAdded(of.Name), t.Words(q.Args)
}

// ownWins rejects the tools of packs that the site has itself in the same tab.
func ownWins(items []*item.Item, seen map[item.Key]bool, rejected []spec.Rejection) ([]*item.Item, []spec.Rejection) {
	items = slices.DeleteFunc(items, func(it *item.Item) bool {
		own := it.Key()
		own.Pack = ""
		if it.Pack.Name == "" || !seen[own] {
			return false
		}
		rejected = append(rejected, it.Reject(0, errors.New("the site has a tool of that name, which counts instead of the pack's")))
		return true
	})
	return items, rejected
}

// stillActive rejects the items of versions that have become inactive since the items were parsed.
func stillActive(c *Core, items []*item.Item, rejected []spec.Rejection) ([]*item.Item, []spec.Rejection) {
	items = slices.DeleteFunc(items, func(it *item.Item) bool {
		if isActive(c, it) {
			return false
		}
		rejected = append(rejected, it.Reject(0, errInactive))
		return true
	})
	return items, rejected
}

// DropPacks takes the tools of versions of packs that are not active any more from all tabs, those that
// are away included, and from what closed tabs have left. It is for a change of the Definitions.
func DropPacks(c *Core) {
	c.Update(func(tx *state.Tx) {
		tx.DropItems(func(it *item.Item) bool { return !isActive(c, it) })
	})
}
