package wsconn

import "sync"

// Sizes of the buffers that frames of admitted peers are read into. A connection has one
// only while a frame of it is being read and handled.
const (
	smallestBuffer = 4 << 10
	smallBuffer    = 64 << 10 // up to here they come from a pool
	largeBuffer    = 1 << 20  // and from here on from a list that outlasts collections
	maxBuffer      = 4 << 20  // larger ones are not kept
)

var (
	small = sync.Pool{New: func() any { return new(make([]byte, 0, smallestBuffer)) }}
	large = make(chan []byte, 8)
)

// firstBuffer returns an empty buffer. The caller releases it, or what grow makes of it.
func firstBuffer() []byte { return *small.Get().(*[]byte) }

// grow returns a larger buffer with the same content, with room for more than limit at
// most, and releases b.
func grow(b []byte, limit int64) []byte {
	var to []byte
	switch {
	case cap(b) < smallBuffer:
		to = make([]byte, 0, 4*cap(b))
	case cap(b) < largeBuffer:
		select {
		case to = <-large:
		default:
			to = make([]byte, 0, largeBuffer)
		}
	default:
		to = make([]byte, 0, min(2*int64(cap(b)), limit+1))
	}
	to = append(to, b...)
	release(b)
	return to
}

func release(b []byte) {
	b = b[:0]
	switch {
	case cap(b) <= smallBuffer:
		small.Put(&b)
	case cap(b) <= maxBuffer:
		select {
		case large <- b:
		default:
		}
	}
}
