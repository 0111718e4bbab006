package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tabhub/hub/item"
	"tabhub/hub/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// Which values of other sites a request carries is looked for before it is sent if a rule
// may want to know, and otherwise only for the record, when the answer has gone.

// traceWait is how long a request waits until what sites have returned before is read.
const traceWait = 2 * time.Second

var errTracing = &Failure{spec.FailQueueFull, "the owner has rules about what sites have returned to this client, and some of it is still being read; the call was not sent, try again in a moment"}

// trace sets which values of other sites an action carries. The error is a *Failure, or
// ctx's cause.
func (g *gate) trace(ctx context.Context, a *policy.Action, about carrier) error {
	a.Flows = nil
	if !g.flows.KnowsOther(a.Who.ID, a.Site.Domain) {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, traceWait)
	defer cancel()
	if g.flows.Settled(wait, a.Who.ID) != nil {
		return cmp.Or(context.Cause(ctx), error(errTracing))
	}
	a.Flows = g.find(a.Who.ID, a.Site.Domain, about.carried(), about.known())
	return nil
}

// traceSent sets which values of other sites an action has carried, for the record, as far as
// that is known in time, and notes what its client has sent.
func (g *gate) traceSent(ctx context.Context, ad *admission, a *policy.Action, args json.RawMessage) {
	if !ad.traced && g.flows.KnowsOther(a.Who.ID, a.Site.Domain) {
		wait, cancel := context.WithTimeout(ctx, traceWait)
		defer cancel()
		_ = g.flows.Settled(wait, a.Who.ID) // what is not read by then is not in the record
		a.Flows = g.find(a.Who.ID, a.Site.Domain, arguments(args).carried(), nil)
	}
	g.flows.Sent(a.Who.ID, args)
}

func (g *gate) find(who string, to spec.Domain, sent []json.RawMessage, known []string) (flows []policy.Flow) {
	for _, s := range sent {
		flows = g.flows.Find(flows, who, to, s, known...)
	}
	return flows
}

// carried implements carrier.
func (r *run) carried() (sent []json.RawMessage) {
	it := r.action.Item.(*item.Item)
	switch {
	case r.complete != nil:
		c := rawjson.AppendMember([]byte{'{'}, "argument", object(r.complete.Argument))
		sent = append(sent, append(rawjson.AppendMember(c, "context", object(r.complete.Context)), '}'))
	default:
		if given := r.given(it); len(given) > 0 {
			sent = append(sent, given)
		}
	}
	if answers := r.by.Extensions["inputResponses"]; answers != nil {
		sent = append(sent, append(rawjson.AppendMember([]byte{'{'}, "inputResponses", answers), '}'))
	}
	return sent
}

// given returns what the client has given for an item: arguments, or the address that it has
// made of a template.
func (r *run) given(it *item.Item) json.RawMessage {
	if it.Template {
		return append(rawjson.AppendStringMember([]byte{'{'}, "uri", r.ref.Page), '}')
	}
	return r.sentArgs()
}

// sentArgs returns the arguments as the page gets them, or as the client gave them until they
// have been checked.
func (r *run) sentArgs() json.RawMessage {
	if r.checked != nil {
		return r.pageArgs
	}
	return r.args
}

// known implements carrier.
func (r *run) known() []string {
	return []string{r.target.URL, string(r.action.Item.(*item.Item).Definition())}
}

// traced notes for later what the call has sent, which is kept, and what came back, and calls
// leave with the values of other sites that it carried: when they are known, which may be
// later, too.
func (r *run) traced(resp spec.Response, err error, leave func([]policy.Flow)) {
	if !r.sent {
		leave(r.action.Flows)
		return
	}
	g, who, to := r.h.gate, r.by.Who.ID, r.ref.ID.Domain
	sent := r.carried()
	if r.ad.traced || !g.flows.KnowsOther(who, to) {
		leave(r.action.Flows)
	} else {
		g.flows.After(who, func() { leave(g.find(who, to, sent, r.known())) })
	}
	for _, s := range sent {
		g.flows.Sent(who, s)
	}
	if remote, ok := errors.AsType[*spec.Error](err); ok {
		r.returned(remote.Message)
	} else if err == nil {
		g.flows.Learn(who, to, resp.Result)
	}
}

// returned notes for later a text that the site has returned beside its result.
func (r *run) returned(text string) {
	r.h.gate.flows.Learn(r.by.Who.ID, r.ref.ID.Domain, rawjson.AppendString(nil, text))
}

// flowLines returns flows as the record has them.
func flowLines(flows []policy.Flow, to spec.Domain) []string {
	var lines []string
	for _, f := range flows {
		lines = append(lines, fmt.Sprintf("%s → %s, %s", f.From, to, cmp.Or(f.Field, "what could not be read")))
	}
	return lines
}

func object(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("{}")
	}
	return v
}
