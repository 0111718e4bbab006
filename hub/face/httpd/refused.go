package httpd

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"tabhub/describe"
	"tabhub/hub/face/endpoint"
	"tabhub/hub/trust/auth"
	"tabhub/hub/trust/record"
	"tabhub/spec"
)

// refusals are requests of clients that the guard has not let in, as the record of a hub
// without accounts has them: a few a minute, whoever knocks how often.
type refusals struct {
	pace   *rate.Limiter
	missed atomic.Int64 // since the one that was recorded last
}

func newRefusals() *refusals {
	return &refusals{pace: rate.NewLimiter(rate.Every(time.Minute), 10)}
}

// recordRefusal leaves the record of a refused request, if it was to be a client's. A page's is in
// the log.
func (s *Server) recordRefusal(r *http.Request, no *endpoint.Error) {
	rt, _ := routeOf(r)
	if rt.kinds&auth.KindPage != 0 {
		s.logRefusedPage(r.Header.Get("Origin"), no)
	}
	switch {
	case s.guard.accounts, rt.kinds&auth.KindClient == 0: // nobody's, or no client's
		return
	case no.Status != http.StatusUnauthorized && no.Status != http.StatusForbidden:
		return
	case !s.refusals.pace.Allow():
		s.refusals.missed.Add(1)
		return
	}
	if s.o.Elsewhere != nil {
		if h, err := s.o.Elsewhere.Locate(r.Context(), spec.LocalUser); h != nil || err != nil {
			return // the record is on another node
		}
	}
	t, err := s.o.Tenants.Get(r.Context(), spec.LocalUser)
	if err != nil || t.Record == nil {
		return
	}
	reason := no.Text
	if n := s.refusals.missed.Swap(0); n > 0 {
		reason += fmt.Sprintf(" (%d more were refused before)", n)
	}
	t.Record.Append(record.Entry{
		Time: time.Now(), Event: record.Refused, Said: describe.Clean(r.UserAgent(), spec.MaxName),
		Origin: describe.Clean(r.Header.Get("Origin"), spec.MaxTitle), URL: r.URL.Path,
		Outcome: strings.ToLower(http.StatusText(no.Status)), Reason: reason,
	})
}

// maxRefusedPages bounds the origins that are remembered. Who has seen more has seen a flood.
const maxRefusedPages = 256

// refusedPages are the origins that were refused. The log names each once, and of many one a minute: a
// page can have frames of any number of origins. It is safe for concurrent use.
type refusedPages struct {
	pace *rate.Limiter

	mu    sync.Mutex
	known map[string]bool
}

func newRefusedPages() *refusedPages {
	return &refusedPages{pace: rate.NewLimiter(rate.Every(time.Minute), 10), known: map[string]bool{}}
}

// isNews reports whether the log is to name an origin now. One that had to wait is news the next time.
func (p *refusedPages) isNews(origin string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known[origin] || !p.pace.Allow() {
		return false
	}
	if len(p.known) == maxRefusedPages {
		clear(p.known)
	}
	p.known[origin] = true
	return true
}

// logRefusedPage names in the log, once, an origin whose page could not join. err says what would admit
// it: the page cannot, as a browser does not tell it why a connection has failed. What is refused at
// its hello is in the log of package wsserver.
func (s *Server) logRefusedPage(origin string, err error) {
	origin = describe.Clean(origin, spec.MaxTitle)
	if origin != "" && s.refusedPages.isNews(origin) {
		s.log.Warn("a page was refused", "origin", origin, "err", err)
	}
}
