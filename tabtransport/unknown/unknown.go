// Package unknown bounds what connections may use whose peers have not said yet who
// they are: anybody who reaches the port can open them.
package unknown

import (
	"container/list"
	"sync"
)

// Own is how many bytes of buffers a connection may have by itself. What goes beyond
// it comes out of Set.Shared.
const Own = 16 << 10

// Set is the connections of which nothing is known yet. Its exported fields do not
// change once it is used. All methods are safe for concurrent use.
type Set struct {
	Max    int // connections
	Shared int // bytes of buffers, for all of them together

	mu    sync.Mutex
	conns list.List // of *Conn, the oldest first
	used  int       // of Shared
}

// Conn is one connection in a Set.
type Conn struct {
	set     *Set
	giveWay func()
	at      *list.Element // nil once it has left or given way
	used    int           // of Set.Shared
}

// Add adds a connection. If there are more than Max then, the oldest gives way to it,
// so that those who stay silent cannot keep out one who is not: its giveWay is called,
// which must not block, and may be called before Add returns.
func (s *Set) Add(giveWay func()) *Conn {
	c := &Conn{set: s, giveWay: giveWay}
	s.mu.Lock()
	c.at = s.conns.PushBack(c)
	var oldest *Conn
	if s.conns.Len() > s.Max {
		oldest = s.conns.Remove(s.conns.Front()).(*Conn)
		oldest.at = nil
	}
	s.mu.Unlock()
	if oldest != nil {
		oldest.giveWay()
	}
	return c
}

// Len returns how many connections there are.
func (s *Set) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns.Len()
}

// Hold says that the connection's buffers are to have n bytes from now on. It reports
// false, and changes nothing, if there is not so much left.
func (c *Conn) Hold(n int) bool {
	c.set.mu.Lock()
	defer c.set.mu.Unlock()
	n = max(0, n-Own)
	if n > c.used && c.set.used-c.used+n > c.set.Shared {
		return false
	}
	c.set.used += n - c.used
	c.used = n
	return true
}

// Leave says that the connection is known now, or has ended. It may be called twice.
func (c *Conn) Leave() {
	c.set.mu.Lock()
	defer c.set.mu.Unlock()
	if c.at != nil {
		c.set.conns.Remove(c.at)
		c.at = nil
	}
	c.set.used -= c.used
	c.used = 0
}
