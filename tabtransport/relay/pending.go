package relay

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

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

	inFlight InFlight // ends when the request is no longer pending
}

// chooses reports whether the extension chooses a tab as it serves the request.
func (r *request) chooses() bool { return r.method == "createTab" || r.method == "selectTab" }

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
	r.inFlight.End()
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
