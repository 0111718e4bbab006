package forward

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// pool returns the connections for HTTP to a node.
func (f *Forwarder) pool(node string) *http.Transport {
	f.mu.Lock()
	p := f.pools[node]
	made := p == nil
	if made {
		p = &http.Transport{
			DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return f.dial(ctx, node) },
			DisableCompression:  true,
			MaxIdleConnsPerHost: 256,
			IdleConnTimeout:     idleTimeout,
		}
		f.pools[node] = p
	}
	f.mu.Unlock()
	if made && !f.alive(node) { // CloseMember may have come before
		f.CloseMember(node)
	}
	return p
}

// closeIdle closes the idle connections to a node: they may be dead.
func (f *Forwarder) closeIdle(node string) {
	f.mu.Lock()
	p := f.pools[node]
	f.mu.Unlock()
	if p != nil {
		p.CloseIdleConnections()
	}
}

// link is a connection to a node.
type link struct {
	net.Conn
	f      *Forwarder
	node   string
	client net.Conn // spliced with the link, or nil; guarded by Forwarder.mu
}

// splice makes Close close the client's connection, too.
func (l *link) splice(client net.Conn) {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	l.client = client
}

// CloseWrite tells the node that nothing more comes.
func (l *link) CloseWrite() error { return closeWrite(l.Conn) }

// Close implements net.Conn. It closes the client's side of a splice, too: a goroutine may be blocked in a
// write to a client that does not read.
func (l *link) Close() error {
	l.f.mu.Lock()
	delete(l.f.links, l)
	client := l.client
	l.f.mu.Unlock()
	if client != nil {
		client.Close()
	}
	return l.Conn.Close()
}

// unreachedError says that a node has done nothing: it could not be reached, or has not answered an
// upgrade.
type unreachedError struct {
	node string
	err  error
}

func (e *unreachedError) Error() string { return fmt.Sprintf("ask node %s: %v", e.node, e.err) }
func (e *unreachedError) Unwrap() error { return e.err }

var (
	errClosed = errors.New("the node is shutting down")
	errGone   = errors.New("it is no longer a node of this cluster")
	errCut    = errors.New("it is a node of this cluster, and has not been reached for some seconds")
)

func (f *Forwarder) dial(ctx context.Context, node string) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	began := time.Now()
	conn, err := f.dialNode(ctx, node)
	f.dialed(node, began, err)
	if err != nil {
		return nil, &unreachedError{node, err}
	}
	l := &link{Conn: conn, f: f, node: node}
	if !f.add(l) {
		conn.Close()
		return nil, &unreachedError{node, errClosed}
	}
	if !f.alive(node) { // CloseMember may have come before
		l.Close()
		return nil, &unreachedError{node, errGone}
	}
	return l, nil
}

// failure is a node that was not reached by any try between two times.
type failure struct{ since, last time.Time }

// dialed notes the result of a try to reach a node.
func (f *Forwarder) dialed(node string, began time.Time, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		delete(f.failed, node)
		return
	}
	of, before := f.failed[node]
	if !before || began.Sub(of.last) > cutAfter { // the last try is long ago
		of.since = began
	}
	of.last = time.Now()
	f.failed[node] = of
}

// isCut reports whether a node is alive but unreachable from here, by a last try within a time: waiting
// for it is useless.
func (f *Forwarder) isCut(node string, within time.Duration) bool {
	f.mu.Lock()
	of, ok := f.failed[node]
	f.mu.Unlock()
	return ok && of.last.Sub(of.since) >= cutAfter && time.Since(of.last) < within && f.alive(node)
}

// add notes a connection that has been made, unless the Forwarder is closed.
func (f *Forwarder) add(l *link) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	f.links[l] = struct{}{}
	return true
}

// CloseMember closes all connections to a node that is no longer a member, so that its requests fail at once.
func (f *Forwarder) CloseMember(node string) {
	f.mu.Lock()
	delete(f.pools, node)
	delete(f.failed, node)
	var gone []*link
	for l := range f.links {
		if l.node == node {
			gone = append(gone, l)
		}
	}
	f.mu.Unlock()
	for _, l := range gone {
		l.Close()
	}
}
