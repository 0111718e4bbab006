package stats

import (
	"math/bits"
	"time"
)

// times counts durations in buckets that grow with them, as HDR histograms do: each power of
// two of microseconds has 16, so that the middle of a bucket is 3.2 % off at most.
type times struct {
	n       uint32
	buckets [(maxBits - 3) * perOctave]uint32
}

const (
	octaveBits = 4
	perOctave  = 1 << octaveBits
	maxBits    = 32 // of microseconds: longer durations count as 71 minutes
)

func (t *times) add(bucket int) {
	t.n++
	t.buckets[bucket]++
}

// bucketOf returns the bucket of a duration. Each of the first 32 microseconds has its own.
func bucketOf(d time.Duration) int {
	us := uint64(min(max(d.Microseconds(), 0), 1<<maxBits-1))
	if us < perOctave {
		return int(us)
	}
	shift := bits.Len64(us) - octaveBits - 1
	return shift*perOctave + int(us>>shift)
}

// middle returns the middle of a bucket, in ms.
func middle(bucket int) float64 {
	if bucket < 2*perOctave {
		return float64(bucket) / 1000
	}
	shift := bucket/perOctave - 1
	from := uint64(bucket-shift*perOctave) << shift
	return float64(from+(1<<shift-1)/2) / 1000
}

// percentiles returns p50, p95 and p99 in ms, zeros if there is nothing.
func (t *times) percentiles() (p [3]float64) {
	if t.n == 0 {
		return p
	}
	seen, next := uint64(0), 0
	for b, n := range t.buckets {
		for seen += uint64(n); seen*100 >= uint64(t.n)*of[next]; {
			p[next] = middle(b)
			if next++; next == len(of) {
				return p
			}
		}
	}
	return p
}

var of = [3]uint64{50, 95, 99}
