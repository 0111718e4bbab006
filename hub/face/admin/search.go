package admin

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"tabhub/hub"
	"tabhub/hub/builtin"
	"tabhub/hub/face/endpoint"
	"tabhub/hub/lists"
	"tabhub/hub/state"
	"tabhub/spec"
)

// totalHeader says how many elements of a list match; the answer may have a part of them.
const totalHeader = "Tabhub-Total"

// search selects elements of a list, by the parameters q (words, all of which must be in the names and
// texts of an element), name (the whole name), site, tab (PEER/TAB), offset and limit. All are optional.
type search struct {
	name   string
	words  []string // in lower case
	site   spec.Domain
	tab    *spec.TabAddr
	offset int
	limit  int // -1: all
}

// maxQuery bounds the words of a search, in bytes: the hub may search all its texts for each.
const maxQuery = 1000

// newSearch reads the parameters of a request for a list.
func newSearch(r *endpoint.Request) (search, error) {
	query := r.URL.Query()
	if n := len(query.Get("q")); n > maxQuery {
		return search{}, endpoint.BadRequest("q has %d bytes; it may have %d", n, maxQuery)
	}
	q := search{name: query.Get("name"), words: strings.Fields(strings.ToLower(query.Get("q"))), site: spec.Domain(query.Get("site")), limit: -1}
	for name, field := range map[string]*int{"offset": &q.offset, "limit": &q.limit} {
		if v := query.Get(name); v != "" {
			n, err := strconv.Atoi(v)
			if err != nil || n < 0 {
				return q, endpoint.BadRequest("%s is %q; it is a number, from 0 on", name, v)
			}
			*field = n
		}
	}
	if v := query.Get("tab"); v != "" {
		i := strings.LastIndexByte(v, '/')
		n, err := strconv.ParseInt(v[i+1:], 10, 64)
		if i < 0 || err != nil {
			return q, endpoint.BadRequest("tab is %q; write it as PEER/TAB, from addr of GET /api/tabs", v)
		}
		q.tab = &spec.TabAddr{Peer: spec.PeerID(v[:i]), Tab: n}
	}
	return q, nil
}

// says reports whether all words are in the texts.
func (q *search) says(texts ...string) bool {
	if len(q.words) == 0 {
		return true
	}
	all := strings.ToLower(strings.Join(texts, "\n"))
	return !slices.ContainsFunc(q.words, func(word string) bool { return !strings.Contains(all, word) })
}

func (q *search) findsTab(tab *state.TabInfo) bool {
	texts := []string{tab.Title, tab.URL, tab.BrowserName}
	atSite := q.site == ""
	for _, d := range tab.Domains {
		texts = append(texts, string(d.Domain))
		atSite = atSite || d.Domain == q.site
	}
	return atSite && (q.tab == nil || *q.tab == tab.Addr) && q.says(texts...)
}

// findsBuiltin reports whether a builtin tool matches. It is of no site and in no tab.
func (q *search) findsBuiltin(t *builtin.Tool) bool {
	return q.site == "" && q.tab == nil && (q.name == "" || q.name == t.Name) && q.says(t.Name, t.Title, t.Description)
}

// find yields the elements of one of the hub's lists that match.
func (q *search) find(h *hub.Hub, kind lists.ListKind, all *lists.Listing) iter.Seq[*lists.Item] {
	inTab := func(*lists.Item) bool { return true }
	if q.tab != nil {
		inTab = h.Lists.OfTab(*q.tab, kind)
	}
	return func(yield func(*lists.Item) bool) {
		for i := range all.Items {
			it := &all.Items[i]
			if (q.name == "" || q.name == it.Name) && (q.site == "" || q.site == it.Domain) && inTab(it) && it.Says(q.words) && !yield(it) {
				return
			}
		}
	}
}

// part is the part of the matching elements that is answered.
type part[T any] struct {
	search
	found int
	shown []T
}

// newPart reads the search of a request.
func newPart[T any](r *endpoint.Request) (part[T], error) {
	q, err := newSearch(r)
	return part[T]{search: q}, err
}

// has counts another element that matches, and reports whether the answer has it.
func (p *part[T]) has() bool {
	p.found++
	return p.found > p.offset && (p.limit < 0 || len(p.shown) < p.limit)
}

func (p *part[T]) answer(r *endpoint.Request) error {
	r.W.Header().Set(totalHeader, strconv.Itoa(p.found))
	return r.Answer(nonNil(p.shown))
}
