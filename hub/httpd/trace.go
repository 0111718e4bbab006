package httpd

import (
	"cmp"
	"context"
	"strconv"
	"sync"

	"tabhub/hub/state"
	"tabhub/naming"
	"tabhub/spec"
	"tabhub/spec/rawjson"
	"tabhub/tabtransport"
)

// TraceReport is one event of GET /api/trace: a message, and the tab that it is about as far
// as the hub knows that by then.
type TraceReport struct {
	*tabtransport.Traced
	Browser string      `json:"browser,omitempty"`
	Site    spec.Domain `json:"site,omitempty"`
	Number  int         `json:"number,omitempty"` // the tab's, of the site
}

// tracing is what a stream of GET /api/trace is to show: what is about a tab of a site, or all.
type tracing struct {
	site   spec.Domain // "": all
	number int         // 0: each of the site
}

// getTrace sends what is said between the hub and the caller's tabs from now on, as an event
// each, until the caller leaves or the hub ends: another node has the tabs then.
func (s *Server) getTrace(r *request) error {
	want := tracing{site: spec.Domain(r.URL.Query().Get("site"))}
	if want.site != "" && !naming.IsDomain(want.site) {
		return badRequest("site is %q; write it as `tabhub tabs` shows it, such as example.com", want.site)
	}
	if v := r.URL.Query().Get("tab"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 || want.site == "" {
			return badRequest("tab is %q; it is the number of a tab of a site, which must be given, too", v)
		}
		want.number = n
	}
	ctx, end, err := s.beginStream(r)
	if err != nil {
		return err
	}
	defer end()
	ctx, cancel := context.WithCancel(ctx)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case <-r.tenant.Hub.Done():
			cancel()
		case <-ctx.Done():
		}
	})
	defer waiting.Wait()
	defer cancel()
	out := r.events()
	_ = s.o.Trace(ctx, r.pass.identity.User, func(m *tabtransport.Traced) error {
		report := TraceReport{Traced: m}
		if tab, known := r.tenant.Hub.Tab(m.Tab); known {
			report.Browser = tab.BrowserName
			report.setSite(want, tab.Domains)
		} else { // it is about to register
			url, _ := rawjson.String(rawjson.Get(m.Body, "params", "tabUrl"))
			report.setSite(want, []state.TabDomain{{Domain: naming.DomainOfURL(cmp.Or(url, m.Origin), true)}})
		}
		if want.site != "" && report.Site == "" && m.Event != tabtransport.EventMissed && m.Event != tabtransport.EventBegun {
			return nil
		}
		return out.send(report)
	}) // the stream has ended, by whoever's doing
	return nil
}

// setSite sets the first site of a tab that is wanted.
func (m *TraceReport) setSite(want tracing, of []state.TabDomain) {
	for _, d := range of {
		if want.site == "" || d.Domain == want.site && (want.number == 0 || want.number == d.Number) {
			m.Site, m.Number = d.Domain, d.Number
			return
		}
	}
}
