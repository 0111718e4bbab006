package hub

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tabhub/hub/item"
	"tabhub/hub/record"
	"tabhub/hub/state"
	"tabhub/spec"
)

// Record adds an entry to the record, for what happens beside the calls that the hub
// runs. It does not block.
func (h *Hub) Record(e record.Entry) { h.opts.Record.Append(e) }

// recordCall leaves the record of a call.
func (h *Hub) recordCall(r *run, resp spec.Response, err error) {
	e := record.Entry{
		Time: r.start, Event: record.Call, Said: r.client, Via: r.via, Domain: r.ref.ID.Domain, Tool: r.ref.ID.Item,
		Args: r.args, Outcome: outcome(resp, err), Reason: r.reason, Duration: time.Since(r.start),
	}
	if r.target.Addr.Peer != "" {
		e.Tab = r.target.Addr.String()
	}
	h.Record(e)
	h.confirmEpoch()
}

// confirmEpoch has the store say whether another hub serves the user by now, which a hub
// whose tabs are quiet does not learn from what it writes.
func (h *Hub) confirmEpoch() {
	h.store.Write(h.opts.User, h.epoch, nil, func(err error) {
		if err != nil {
			h.written(err)
		}
	})
}

func outcome(resp spec.Response, err error) string {
	if f, ok := errors.AsType[*Failure](err); ok {
		return string(f.Code)
	}
	_, remote := errors.AsType[*spec.Error](err)
	switch {
	case remote, err == nil && resp.Failed:
		return string(spec.FailToolError)
	case err == nil:
		return "ok"
	case errors.Is(err, context.DeadlineExceeded):
		return string(spec.FailToolTimeout)
	}
	return "cancelled"
}

// recordRegistration leaves the record of a registration that changed something.
func (h *Hub) recordRegistration(from spec.TabAddr, m *spec.Register, items []*item.Item, out state.Outcome, d time.Duration) {
	e := record.Entry{
		Time: time.Now(), Event: record.Register, Tab: from.String(), Duration: d,
		Outcome: "ok", Reason: plural(len(items), m.Kind),
	}
	if len(items) > 0 {
		e.Domain = items[0].Domain
	}
	if n := len(out.Answer.Warnings); n > 0 {
		h.log.Info("offered in part", "tab", from, "domain", e.Domain, "tool", out.Answer.Warnings[0].Name, "err", out.Answer.Warnings[0].Reason, "count", n)
	}
	if rejected := out.Rejected; len(rejected) > 0 {
		e.Outcome = fmt.Sprintf("%d rejected", len(rejected))
		e.Reason += fmt.Sprintf("; %s: %s", rejected[0].Name, rejected[0].Reason)
		h.log.Warn("quarantined", "tab", from, "domain", e.Domain, "tool", rejected[0].Name, "err", rejected[0].Reason, "count", len(rejected))
	}
	h.Record(e)
}

func plural(n int, kind spec.Kind) string {
	if n == 1 {
		return "1 " + string(kind)
	}
	return fmt.Sprintf("%d %ss", n, kind)
}
