package wsconn

import (
	"container/list"
	"sync"
)

const (
	// freeUnadmitted is how many bytes of buffers each connection may have. More comes out
	// of the budget that all share.
	freeUnadmitted = 16 << 10
	// maxUnadmittedBytes is what all of them share: several of the largest first frames.
	maxUnadmittedBytes = 16 << 20
)

// unadmitted are the connections whose owners have not admitted them yet. Any program that
// reaches the port can open them, so it bounds what they use.
type unadmitted struct {
	max    int // connections
	shared int // bytes of buffers

	mu    sync.Mutex
	conns list.List // of *Conn, the oldest first
	used  int       // of shared
}

// unadmittedPlace is what unadmitted knows of a connection.
type unadmittedPlace struct {
	at   *list.Element // nil if it is not one of them
	used int           // of shared
}

// add adds a connection. If there are too many then, it returns the oldest, which must
// yield, so that silent peers cannot keep out others.
func (u *unadmitted) add(c *Conn) (oldest *Conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	c.place.at = u.conns.PushBack(c)
	if u.conns.Len() > u.max {
		oldest = u.conns.Remove(u.conns.Front()).(*Conn)
		oldest.place.at = nil
	}
	return oldest
}

// hold sets the size of the connection's buffers to n bytes. It reports false, and changes
// nothing, if the budget is too small.
func (u *unadmitted) hold(c *Conn, n int) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	n = max(0, n-freeUnadmitted)
	if n > c.place.used && u.used-c.place.used+n > u.shared {
		return false
	}
	u.used += n - c.place.used
	c.place.used = n
	return true
}

// remove says that the connection is admitted, or has ended. It may be called twice.
func (u *unadmitted) remove(c *Conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if c.place.at != nil {
		u.conns.Remove(c.place.at)
		c.place.at = nil
	}
	u.used -= c.place.used
	c.place.used = 0
}
