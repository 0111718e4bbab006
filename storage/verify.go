package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
)

// The layout of a bbolt file, version 2. Numbers are in the machine's byte order,
// and bbolt reads them through a memory map without checking them: a damaged page
// is a panic, or a fault, in whatever goroutine comes upon it. So a file is walked
// here, by bounded reads, before bbolt is trusted with it.
const (
	boltMagic    = 0xED0CDAED
	boltVersion  = 2
	pageHeader   = 16 // id 8, flags 2, count 2, overflow 4
	pageElement  = 16 // of a branch: pos 4, ksize 4, pgid 8; of a leaf: flags 4, pos 4, ksize 4, vsize 4
	metaSize     = 64 // magic 4, version 4, pageSize 4, flags 4, root 8+8, freelist 8, pgid 8, txid 8, checksum 8
	bucketHeader = 16 // root 8, sequence 8
	pageBranch   = 0x01
	pageLeaf     = 0x02
	pageFreelist = 0x10
	leafBucket   = 0x01
	noFreelist   = ^uint64(0)
	maxWalkDepth = 64
)

var order = binary.NativeEndian

// walker checks the structure of a bbolt file.
type walker struct {
	file     io.ReaderAt
	pageSize int64
	high     uint64 // the first page id that is not in use
	seen     []bool // by page id
	spare    []byte // a buffer for the next page
}

// verify checks that file, of the given size and page size, is a bbolt file all
// whose pages that are in use are whole.
func verify(file io.ReaderAt, size int64, pageSize int) error {
	if pageSize < 1024 || pageSize&(pageSize-1) != 0 {
		return fmt.Errorf("page size is %d", pageSize)
	}
	w := &walker{file: file, pageSize: int64(pageSize)}
	root, freelist, err := w.meta()
	if err != nil {
		return err
	}
	if want := int64(w.high) * w.pageSize; w.high > uint64(size) || want > size {
		return fmt.Errorf("file is cut short: %d of %d bytes", size, want)
	}
	w.seen = make([]bool, w.high)
	if freelist != noFreelist {
		if err := w.freelist(freelist); err != nil {
			return err
		}
	}
	return w.tree(root, 0)
}

// meta reads the newer of the two meta pages that is whole.
func (w *walker) meta() (root, freelist uint64, err error) {
	found := false
	var newest uint64
	buf := make([]byte, pageHeader+metaSize)
	for i := range int64(2) {
		if _, err := w.file.ReadAt(buf, i*w.pageSize); err != nil {
			return 0, 0, err
		}
		m := buf[pageHeader:]
		sum := fnv.New64a()
		sum.Write(m[:metaSize-8])
		if order.Uint32(m) != boltMagic || order.Uint32(m[4:]) != boltVersion ||
			int64(order.Uint32(m[8:])) != w.pageSize || order.Uint64(m[56:]) != sum.Sum64() {
			continue
		}
		if txid := order.Uint64(m[48:]); !found || txid > newest {
			found, newest = true, txid
			root, freelist, w.high = order.Uint64(m[16:]), order.Uint64(m[32:]), order.Uint64(m[40:])
		}
	}
	if !found {
		return 0, 0, errors.New("no valid meta page")
	}
	return root, freelist, nil
}

// page reads page id with its overflow, and checks its header. b is the caller's
// until it makes it spare.
func (w *walker) page(id uint64) (b []byte, flags uint16, count int, err error) {
	if id < 2 || id >= w.high {
		return nil, 0, 0, fmt.Errorf("page %d is not in the file", id)
	}
	b, w.spare = w.spare, nil
	if b == nil {
		b = make([]byte, w.pageSize)
	}
	b = b[:w.pageSize]
	if _, err := w.file.ReadAt(b, int64(id)*w.pageSize); err != nil {
		return nil, 0, 0, err
	}
	flags, count = order.Uint16(b[8:]), int(order.Uint16(b[10:]))
	overflow := uint64(order.Uint32(b[12:]))
	if order.Uint64(b) != id || overflow >= w.high-id {
		return nil, 0, 0, fmt.Errorf("page %d is damaged", id)
	}
	for p := id; p <= id+overflow; p++ {
		if w.seen[p] {
			return nil, 0, 0, fmt.Errorf("page %d is used twice", p)
		}
		w.seen[p] = true
	}
	if overflow > 0 {
		b = slices.Grow(b, int(overflow)*int(w.pageSize))[:int64(1+overflow)*w.pageSize]
		if _, err := w.file.ReadAt(b[w.pageSize:], int64(id+1)*w.pageSize); err != nil {
			return nil, 0, 0, err
		}
	}
	return b, flags, count, nil
}

func (w *walker) freelist(id uint64) error {
	b, flags, count, err := w.page(id)
	if err != nil {
		return err
	}
	ids := b[pageHeader:]
	n := uint64(count)
	if n == 0xFFFF && len(ids) >= 8 { // too many for the header
		n, ids = order.Uint64(ids), ids[8:]
	}
	if flags != pageFreelist || n > uint64(len(ids)/8) {
		return fmt.Errorf("page %d is not a free list", id)
	}
	for i := range n {
		p := order.Uint64(ids[i*8:])
		if p < 2 || p >= w.high || w.seen[p] {
			return fmt.Errorf("page %d is not free", p)
		}
		w.seen[p] = true
	}
	return nil
}

// tree checks the pages below page id.
func (w *walker) tree(id uint64, depth int) error {
	b, flags, count, err := w.page(id)
	if err != nil {
		return err
	}
	if err := w.node(b, flags, count, depth); err != nil {
		return fmt.Errorf("page %d: %w", id, err)
	}
	w.spare = b
	return nil
}

// node checks a branch or leaf, whose header has been read, and what is below it.
func (w *walker) node(b []byte, flags uint16, count, depth int) error {
	if depth > maxWalkDepth {
		return errors.New("too deep")
	}
	if flags != pageBranch && flags != pageLeaf || flags == pageBranch && count == 0 ||
		pageHeader+count*pageElement > len(b) {
		return errors.New("header is damaged")
	}
	var last []byte
	for i := range count {
		at := pageHeader + i*pageElement
		e := b[at:]
		var pos, ksize, vsize uint64
		if flags == pageBranch {
			pos, ksize = uint64(order.Uint32(e)), uint64(order.Uint32(e[4:]))
		} else {
			pos, ksize, vsize = uint64(order.Uint32(e[4:])), uint64(order.Uint32(e[8:])), uint64(order.Uint32(e[12:]))
		}
		if pos+ksize+vsize > uint64(len(e)) {
			return errors.New("an element is out of bounds")
		}
		key := e[pos : pos+ksize]
		if len(key) == 0 || i > 0 && bytes.Compare(last, key) >= 0 {
			return errors.New("keys are out of order")
		}
		last = key
		var err error
		switch {
		case flags == pageBranch:
			err = w.tree(order.Uint64(e[8:]), depth+1)
		case order.Uint32(e)&leafBucket != 0:
			err = w.bucket(e[pos+ksize:pos+ksize+vsize], depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bucket checks a bucket by its header, which a small one's only page follows.
func (w *walker) bucket(v []byte, depth int) error {
	if len(v) < bucketHeader {
		return errors.New("a bucket is damaged")
	}
	if root := order.Uint64(v); root != 0 {
		return w.tree(root, depth)
	}
	v = v[bucketHeader:]
	if len(v) < pageHeader {
		return errors.New("a bucket is damaged")
	}
	return w.node(v, order.Uint16(v[8:]), int(order.Uint16(v[10:])), depth)
}
