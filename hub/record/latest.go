package record

// MaxLatest is how many of the latest entries Since has.
const MaxLatest = 128

// latest are the entries that were added last while somebody looked.
type latest struct {
	n    uint64  // how many there were
	ring []Entry // of MaxLatest; nil before there is one
}

func (l *latest) add(e *Entry) {
	if l.ring == nil {
		l.ring = make([]Entry, MaxLatest)
	}
	at := &l.ring[l.n%MaxLatest]
	*at = *e
	at.Args, at.Result = nil, nil // which nobody looks for here
	l.n++
}

// Since returns the entries that were appended after the first n while somebody listened to
// Options.Bell, oldest first, but no more than the last MaxLatest of them, how many it has
// left out, and the n of the next call. It reads no files: an entry may not be in them yet,
// and never will be if they cannot be written.
func (f *File) Since(n uint64) (entries []Entry, missed, next uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next = f.latest.n
	first := n
	if next > MaxLatest {
		first = max(n, next-MaxLatest)
	}
	for i := first; i < next; i++ {
		entries = append(entries, f.latest.ring[i%MaxLatest])
	}
	return entries, first - min(n, first), next
}
