package hub

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"tabhub/hub/item"
	"tabhub/hub/policy"
	"tabhub/hub/state"
	"tabhub/spec"
	"tabhub/storage"
)

// Records reads the log of registrations and calls.
func (h *Hub) Records(ctx context.Context, q storage.Query) ([]storage.Record, error) {
	return h.store.Records(ctx, h.opts.User, q)
}

// Record adds a line to the log, for what happens beside the calls that the hub
// runs. It does not block.
func (h *Hub) Record(r storage.Record) {
	h.store.Write(h.opts.User, h.epoch, []storage.Change{r}, h.recordWritten)
}

// recordCall leaves the record of a call.
func (h *Hub) recordCall(r *run, resp spec.Response, err error) {
	rec := storage.Record{
		Time: r.start, Event: storage.EventCall, Client: r.by.Label(), Via: r.by.Via, Domain: r.ref.ID.Domain, Tool: r.ref.ID.Item,
		Digest: digest(r.args), Outcome: outcome(resp, err), Reason: r.reason, Duration: time.Since(r.start),
	}
	if r.target.Addr.Peer != "" {
		rec.Tab = r.target.Addr.String()
	}
	r.traced(resp, err, func(flows []policy.Flow) {
		rec.Flows = strings.Join(flowLines(flows, rec.Domain), "; ")
		h.Record(rec)
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
	rec := storage.Record{
		Time: time.Now(), Event: storage.EventRegister, Tab: from.String(), Duration: d,
		Outcome: "ok", Reason: plural(len(items), m.Kind),
	}
	if len(items) > 0 {
		rec.Domain = items[0].Domain
	}
	if n := len(out.Answer.Warnings); n > 0 {
		h.log.Info("offered in part", "tab", from, "domain", rec.Domain, "tool", out.Answer.Warnings[0].Name, "err", out.Answer.Warnings[0].Reason, "count", n)
	}
	if rejected := out.Rejected; len(rejected) > 0 {
		rec.Outcome = fmt.Sprintf("%d rejected", len(rejected))
		rec.Reason += fmt.Sprintf("; %s: %s", rejected[0].Name, rejected[0].Reason)
		h.log.Warn("quarantined", "tab", from, "domain", rec.Domain, "tool", rejected[0].Name, "err", rejected[0].Reason, "count", len(rejected))
	}
	h.Record(rec)
}

func (h *Hub) recordWritten(err error) {
	if err != nil {
		h.written(err)
	}
}

func plural(n int, kind spec.Kind) string {
	if n == 1 {
		return "1 " + string(kind)
	}
	return fmt.Sprintf("%d %ss", n, kind)
}
