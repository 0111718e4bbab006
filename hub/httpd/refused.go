package httpd

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"tabhub/describe"
	"tabhub/hub/auth"
	"tabhub/hub/record"
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

// recordRefusal leaves the record of a refused request, if it was to be a client's.
func (s *Server) recordRefusal(r *http.Request, no *refusal) {
	switch rt, _ := routeOf(r); {
	case s.guard.accounts, rt.kinds&auth.KindClient == 0: // nobody's, or no client's
		return
	case no.status != http.StatusUnauthorized && no.status != http.StatusForbidden:
		return
	case !s.refusals.pace.Allow():
		s.refusals.missed.Add(1)
		return
	}
	t, err := s.o.Tenants.Get(r.Context(), spec.LocalUser)
	if err != nil || t.Record == nil {
		return
	}
	reason := no.text
	if n := s.refusals.missed.Swap(0); n > 0 {
		reason += fmt.Sprintf(" (%d more were refused before)", n)
	}
	t.Record.Append(record.Entry{
		Time: time.Now(), Event: record.Refused, Said: describe.Clean(r.UserAgent(), spec.MaxName),
		Origin: describe.Clean(r.Header.Get("Origin"), spec.MaxTitle), URL: r.URL.Path,
		Outcome: strings.ToLower(http.StatusText(no.status)), Reason: reason,
	})
}
