package record

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Site is a site of which the record has calls.
type Site struct {
	Domain spec.Domain `json:"domain"`
	Last   time.Time   `json:"last"`  // when the latest of them was made
	Calls  int         `json:"calls"` // since the Recorder was opened or, before that, as far as lines are kept
}

// maxSites bounds the sites that are remembered. Beyond it those go that were used least lately.
const maxSites = 10_000

// siteIndex knows the sites of the lines up to one, so that the record is read once.
type siteIndex struct {
	mu    sync.Mutex
	upTo  uint64 // the number of the last line that was read
	sites map[spec.Domain]*Site
}

// Sites returns all sites that the record has calls of, the one that was used last first. The first
// time it looks through the whole record, later through what was added. It waits as Read does.
func (f *Recorder) Sites(ctx context.Context) (all []Site, err error) {
	f.flush(ctx)
	err = f.inTurn(ctx, func() error {
		f.sites.mu.Lock()
		defer f.sites.mu.Unlock()
		err := f.sites.read(ctx, f.source)
		for _, s := range f.sites.sites {
			all = append(all, *s)
		}
		return err
	})
	slices.SortFunc(all, func(a, b Site) int { return b.Last.Compare(a.Last) })
	return all, err
}

// read adds the lines behind the last one that was read. After an error it reads them again, so they
// are added as a whole.
func (x *siteIndex) read(ctx context.Context, from source) error {
	found, last := map[spec.Domain]*Site{}, x.upTo
	for p, err := range from.pieces(ctx) {
		if err != nil {
			return err
		}
		_, err := p.lines(ctx, func(raw []byte) error {
			if n := numberOf(raw); n > x.upTo {
				last = max(last, n)
				add(found, raw)
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if first := p.first(); 0 < first && first <= x.upTo {
			break // the others have what is before
		}
	}
	if x.sites == nil {
		x.sites = map[spec.Domain]*Site{}
	}
	for domain, s := range found {
		if known := x.sites[domain]; known != nil {
			s.Calls += known.Calls
			s.Last = later(s.Last, known.Last)
		}
		x.sites[domain] = s
	}
	x.upTo = last
	if len(x.sites) > maxSites {
		x.forget()
	}
	return nil
}

// add counts a line, if it is that of a call at a site.
func add(to map[spec.Domain]*Site, raw []byte) {
	if event, _ := rawjson.String(rawjson.Get(raw, "event")); event != string(Call) {
		return
	}
	domain, _ := rawjson.String(rawjson.Get(raw, "domain"))
	text, _ := rawjson.String(rawjson.Get(raw, "time"))
	at, err := time.Parse(time.RFC3339Nano, text)
	if domain == "" || err != nil {
		return
	}
	s := to[spec.Domain(domain)]
	if s == nil {
		s = &Site{Domain: spec.Domain(domain)}
		to[s.Domain] = s
	}
	s.Calls++
	s.Last = later(s.Last, at)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// forget leaves the sites that were used last.
func (x *siteIndex) forget() {
	var all []*Site
	for _, s := range x.sites {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *Site) int { return b.Last.Compare(a.Last) })
	for _, s := range all[maxSites:] {
		delete(x.sites, s.Domain)
	}
}
