package admin

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"time"

	"tabhub/hub"
	"tabhub/hub/call"
	"tabhub/hub/face/endpoint"
	"tabhub/hub/tenant"
	"tabhub/hub/trust/record"
)

const (
	watchEvery   = 100 * time.Millisecond // at least, between two events
	watchBeat    = 15 * time.Second       // after which a silent stream is tested
	watchStarted = math.MaxUint64         // record.Recorder.Since: nothing of before
)

// WatchEvent is an event of GET /api/watch. It says what has changed since the event before; the first
// says that everything has.
type WatchEvent struct {
	Running []call.Running `json:"running"`        // the requests of clients in flight, all of them each time
	More    int            `json:"more,omitempty"` // in flight, and not in Running

	Entries []record.Line `json:"entries,omitempty"` // of the record, the oldest first
	Missed  uint64        `json:"missed,omitempty"`  // came too fast to be among them

	// Changed is what the client must read again: "tabs", with browsers, tools and sites, "packs",
	// "policy", with pauses, "clients", "questions".
	Changed []string `json:"changed,omitempty"`
}

// watch sends what the user's clients do, while they do it, until the credential ends or the caller has
// gone.
func (api *API) watch(r *endpoint.Request) error {
	ctx, end, err := api.beginStream(r)
	if err != nil {
		return err
	}
	defer end()
	out := r.Events()
	look := newLook(r.Tenant)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		changed := r.Tenant.Changed.Wait()
		event, asked := look.again()
		if event != nil && out.Send(event) != nil {
			return nil
		}
		last := time.Now()
		timer.Reset(watchBeat)
		select {
		case <-changed:
		case <-asked:
		case <-timer.C:
			if out.Beat() != nil {
				return nil
			}
			continue
		case <-ctx.Done():
			return nil
		case <-r.Tenant.Hub.Core.Done():
			return nil
		}
		timer.Reset(time.Until(last.Add(watchEvery)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// look is what a caller of watch has seen so far.
type look struct {
	tenant   *tenant.Tenant
	running  []byte // as it was sent
	entries  uint64 // see record.Recorder.Since
	revision hub.Revision
	asked    <-chan struct{} // closed when questions have changed since
	packs    <-chan struct{} // closed when packs have
	first    bool
}

func newLook(t *tenant.Tenant) *look {
	_, _, n := t.Record.Since(watchStarted)
	return &look{tenant: t, entries: n, first: true}
}

// again returns an event with what has changed, nil if nothing has, and a channel that is closed when
// questions change.
func (l *look) again() (e *WatchEvent, asked <-chan struct{}) {
	e = new(WatchEvent)
	changed := func(what string, has bool) {
		if has || l.first {
			e.Changed = append(e.Changed, what)
		}
	}
	is := l.tenant.Hub.Revision()
	changed("tabs", is.Tabs != l.revision.Tabs)
	changed("policy", is.Policy != l.revision.Policy)
	changed("clients", is.Clients != l.revision.Clients)
	_, _, asked = l.tenant.Hub.Owner.Desk().Waiting()
	changed("questions", asked != l.asked)
	packs := l.tenant.Hub.Packs.Changed()
	changed("packs", packs != l.packs)
	l.revision, l.asked, l.packs, l.first = is, asked, packs, false

	var all int
	e.Running, all = l.tenant.Hub.Owner.Running()
	e.Running = nonNil(e.Running)
	e.More = all - len(e.Running)
	running, _ := json.Marshal(e.Running)
	e.Entries, e.Missed, l.entries = l.tenant.Record.Since(l.entries)
	if len(e.Changed)+len(e.Entries) == 0 && bytes.Equal(running, l.running) {
		return nil, asked
	}
	l.running = running
	return e, asked
}

// deleteCall stops a request in flight.
func deleteCall(r *endpoint.Request) error {
	if !r.Tenant.Hub.Owner.Stop(r.URL.Query().Get("id")) {
		return &endpoint.Error{Status: http.StatusNotFound, Text: "no such call is in flight; it has ended"}
	}
	return r.Answer(struct{}{})
}
