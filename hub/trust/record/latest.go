package record

// maxLatest is how many of the latest lines Since has.
const maxLatest = 64

// latest holds the lines that were written last.
type latest struct {
	n    uint64 // lines so far
	ring []Line // of maxLatest, once there were as many
}

func (l *latest) add(lines []Line) {
	for _, line := range lines {
		line.Args, line.Result = nil, nil
		if len(l.ring) < maxLatest {
			l.ring = append(l.ring, line)
		} else {
			l.ring[l.n%maxLatest] = line
		}
		l.n++
	}
}

// Since returns the lines that were written after the first n, oldest first, but no more than
// the last maxLatest of them, how many it has left out, and the n of the next call. Those of
// the log itself are not among them. It reads nothing of the medium.
func (f *Recorder) Since(n uint64) (lines []Line, missed, next uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next = f.latest.n
	first := max(n, next-uint64(len(f.latest.ring)))
	for i := first; i < next; i++ {
		lines = append(lines, f.latest.ring[i%maxLatest])
	}
	return lines, first - min(n, first), next
}
