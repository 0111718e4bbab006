package relay

import (
	"io"
	"sync"
)

// Sizes of the buffers that frames are read into. A socket has one only while a frame
// of it is being read and handled.
const (
	firstBuffer = 4 << 10
	smallBuffer = 64 << 10 // up to here they come from a pool
	largeBuffer = 1 << 20  // and from here on from a list that outlasts collections
	maxBuffer   = 4 << 20  // larger ones are not kept
)

var (
	small = sync.Pool{New: func() any { return new(make([]byte, 0, firstBuffer)) }}
	large = make(chan []byte, 8)
)

// readAll reads r to its end. The caller releases what it returns, which is never nil.
func readAll(r io.Reader) ([]byte, error) {
	b := *small.Get().(*[]byte)
	for {
		if len(b) == cap(b) {
			b = grow(b)
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// grow returns a larger buffer with the same content and releases b.
func grow(b []byte) []byte {
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
		to = make([]byte, 0, 2*cap(b))
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
