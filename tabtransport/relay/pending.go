package relay

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// remembered is how many ids of a connection that are no longer under way are not given
// out again: a late answer to one of them must not meet a newer request.
const remembered = 512

// pendingRequests are the requests of one connection that the extension has not
// answered, by what follows the colon in their outboundID. They are guarded by the mutex
// of their tenant.
type pendingRequests struct {
	byID  map[string]*request
	spent map[string]struct{}
	ring  []string // spent, the oldest at next once it is full
	next  int
	seq   uint64
}

// request is one that waits for an answer.
type request struct {
	id     json.RawMessage // as the client wrote it, with its type; nil if it had none
	text   string          // its key in byID
	method string
	sent   time.Time
	reply  chan<- reply  // of the hub's own requests, with room for one; else nil
	over   chan struct{} // closed at its end; nil if nobody waits for that

	passage Passage // of a client's; nil of the hub's own
}

// end is called when the request is no longer pending. The tenant's lock is held.
func (r *request) end() {
	if r.over != nil {
		close(r.over)
	}
	if r.passage != nil {
		r.passage.End()
	}
}

// chooses reports whether the extension chooses a tab as it serves the request.
func (r *request) chooses() bool { return r.method == "createTab" || r.method == "selectTab" }

// reply is the answer to one of the hub's own requests.
type reply struct {
	result json.RawMessage
	err    error
}

// add enters a request and returns under which text it goes out: what its id says,
// unless 1 meets "1" or an id of before.
func (p *pendingRequests) add(r *request) string {
	text := ""
	if r.id != nil {
		text = idText(r.id)
	}
	for base := text; text == "" || p.taken(text); {
		p.seq++
		text = base + "~" + strconv.FormatUint(p.seq, 10)
	}
	if p.byID == nil {
		p.byID = map[string]*request{}
		p.spent = map[string]struct{}{}
	}
	p.byID[text] = r
	return text
}

func (p *pendingRequests) taken(text string) bool {
	if _, ok := p.byID[text]; ok {
		return true
	}
	_, ok := p.spent[text]
	return ok
}

// take removes a request: nil if there is none.
func (p *pendingRequests) take(text string) *request {
	r := p.byID[text]
	if r == nil {
		return nil
	}
	delete(p.byID, text)
	r.end()
	if len(p.ring) < remembered {
		p.ring = append(p.ring, text)
	} else {
		delete(p.spent, p.ring[p.next])
		p.ring[p.next] = text
		p.next = (p.next + 1) % remembered
	}
	p.spent[text] = struct{}{}
	return r
}

// choosing returns the end of one of the requests that choose a tab, nil if there is none.
func (p *pendingRequests) choosing() <-chan struct{} {
	for _, r := range p.byID {
		if r.chooses() {
			if r.over == nil {
				r.over = make(chan struct{})
			}
			return r.over
		}
	}
	return nil
}

// drain removes the requests that were sent before a time, or all if it is zero.
func (p *pendingRequests) drain(before time.Time) []*request {
	var out []*request
	for text, r := range p.byID {
		if before.IsZero() || r.sent.Before(before) {
			out = append(out, p.take(text))
		}
	}
	return out
}

// splitID takes an id apart that an extension answered with.
func splitID(raw json.RawMessage) (id outboundID, ok bool) {
	s, _ := rawjson.String(raw)
	id.conn, id.text, ok = strings.Cut(s, ":")
	return id, ok
}

// failLocked ends requests of a connection: a client is told err, the hub sent. The tenant's lock is held: what
// they are told comes before what is told of the connection.
func (c *connection) failLocked(requests []*request, err *spec.Error, sent error) {
	for _, r := range requests {
		if r.reply != nil {
			r.reply <- reply{err: sent}
		} else if r.id != nil {
			c.client.out.MustSend(c.client.dialect.failure(r.id, "", err))
		}
	}
}
