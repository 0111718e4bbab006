package call

import (
	"encoding/json"
	"errors"
	"fmt"

	"tabhub/hub/offer/item"
	"tabhub/hub/trust/flow"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// What a client does is decided about by which sites it has read. Which of their texts it
// sends is looked for when the owner is asked, or looks at a call.

// read returns the sites of which a client has read something, as far as rules care.
func (g *gate) read(rules *policy.Set, who *policy.Principal) []spec.Domain {
	if !rules.Traces(who) {
		return nil
	}
	return g.flows.Read(who.ID, rules)
}

// returned notes that a site returns something to a client, before the client has it. data is
// what, or nil if it cannot be shown as part of anything.
func (g *gate) returned(who *policy.Principal, from spec.Domain, data json.RawMessage) {
	g.flows.Returned(who, from, g.rules.Policy(), data)
}

// says is returned for a text that the site has said beside a result.
func (g *gate) says(who *policy.Principal, from spec.Domain, text string) {
	rules := g.rules.Policy()
	var data json.RawMessage
	if text != "" && rules.Traces(who) {
		data = rawjson.AppendString(nil, text)
	}
	g.flows.Returned(who, from, rules, data)
}

// traced notes what the call has sent, which is kept, and that the site has returned something.
func (r *run) traced(resp spec.Response, err error) {
	if !r.sent {
		return
	}
	g, who, to := r.h.gate, r.by.Principal, r.ref.ID.Domain
	if rules := g.rules.Policy(); rules.Traces(who) {
		for _, s := range r.carried() {
			g.flows.Sent(who, to, rules, r.id, s)
		}
	}
	if remote, ok := errors.AsType[*spec.Error](err); ok {
		g.says(who, to, remote.Message)
	} else if err == nil || resp.Result != nil {
		g.returned(who, to, resp.Result)
	}
}

// carried returns what of the client's the call sends, objects.
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

// carries returns which texts of other sites stand in what the call would send, for its owner.
func (r *run) carries() []flow.Match {
	return r.h.gate.flows.Compare(r.by.Principal.ID, r.ref.ID.Domain, r.carried(),
		r.target.URL, string(r.action.Item.(*item.Item).Definition())) // which the site has
}

// Carried returns which texts of other sites a call has sent. It reports false if what the call
// has sent is not kept any more, or never was.
func (o *Owner) Carried(call string) ([]flow.Match, bool) {
	return o.calls.gate.flows.CompareCall(call)
}

// flowLines returns the flows that a decision was about, as the record has them.
func flowLines(d policy.Decision, to policy.Site) []string {
	if len(d.From) == 0 {
		return nil
	}
	where := string(to.Domain)
	if to.Any {
		where = "any site"
	}
	lines := make([]string, 0, len(d.From))
	for _, from := range d.From {
		lines = append(lines, fmt.Sprintf("%s → %s", from, where))
	}
	return lines
}

func object(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("{}")
	}
	return v
}
