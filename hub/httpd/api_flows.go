package httpd

import (
	"slices"
	"strings"
	"time"

	"tabhub/hub/record"
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
	lines, err := r.tenant.Record.Read(r.Context(), record.Query{Event: record.Call, Client: r.URL.Query().Get("client"), Limit: maxFlowLines})
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
