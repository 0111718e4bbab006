// Package forward forwards requests and sockets to the owner node of a user, and streams its answers
// back.
//
// It forwards a request unchanged: the owner node checks it as if the client had sent it there. If a
// node has certainly not handled a request, the package sends it again, to the owner node of that
// moment. It never repeats a request that may have taken effect.
package forward

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/net/http/httpguts"
)

const (
	dialTimeout  = 2500 * time.Millisecond // for a connection to a node
	cutAfter     = 4500 * time.Millisecond // a member that was not reached for this long is cut off; a dead node is a member for less
	cutFor       = time.Second             // until a node that is cut off is tried again
	moveTimeout  = 10 * time.Second        // for finding the owner node
	maxTries     = 10                      // answers of nodes that they do not have the user
	maxWait      = 250 * time.Millisecond  // between two tries
	maxKept      = 64 << 10                // bytes of a body that can be sent again
	writeTimeout = 30 * time.Second        // for a client to take the next piece of an answer
	idleTimeout  = 90 * time.Second        // of a connection; shorter than that of the node's server
)

// OwnerHeader is in the answer 421 of a node that does not have the user, and has done nothing. It
// names the owner node, or is empty.
const OwnerHeader = "Tabhub-Owner"

// Options configure a Forwarder.
type Options struct {
	// Dial connects to a node by its id, so that both ends have proved their identity. It fails at
	// once for a node that is not a member. Safe for concurrent use.
	Dial func(ctx context.Context, node string) (net.Conn, error)
	// Alive reports whether a node is a member. It does not block, and must be false before CloseMember
	// is called. Nil: all are.
	Alive func(node string) bool
	Log   *slog.Logger // nil discards
}

// Forwarder owns this node's connections to others. It is safe for concurrent use.
type Forwarder struct {
	dialNode func(ctx context.Context, node string) (net.Conn, error)
	alive    func(node string) bool
	log      *slog.Logger
	stats    stats

	webSockets atomic.Int64 // of Stats.Splices

	mu     sync.Mutex
	failed map[string]failure // the nodes that the last try did not reach
	links  map[*link]struct{}
	pools  map[string]*http.Transport // the connections for HTTP to each node
	closed bool
}

// New returns a Forwarder without connections.
func New(o Options) *Forwarder {
	if o.Alive == nil {
		o.Alive = func(string) bool { return true }
	}
	return &Forwarder{
		dialNode: o.Dial, alive: o.Alive, log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)),
		links: map[*link]struct{}{}, pools: map[string]*http.Transport{}, failed: map[string]failure{},
	}
}

// Len returns how many connections to other nodes are open.
func (f *Forwarder) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.links)
}

// Stats count the forwarded requests since the Forwarder was made.
type Stats struct {
	OK        int64 // requests with an answer, even a refusal
	Again     int64 // times that a request was sent again because a node had not taken it
	Unreached int64 // requests that no node has taken
	Broken    int64 // requests whose connection broke off before the answer: they may have taken effect
	Splices   int64 // sockets that are open now
}

type stats struct{ ok, again, unreached, broken, splices atomic.Int64 }

// AwaitWebSockets blocks until no forwarded WebSocket is open, or ctx is done, and returns how many are left.
func (f *Forwarder) AwaitWebSockets(ctx context.Context) (left int) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if left = int(f.webSockets.Load()); left == 0 {
			return 0
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return left
		}
	}
}

// Stats returns the counters.
func (f *Forwarder) Stats() Stats {
	s := &f.stats
	return Stats{OK: s.ok.Load(), Again: s.again.Load(), Unreached: s.unreached.Load(), Broken: s.broken.Load(), Splices: s.splices.Load()}
}

// Close closes all connections, and the Forwarder for good. It is idempotent.
func (f *Forwarder) Close() {
	f.mu.Lock()
	f.closed = true
	links := f.links
	f.links = map[*link]struct{}{}
	pools := maps.Clone(f.pools)
	f.mu.Unlock()
	for l := range links {
		l.Close()
	}
	for _, p := range pools {
		p.CloseIdleConnections()
	}
}

// Do sends a request of this node's own to another, once. The caller closes the body of the answer.
func (f *Forwarder) Do(ctx context.Context, node, method, path string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+hostOf(node)+path, nil)
	if err != nil {
		return nil, err
	}
	r.Host = "node"
	return f.pool(node).RoundTrip(r)
}

// hostOf returns the host that stands for a node in the URL of a request.
func hostOf(node string) string { return hex.EncodeToString([]byte(node)) }

// Again returns the owner node when node does not have the user, or cannot be reached. owner is the
// owner according to node, or "". The result may be this node, which is asked like any other. It
// blocks until the owner node is known.
type Again func(ctx context.Context, node, owner string) (next string, err error)

// To returns a handler that forwards a user's requests to a node.
func (f *Forwarder) To(node string, again Again) http.Handler { return &target{f, node, again} }

type target struct {
	f     *Forwarder
	node  string
	again Again
}

// Node returns the id of the node that it asks first.
func (t *target) Node() string { return t.node }

// ServeHTTP forwards a request. After an upgrade it copies between both sides.
func (t *target) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r, kept, err := keepBody(r)
	if err != nil {
		writeError(w, http.StatusBadRequest, "the body could not be read")
		return
	}
	s := &sender{target: t, kept: kept, upgrade: isUpgrade(r)}
	end := func() {} // of the splice
	defer func() { end() }()
	proxy := &httputil.ReverseProxy{
		Rewrite:    rewrite,
		Transport:  s,
		BufferPool: buffers,
		ModifyResponse: func(resp *http.Response) error {
			t.f.stats.ok.Add(1)
			if resp.StatusCode == http.StatusSwitchingProtocols {
				end = t.f.beginSplice(strings.EqualFold(resp.Header.Get("Upgrade"), "websocket"))
			}
			for name := range resp.Header {
				w.Header().Del(name) // the node's counts
			}
			return nil
		},
		ErrorLog: slog.NewLogLogger(t.f.log.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			t.fail(w, r, err)
		},
	}
	proxy.ServeHTTP(&clientWriter{ResponseWriter: w, rc: http.NewResponseController(w), sender: s}, r)
}

// beginSplice counts a socket until end is called.
func (f *Forwarder) beginSplice(webSocket bool) (end func()) {
	count := func(n int64) {
		f.stats.splices.Add(n)
		if webSocket {
			f.webSockets.Add(n)
		}
	}
	count(1)
	return func() { count(-1) }
}

// isUpgrade reports whether a request asks for another protocol than HTTP. Some clients always ask for a
// newer HTTP or for TLS, which no node speaks, and go on without.
func isUpgrade(r *http.Request) bool {
	name, _, _ := strings.Cut(strings.ToLower(r.Header.Get("Upgrade")), "/")
	return r.Method == http.MethodGet && r.ContentLength == 0 &&
		httpguts.HeaderValuesContainsToken(r.Header["Connection"], "Upgrade") &&
		name != "" && name != "h2c" && name != "http" && name != "tls"
}

// hopByHop are headers about the connection, not the request.
var hopByHop = []string{"Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect"}

// whole gives out, a clone of in, the headers of in: the node decides by what the client sent. Headers
// about the client's connection stay here; with Connection a client could remove other headers.
func whole(out, in *http.Request) {
	h := in.Header.Clone()
	for _, name := range hopByHop {
		h.Del(name)
	}
	if isUpgrade(in) {
		h.Set("Connection", "Upgrade")
		h.Set("Upgrade", in.Header.Get("Upgrade"))
	}
	if h["User-Agent"] == nil {
		h["User-Agent"] = []string{""} // none
	}
	out.Header, out.Trailer = h, nil
	out.Host = cmp.Or(in.Host, "localhost")
	out.URL.RawQuery = in.URL.RawQuery
}

func rewrite(pr *httputil.ProxyRequest) {
	whole(pr.Out, pr.In)
	// With one of these headers net/http would repeat a request by itself.
	pr.Out.Header.Del("Idempotency-Key")
	pr.Out.Header.Del("X-Idempotency-Key")
}

// keepBody reads the body of a request if it is small, so that it can be sent again. kept is nil if the
// body is larger.
func keepBody(r *http.Request) (out *http.Request, kept []byte, err error) {
	switch {
	case r.Body == nil || r.ContentLength == 0:
		return r, []byte{}, nil
	case r.ContentLength > maxKept:
		return r, nil, nil
	}
	b, err := io.ReadAll(io.LimitReader(r.Body, maxKept+1))
	if err != nil {
		return r, nil, err
	}
	r = r.WithContext(r.Context())
	if len(b) > maxKept {
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(b), r.Body))
		return r, nil, nil
	}
	r.ContentLength, r.TransferEncoding = int64(len(b)), nil
	return r, b, nil
}

// errMoved: the user has moved, and the request cannot be sent again.
var errMoved = errors.New("the user has another node now")

// sender sends a request to the node that has the user.
type sender struct {
	*target
	kept    []byte // the body; nil if it is too large to be sent again
	upgrade bool   // it asks for another protocol: the node does nothing before it answers
	link    *link  // the connection of the last try
}

// RoundTrip implements http.RoundTripper. Its requests have no GetBody, so that net/http does not repeat
// them. It still repeats a GET on a new connection when a reused one breaks off.
func (s *sender) RoundTrip(out *http.Request) (resp *http.Response, err error) {
	err = s.each(out.Context(), func(node string) error {
		ctx := out.Context()
		if s.upgrade {
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			defer time.AfterFunc(upgradeTimeout, cancel).Stop()
		}
		connections := 0
		try := out.Clone(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			GetConn: func(string) {
				if connections++; connections > 1 { // other idle connections may be dead, too
					s.f.closeIdle(node)
				}
			},
			GotConn: func(of httptrace.GotConnInfo) { s.link = of.Conn.(*link) },
		}))
		try.URL.Scheme, try.URL.Host = "http", hostOf(node)
		switch {
		case len(s.kept) > 0:
			try.Body = io.NopCloser(bytes.NewReader(s.kept))
		case s.kept == nil:
			try.Body = io.NopCloser(out.Body) // an unreachable node reads none of it
		}
		if resp, err = s.f.pool(node).RoundTrip(try); err != nil {
			if s.upgrade {
				return &unreachedError{node, err}
			}
			return err
		}
		return misdirected(resp)
	}, s.kept != nil)
	return resp, err
}

// misdirectedError is the answer of a node that does not have the user.
type misdirectedError struct{ owner string }

func (e *misdirectedError) Error() string { return "the node does not have the user" }

// misdirected returns an error, and closes the answer, if the node does not have the user.
func misdirected(resp *http.Response) error {
	owner := resp.Header[OwnerHeader]
	if resp.StatusCode != http.StatusMisdirectedRequest || len(owner) == 0 {
		return nil
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 4<<10))
	resp.Body.Close()
	return &misdirectedError{owner[0]}
}

// each calls try with the owner node, and with the next one as long as a try has certainly done
// nothing: the node did not have the user, was unreachable, or did not answer an upgrade. If
// repeatable is false, the first node that may have read from the body is the last one.
func (t *target) each(ctx context.Context, try func(node string) error, repeatable bool) error {
	limited, cancel := context.WithTimeout(ctx, moveTimeout)
	defer cancel()
	node, owner, wait, refused := t.node, "", 0*time.Millisecond, 0
	for {
		if t.f.isCut(node, cutFor) {
			return &unreachedError{node, errCut}
		}
		err := try(node)
		no, misdirected := errors.AsType[*misdirectedError](err)
		_, unreached := errors.AsType[*unreachedError](err)
		switch {
		case misdirected:
			owner = no.owner
			refused++
		case unreached && t.f.isCut(node, dialTimeout):
			return err
		case unreached: // a dead node has its users until its lease ends; or the node is overloaded
			owner = ""
		default:
			if errors.Is(err, syscall.ETIMEDOUT) { // the node is unreachable, or only this user's hub takes nothing: a dial will tell
				t.f.closeIdle(node)
			}
			return err
		}
		t.f.log.Debug("asking for a user's node again", "node", node, "err", err)
		if refused == maxTries {
			return fmt.Errorf("%w after %d tries: %w", errMoved, refused, err)
		}
		select {
		case <-time.After(wait):
		case <-limited.Done():
			return fmt.Errorf("%w: %w", errMoved, context.Cause(limited))
		}
		wait = min(max(50*time.Millisecond, 4*wait), maxWait)
		if node, err = t.again(limited, node, owner); err != nil {
			return fmt.Errorf("%w: %w", errMoved, err)
		}
		if misdirected && !repeatable {
			return errMoved // the next request goes there
		}
		t.f.stats.again.Add(1)
	}
}

// fail answers a request that could not be forwarded, or has no answer.
func (t *target) fail(w http.ResponseWriter, r *http.Request, err error) {
	_, unreached := errors.AsType[*unreachedError](err)
	switch {
	case r.Context().Err() != nil:
		panic(http.ErrAbortHandler) // the client has gone, or this node ends
	case unreached || errors.Is(err, errMoved):
		t.f.stats.unreached.Add(1)
		t.f.log.Warn("a request was not forwarded", "path", r.URL.Path, "err", err)
		w.Header().Set("Retry-After", "1")
		writeError(w, http.StatusServiceUnavailable, "the node that has your hub cannot be reached now, and nothing was done; try again in a moment")
	default:
		t.f.stats.broken.Add(1)
		t.f.log.Warn("the connection to a node broke off", "path", r.URL.Path, "err", err)
		writeError(w, http.StatusBadGateway, "the connection to the node that has your hub broke off before it answered; what was asked for may have been done")
	}
}

func writeError(w http.ResponseWriter, status int, text string) {
	b, _ := json.Marshal(map[string]string{"error": text})
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n'))
}

// clientWriter writes to a client with writeTimeout for each piece.
type clientWriter struct {
	http.ResponseWriter
	rc     *http.ResponseController
	sender *sender // of the request
}

// Unwrap is for http.ResponseController.
func (c *clientWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Write implements http.ResponseWriter.
func (c *clientWriter) Write(p []byte) (int, error) {
	defer c.begin()()
	return c.ResponseWriter.Write(p)
}

// FlushError is for http.ResponseController.
func (c *clientWriter) FlushError() error {
	defer c.begin()()
	return c.rc.Flush()
}

func (c *clientWriter) begin() (end func()) {
	_ = c.rc.SetWriteDeadline(time.Now().Add(writeTimeout))
	return func() { _ = c.rc.SetWriteDeadline(time.Time{}) } // the connection may serve other requests afterwards
}

var buffers = &pool{sync.Pool{New: func() any { return new([bulkBuffer]byte) }}}

// pool implements httputil.BufferPool.
type pool struct{ p sync.Pool }

// Get returns a buffer of bulkBuffer bytes.
func (p *pool) Get() []byte { return p.p.Get().(*[bulkBuffer]byte)[:] }

// Put takes one back.
func (p *pool) Put(b []byte) { p.p.Put((*[bulkBuffer]byte)(b[:bulkBuffer])) }
