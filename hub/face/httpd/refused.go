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

// maxRefusedOrigins bounds the origins that are remembered. More than that is a flood.
const maxRefusedOrigins = 256

// refusals bound what the record and the log say of refused requests: a few lines a minute, however
// many requests come. A refusals is safe for concurrent use.
type refusals struct {
	recorded, logged *rate.Limiter
	missed           atomic.Int64 // since the refusal that was recorded last

	mu      sync.Mutex
	origins map[string]bool // of pages, which the log names once each
}

func newRefusals() *refusals {
	pace := func() *rate.Limiter { return rate.NewLimiter(rate.Every(time.Minute), 10) }
	return &refusals{recorded: pace(), logged: pace(), origins: map[string]bool{}}
}

// isNews reports whether the log is to name an origin now. An origin that the pace holds back is
// news the next time.
func (p *refusals) isNews(origin string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if origin == "" || p.origins[origin] || !p.logged.Allow() {
		return false
	}
	if len(p.origins) == maxRefusedOrigins {
		clear(p.origins)
	}
	p.origins[origin] = true
	return true
}

// recordRefusal puts a refused request in the record of a hub without accounts, if a client may have
// sent it, and the origin of a refused page in the log. A browser does not tell a page why a
// connection failed; the log names what would admit the page. Package wsserver logs what is refused
// at its hello.
func (s *Server) recordRefusal(r *http.Request, refused *endpoint.Error) {
	rt, _ := routeOf(r)
	if origin := describe.Clean(r.Header.Get("Origin"), spec.MaxTitle); rt.kinds&auth.KindPage != 0 && s.refusals.isNews(origin) {
		s.log.Warn("a page was refused", "origin", origin, "err", refused)
	}
	switch {
	case s.guard.accounts, rt.kinds&auth.KindClient == 0: // no user's record is known, or it is no client's
		return
	case refused.Status != http.StatusUnauthorized && refused.Status != http.StatusForbidden:
		return
	case !s.refusals.recorded.Allow():
		s.refusals.missed.Add(1)
		return
	}
	if s.o.Locator != nil {
		if h, err := s.o.Locator.Locate(r.Context(), spec.LocalUser); h != nil || err != nil {
			return // the record is in another process
		}
	}
	t, err := s.o.Tenants.Get(r.Context(), spec.LocalUser)
	if err != nil || t.Record == nil {
		return
	}
	reason := refused.Text
	if n := s.refusals.missed.Swap(0); n > 0 {
		reason += fmt.Sprintf(" (%d more were refused before)", n)
	}
	t.Record.Append(record.Entry{
		Time: time.Now(), Event: record.Refused, Said: describe.Clean(r.UserAgent(), spec.MaxName),
		Origin: describe.Clean(r.Header.Get("Origin"), spec.MaxTitle), URL: r.URL.Path,
		Outcome: strings.ToLower(http.StatusText(refused.Status)), Reason: reason,
	})
}
