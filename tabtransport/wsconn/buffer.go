package wsconn

import "sync"

// Buffer is memory for a frame, which is used again. A connection has one only while a
// frame is being read or waits to be written.
type Buffer struct{ B []byte }

// maxPooled is the largest Buffer that is used again, in bytes.
const maxPooled = 4 << 20

var buffers = sync.Pool{New: func() any { return &Buffer{make([]byte, 0, firstBuffer)} }}

// NewBuffer returns an empty buffer.
func NewBuffer() *Buffer { return buffers.Get().(*Buffer) }

// Free gives the buffer back. Nobody may use it afterwards.
func (b *Buffer) Free() {
	if cap(b.B) <= maxPooled {
		b.B = b.B[:0]
		buffers.Put(b)
	}
}
