package proxytool

import (
	"slices"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/consent"
	"tabhub/spec"
)

// index is the items of one kind at a moment.
type index struct {
	// Static after construction.
	kind  spec.Kind
	lists []*hub.Listing
	items []hub.Item

	// Set by the first search, under proxy.mu, and static from then on.
	docs  []*doc   // of items, in their order
	terms []string // by term id, those of docs at least
	count []int32  // of docs that hold a term, by term id
}

// index returns the present index of a kind, of what a client is to know of. It is that of
// the call before unless a listing has changed since, or that was another client's.
func (t *proxy) index(by *consent.Caller, kind spec.Kind) *index {
	var lists []*hub.Listing
	switch kind {
	case spec.KindTool:
		lists = []*hub.Listing{t.hub.ListFor(by, hub.ListTools)}
	case spec.KindResource:
		lists = []*hub.Listing{t.hub.ListFor(by, hub.ListResources), t.hub.ListFor(by, hub.ListTemplates)}
	case spec.KindPrompt:
		lists = []*hub.Listing{t.hub.ListFor(by, hub.ListPrompts)}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.indexes[kind]; old != nil && slices.Equal(old.lists, lists) {
		return old
	}
	size := len(t.builtinItems)
	for _, l := range lists {
		size += len(l.Items)
	}
	ix := &index{kind: kind, lists: lists, items: make([]hub.Item, 0, size)}
	if kind == spec.KindTool {
		ix.items = append(ix.items, t.own(by)...)
	}
	for _, l := range lists {
		for i := range l.Items {
			it := &l.Items[i]
			if kind != spec.KindTool || !t.reserved(it.Name) {
				ix.items = append(ix.items, *it)
			}
		}
	}
	if t.indexes == nil {
		t.indexes = make(map[spec.Kind]*index)
	}
	t.indexes[kind] = ix
	return ix
}

// own returns the hub's own tools that a client is to know of.
func (t *proxy) own(by *consent.Caller) (items []hub.Item) {
	for i := range t.builtin {
		if a := t.builtin[i].Action(by); t.hub.Shows(&a) {
			items = append(items, t.builtinItems[i])
		}
	}
	return items
}

// reserved reports whether a tool's name is one of the hub's own tools'. Where pages' own
// names are listed, a page may have it, too, and can then not be called by it.
func (t *proxy) reserved(name string) bool {
	return name == Name || name == ReadName || builtin.Find(t.builtin, name) != nil
}
