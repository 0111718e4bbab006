package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"tabhub/describe"
	"tabhub/hub/consent"
	"tabhub/hub/outcome"
	"tabhub/hub/policy"
	"tabhub/spec"
)

// Running is a request of a client that is under way, as its owner sees it.
type Running struct {
	ID       string         `json:"id"`               // of the call, as in the record
	Client   string         `json:"client,omitempty"` // the ID of its credential
	Name     string         `json:"name,omitempty"`   // the owner's name of the client
	Said     string         `json:"said,omitempty"`   // what the client calls itself
	Via      string         `json:"via,omitempty"`    // the hub's own tool that the client called for it
	Kind     spec.Kind      `json:"kind,omitempty"`   // "" for a tool of the hub itself, and for what is forwarded to an extension
	Domain   spec.Domain    `json:"domain,omitempty"`
	Tool     string         `json:"tool"`              // the page's own name; the method of what is forwarded
	Tab      string         `json:"tab,omitempty"`     // "" until it is sent to one, or waits for the owner there
	Browser  string         `json:"browser,omitempty"` // the name of the extension that it is forwarded to, "" until it is
	Began    time.Time      `json:"began"`
	Phase    Phase          `json:"phase"`
	Decision string         `json:"decision,omitempty"` // "allow", or "ask" where the owner has; "" before
	Progress *spec.Progress `json:"progress,omitempty"` // the latest
}

// Phase is how far a request has come.
type Phase string

// The phases.
const (
	PhaseWaiting Phase = "waiting" // for a tab that is away or being opened, or that the owner uses
	PhaseAsking  Phase = "asking"  // for the owner's answer
	PhaseRunning Phase = "running" // in the tab, or in the hub
)

// maxRunning is how many requests Running describes at most.
const maxRunning = 200

// Running describes the requests of clients that are under way, those that have taken longest
// first, and says how many there are in all.
func (h *Hub) Running() (shown []Running, all int) {
	under := h.gate.passages(func(p *passage) bool { return p.about.id != "" })
	slices.SortFunc(under, func(a, b *passage) int {
		return cmp.Or(a.began.Compare(b.began), cmp.Compare(a.about.id, b.about.id))
	})
	for _, p := range under[:min(len(under), maxRunning)] {
		shown = append(shown, p.describe())
	}
	return shown, len(under)
}

// Stop ends a request that is under way, by its id, and reports whether there is one. Its
// client is told that the owner has stopped it.
func (h *Hub) Stop(id string) bool {
	if id == "" {
		return false
	}
	found := h.gate.passages(func(p *passage) bool { return p.about.id == id })
	for _, p := range found {
		p.cancel(errOwnerStopped)
	}
	return len(found) > 0
}

// passages returns the requests under way that fit.
func (g *gate) passages(fits func(*passage) bool) (found []*passage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for p := range g.underWay {
		if fits(p) {
			found = append(found, p)
		}
	}
	return found
}

// Track shows a call of one of the hub's own tools to its owner until end is called with how
// it has ended, which returns that as the client is to get it.
func (h *Hub) Track(ctx context.Context, by *consent.Caller, tool string) (_ context.Context, id string, end func(json.RawMessage, error) (json.RawMessage, error)) {
	id = callID(by)
	ctx, p := h.gate.enter(ctx, by, subject{id: id, name: tool, own: true})
	return ctx, id, func(result json.RawMessage, err error) (json.RawMessage, error) {
		if err != nil && context.Cause(ctx) == errOwnerStopped {
			f, _ := errors.AsType[*Failure](h.gateError(errOwnerStopped, true))
			result, err = f.Result(), nil
		}
		p.leave()
		return result, err
	}
}

// Revision counts the changes of what its owner is shown of a hub.
type Revision struct {
	Tabs    uint64 // of tabs, browsers, sites and what is offered
	Policy  uint64
	Clients uint64 // that have come and gone
}

// Revision returns how much has changed so far. Options.Changed is fired when that is more.
func (h *Hub) Revision() Revision {
	return Revision{h.updates.Load(), h.gate.edits.Load(), h.gate.apps.turnover.Load()}
}

// callID returns the id of a call that is made on somebody's behalf: that of the client's
// request, if it has one.
func callID(by *consent.Caller) string {
	if id := by.Outcome.ID(); id != "" {
		return id
	}
	return outcome.NewID()
}

// passage is a request of a client that is under way, for the owner to see and to stop.
type passage struct {
	gate   *gate
	by     *consent.Caller
	about  subject
	began  time.Time
	cancel func(cause error) // nil: it has ended

	mu       sync.Mutex
	phase    Phase
	tab      spec.TabAddr
	browser  string
	decision policy.Effect // policy.Unset before there is one
	progress *spec.Progress
}

// subject is what a request is for.
type subject struct {
	id   string // "": the request is a part of one that is shown
	kind spec.Kind
	name string
	site policy.Site // empty for none, or for one that is not known yet
	own  bool        // a tool of the hub itself: what it does for the client are requests, too
}

// What the owner has stopped.
var (
	errPaused       = errors.New("the owner has paused this")
	errOwnerStopped = fmt.Errorf("the owner has stopped this: %w", consent.ErrWithdrawn)
)

// enter begins a request of a client, before it is decided about: what the owner stops from
// then on ends. The caller calls leave at its end.
func (g *gate) enter(ctx context.Context, by *consent.Caller, about subject) (context.Context, *passage) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, g.begin(by, about, cancel)
}

// begin is enter for a request that cancel stops.
func (g *gate) begin(by *consent.Caller, about subject, cancel func(cause error)) *passage {
	p := &passage{gate: g, by: by, about: about, began: time.Now(), cancel: cancel, phase: PhaseRunning}
	if !about.own {
		g.apps.called(by)
	}
	g.mu.Lock()
	g.underWay[p] = struct{}{}
	g.mu.Unlock()
	g.changed.Fire()
	if by.Begun != nil && about.id != "" {
		by.Begun(about.id)
	}
	return p
}

func (p *passage) leave() {
	p.gate.mu.Lock()
	delete(p.gate.underWay, p)
	p.gate.mu.Unlock()
	p.cancel(nil)
	p.gate.changed.Fire()
}

// change changes what is shown of p, nil if nothing is.
func (p *passage) change(f func()) {
	if p == nil {
		return
	}
	p.mu.Lock()
	f()
	p.mu.Unlock()
	p.gate.changed.Fire()
}

// enters says which phase begins.
func (p *passage) enters(phase Phase) { p.change(func() { p.phase = phase }) }

// forwarded says that the request goes to an extension, by what decision.
func (p *passage) forwarded(browser string, by policy.Effect) {
	p.change(func() { p.browser, p.decision = browser, by })
}

// sent says that the request goes to a tab, by what decision.
func (p *passage) sent(to spec.TabAddr, by policy.Effect) {
	p.change(func() { p.phase, p.tab, p.decision = PhaseRunning, to, by })
}

// waitsFor says that the request waits for the owner, who uses a tab.
func (p *passage) waitsFor(tab spec.TabAddr) {
	p.change(func() { p.phase, p.tab = PhaseWaiting, tab })
}

// goesOn says that the request waits no longer.
func (p *passage) goesOn() { p.change(func() { p.phase, p.progress = PhaseRunning, nil }) }

// reaches says which site the request is about, once that is known. Only of one that is a part
// of another it is not known at first, and those are not described.
func (p *passage) reaches(site policy.Site) {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	p.about.site = site
}

// maxShown is how long a message of a page may be that is shown while it runs, in bytes.
const maxShown = 200

// progressed says how far the page has come.
func (p *passage) progressed(to spec.Progress) {
	to.Message = describe.Clean(to.Message, maxShown)
	p.change(func() { p.progress = &to })
}

func (p *passage) describe() Running {
	e := p.by.Entry("", p.began)
	p.mu.Lock()
	defer p.mu.Unlock()
	r := Running{
		ID: p.about.id, Client: e.Client, Name: e.Name, Said: e.Said, Via: e.Via,
		Kind: p.about.kind, Domain: p.about.site.Domain, Tool: p.about.name, Browser: p.browser, Began: p.began, Phase: p.phase, Progress: p.progress,
	}
	if p.tab.Peer != "" {
		r.Tab = p.tab.String()
	}
	if p.decision != policy.Unset {
		r.Decision = p.decision.String()
	}
	return r
}

// stopPaused cancels what is under way and paused.
func (g *gate) stopPaused() {
	rules, now := g.rules.Load(), time.Now()
	paused := g.passages(func(p *passage) bool {
		if p.about.own {
			return false
		}
		a := policy.Action{Who: p.by.Who, Session: p.by.Session, Site: p.about.site}
		if a.Site == (policy.Site{}) {
			a.Of = policy.OfHub
		}
		return rules.Decide(&a, now).Paused
	})
	for _, p := range paused {
		p.cancel(errPaused)
	}
}
