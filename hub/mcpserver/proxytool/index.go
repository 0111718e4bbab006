package proxytool

import (
	"encoding/json"
	"slices"

	"tabhub/hub"
	"tabhub/spec"
)

// index is the items of one kind at a moment.
type index struct {
	// Static after construction.
	kind  spec.Kind
	lists []*hub.Listing
	items []hub.Item
	whole json.RawMessage // the array of all

	// Set by the first search, under proxy.mu, and static from then on.
	docs  []*doc   // of items, in their order
	terms []string // by term id, those of docs at least
	count []int32  // of docs that hold a term, by term id
}

// index returns the present index of a kind. It is that of the call before unless a
// listing has changed since.
func (t *proxy) index(kind spec.Kind) *index {
	var lists []*hub.Listing
	switch kind {
	case spec.KindTool:
		lists = []*hub.Listing{t.hub.List(hub.ListTools)}
	case spec.KindResource:
		lists = []*hub.Listing{t.hub.List(hub.ListResources), t.hub.List(hub.ListTemplates)}
	case spec.KindPrompt:
		lists = []*hub.Listing{t.hub.List(hub.ListPrompts)}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.indexes[kind]; old != nil && slices.EqualFunc(old.lists, lists, sameListing) {
		return old
	}
	ix := newIndex(kind, lists)
	if t.indexes == nil {
		t.indexes = make(map[spec.Kind]*index)
	}
	t.indexes[kind] = ix
	return ix
}

func sameListing(a, b *hub.Listing) bool { return a.Generation == b.Generation }

func newIndex(kind spec.Kind, lists []*hub.Listing) *index {
	ix := &index{kind: kind, lists: lists, items: lists[0].Items, whole: lists[0].JSON}
	hidden := func(it hub.Item) bool { return kind == spec.KindTool && it.Name == Name || it.AppOnly }
	if len(lists) == 1 && !slices.ContainsFunc(ix.items, hidden) {
		return ix
	}
	ix.items = nil
	for _, l := range lists {
		ix.items = append(ix.items, l.Items...)
	}
	ix.items = slices.DeleteFunc(ix.items, hidden)
	ix.whole = join(ix.items)
	return ix
}
