package lists

import (
	"fmt"
	"slices"
	"strings"

	"tabhub/hub/core"
	"tabhub/hub/offer/item"
	"tabhub/hub/state"
	"tabhub/hub/trust/consent"
	"tabhub/spec"
)

// OfTab returns which elements of a list stand for something that a tab has registered, alone
// or as one of several.
func (ls *Lists) OfTab(addr spec.TabAddr, kind ListKind) func(*Item) bool {
	itemKind, _ := kind.items()
	offers := core.View(ls.core, func(s *state.State) map[item.Key]int { return s.Tab(addr).Offers(itemKind) })
	return func(it *Item) bool {
		number, ok := offers[it.item.Key()]
		return ok && (it.Tab == 0 || it.Tab == number)
	}
}

// FindFor returns the item that a public name or URI stands for, listed or not. A
// resource is also found by a URI that one of the templates matches; the item is
// the template then. What the rules hide from the client is unknown. The error is an
// *UnknownError.
func (ls *Lists) FindFor(by *consent.Caller, kind spec.Kind, name string) (Item, error) {
	ls.core.RLock()
	defer ls.core.RUnlock()
	l, ok := ls.core.State().Find(ls.rules.By(by), kind, name)
	if !ok || by != nil && !ls.showsItem(by, l.Item) {
		return Item{}, ls.UnknownLocked(by, kind, name)
	}
	var one block
	one.add(l)
	it := one.items[0]
	it.definition = l.Item.AppendDefinition(nil, l.Public, prefix(l))
	return it, nil
}

// Find is FindFor of a caller that sees everything.
func (ls *Lists) Find(kind spec.Kind, name string) (Item, error) { return ls.FindFor(nil, kind, name) }

// UnknownLocked makes the error for a name that is unknown. It names only what the client
// is to know of. The caller holds h.mu.
func (ls *Lists) UnknownLocked(by *consent.Caller, kind spec.Kind, name string) error {
	of := ls.rules.By(by)
	near := slices.DeleteFunc(ls.core.State().Nearest(of, kind, name), func(name string) bool {
		l, ok := ls.core.State().Find(of, kind, name)
		return !ok || by != nil && !ls.showsItem(by, l.Item)
	})
	return &UnknownError{Kind: kind, Name: name, Nearest: near, Why: ls.boundWordsLocked(by)}
}

// showsItem reports whether a client is to know of an item.
func (ls *Lists) showsItem(by *consent.Caller, it *item.Item) bool {
	a := core.ActionFor(by, it, it.Source)
	return ls.rules.Shows(&a)
}

// UnknownError says that a name is unknown: JSON-RPC -32602.
type UnknownError struct {
	Kind    spec.Kind
	Name    string
	Nearest []string // at most 3 names that are known
	Why     string   // further words, "" or from "; " on
}

func (e *UnknownError) Error() string {
	s := fmt.Sprintf("unknown %s %q", e.Kind, e.Name)
	if len(e.Nearest) > 0 {
		s += "; nearest: " + strings.Join(e.Nearest, ", ")
	}
	return s + e.Why
}

// ToolNames returns the public names of the tools that a model can call in a tab now, by
// a client.
func (ls *Lists) ToolNames(by *consent.Caller, addr spec.TabAddr) []string {
	ls.core.RLock()
	defer ls.core.RUnlock()
	return ls.toolNamesLocked(by, addr)
}

func (ls *Lists) toolNamesLocked(by *consent.Caller, addr spec.TabAddr) []string {
	of := ls.rules.By(by)
	return slices.DeleteFunc(ls.core.State().ToolNames(of, addr), func(name string) bool {
		l, ok := ls.core.State().Find(of, spec.KindTool, name)
		return !ok || !ls.showsItem(by, l.Item)
	})
}

// ToolIn returns the public name of the tool that a model can call in a tab now, by a client,
// and that is called name by the page, or in public; "" if there is none.
func (ls *Lists) ToolIn(by *consent.Caller, addr spec.TabAddr, name string) string {
	ls.core.RLock()
	defer ls.core.RUnlock()
	of := ls.rules.By(by)
	wanted, known := ls.core.State().Find(of, spec.KindTool, name) // maybe as the domain's
	for _, public := range ls.toolNamesLocked(by, addr) {
		l, _ := ls.core.State().Find(of, spec.KindTool, public)
		if public == name || l.Item.Source == name || known && l.Item.Key() == wanted.Item.Key() {
			return public
		}
	}
	return ""
}

// BoundWords says to a client that is bound to browsers why there is so little, from "; " on; ""
// if it is not.
func (ls *Lists) BoundWords(by *consent.Caller) string {
	ls.core.RLock()
	defer ls.core.RUnlock()
	return ls.boundWordsLocked(by)
}

// boundWordsLocked says to a client that is bound to browsers why there is so little; "" if it is not.
func (ls *Lists) boundWordsLocked(by *consent.Caller) string {
	of := ls.rules.By(by)
	switch {
	case of.Browsers == nil:
		return ""
	case len(of.Browsers) == 0:
		return "; the bindings of this client leave it no browser: its connection, its credential and the policy name different ones"
	}
	names := strings.Join(of.Browsers, ", ")
	if !ls.core.State().AnyConnected(of) {
		return "; this client is bound to the browser " + names + ", which is not connected, or which nobody has named so (`tabhub browser`)"
	}
	return "; this client is bound to the browser " + names
}
