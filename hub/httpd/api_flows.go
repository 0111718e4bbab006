package httpd

import (
	"slices"
	"strings"
	"sync"
	"time"

	"tabhub/hub/record"
	"tabhub/hub/tenant"
	"tabhub/spec"
)

// FlowReport is an element of GET /api/flows: values of one site that a client has sent to
// another, or would have.
type FlowReport struct {
	Client string      `json:"client,omitempty"` // the ID of its credential
	Said   string      `json:"said,omitempty"`   // what it calls itself
	From   spec.Domain `json:"from"`
	To     spec.Domain `json:"to"`
	Times  int         `json:"times"`  // in how many calls
	Denied int         `json:"denied"` // of these, which were not sent
	Last   time.Time   `json:"last"`
	Call   string      `json:"call,omitempty"` // the last one
}

// maxFlowLines is how many of the latest calls GET /api/flows goes by.
const maxFlowLines = 10_000

// getFlows says what has gone from site to site in the latest calls, the latest first: of the
// site, and of the client, that the parameters name.
func (s *Server) getFlows(r *request) error {
	part, err := newPart[*FlowReport](r)
	if err != nil {
		return err
	}
	lines, err := r.tenant.Record.Read(record.Query{Event: record.Call, Client: r.URL.Query().Get("client"), Limit: maxFlowLines})
	if err != nil {
		return err
	}
	for _, f := range flowsOf(lines) {
		if (part.site == "" || f.From == part.site || f.To == part.site) && part.has() {
			part.shown = append(part.shown, f)
		}
	}
	return part.answer(r)
}

// flowSitesKept is how long what flowSites has read is good for: the record is long, and the list
// of sites is asked for whenever something of a tab changes.
const flowSitesKept = 30 * time.Second

// flowSites are the sites of a user that values went from or to in the latest calls.
type flowSites struct {
	mu    sync.Mutex
	read  time.Time
	sites []spec.Domain
}

// flowSites returns these sites, in any order.
func (s *Server) flowSites(t *tenant.Tenant) ([]spec.Domain, error) {
	s.mu.Lock()
	of := s.flows[t.User]
	if of == nil {
		of = new(flowSites)
		s.flows[t.User] = of
	}
	s.mu.Unlock()
	of.mu.Lock()
	defer of.mu.Unlock()
	if time.Since(of.read) < flowSitesKept {
		return of.sites, nil
	}
	lines, err := t.Record.Read(record.Query{Event: record.Call, Limit: maxFlowLines})
	if err != nil {
		return nil, err
	}
	of.read, of.sites = time.Now(), nil
	for _, f := range flowsOf(lines) {
		of.sites = append(of.sites, f.From, f.To)
	}
	slices.Sort(of.sites)
	of.sites = slices.Compact(of.sites)
	return of.sites, nil
}

// flowsOf sums up what lines of the record, the oldest first, say of flows.
func flowsOf(lines []record.Line) []*FlowReport {
	type key struct {
		client, said string
		from, to     spec.Domain
	}
	found := map[key]*FlowReport{}
	var flows []*FlowReport
	for i := range lines {
		l := &lines[i]
		for _, flow := range l.Flows {
			from, _, _ := strings.Cut(flow, " → ")
			k := key{l.Client, l.Said, spec.Domain(from), l.Domain}
			f := found[k]
			if f == nil {
				f = &FlowReport{Client: l.Client, Said: l.Said, From: k.from, To: k.to}
				found[k] = f
				flows = append(flows, f)
			}
			if f.Times > 0 && f.Call == l.Call { // another value
				continue
			}
			f.Times, f.Last, f.Call = f.Times+1, l.Time, l.Call
			if l.Decision == "deny" {
				f.Denied++
			}
		}
	}
	slices.SortFunc(flows, func(a, b *FlowReport) int { return b.Last.Compare(a.Last) })
	return flows
}
