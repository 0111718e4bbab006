package relay

import (
	"encoding/json"
	"strconv"
	"time"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// remembered is how many ids that are no longer under way a table keeps from being
// given out again: a late answer to one of them must not meet a newer request.
const remembered = 512

// table holds the requests of one connection that the extension has not answered.
// Its keys are what follows the colon in an outboundID. It is guarded by the mutex
// of its world.
type table struct {
	pending map[string]*request
	spent   map[string]struct{}
	ring    []string // spent, the oldest at next once it is full
	next    int
	seq     uint64
}

// request is one that waits for an answer.
type request struct {
	id     json.RawMessage // as the client wrote it, with its type; nil if it had none
	method string
	sent   time.Time
	reply  chan<- reply // of the hub's own requests, with room for one; else nil
}

// reply is the answer to one of the hub's own requests.
type reply struct {
	result json.RawMessage
	err    error
}

// add enters a request and returns under which text it goes out: what its id says,
// unless 1 meets "1" or an id of before.
func (t *table) add(r *request) string {
	text := ""
	if r.id != nil {
		text = idText(r.id)
	}
	for base := text; text == "" || t.taken(text); {
		t.seq++
		text = base + "~" + strconv.FormatUint(t.seq, 10)
	}
	if t.pending == nil {
		t.pending = map[string]*request{}
		t.spent = map[string]struct{}{}
	}
	t.pending[text] = r
	return text
}

func (t *table) taken(text string) bool {
	if _, ok := t.pending[text]; ok {
		return true
	}
	_, ok := t.spent[text]
	return ok
}

// take removes a request: nil if there is none.
func (t *table) take(text string) *request {
	r := t.pending[text]
	if r == nil {
		return nil
	}
	delete(t.pending, text)
	if len(t.ring) < remembered {
		t.ring = append(t.ring, text)
	} else {
		delete(t.spent, t.ring[t.next])
		t.ring[t.next] = text
		t.next = (t.next + 1) % remembered
	}
	t.spent[text] = struct{}{}
	return r
}

// drain removes the requests that were sent before a time, or all if it is zero.
func (t *table) drain(before time.Time) []*request {
	var out []*request
	for text, r := range t.pending {
		if before.IsZero() || r.sent.Before(before) {
			out = append(out, t.take(text))
		}
	}
	return out
}

// splitID takes an id apart that an extension answered with.
func splitID(raw json.RawMessage) (id outboundID, ok bool) {
	s, ok := rawjson.String(raw)
	if !ok {
		return outboundID{}, false
	}
	for i := range len(s) {
		if s[i] == ':' {
			return outboundID{s[:i], s[i+1:]}, true
		}
	}
	return outboundID{}, false
}

// fail ends requests of a connection with an error. The world's lock is held: what
// they are told comes before what is told of the connection.
func (c *connection) failLocked(requests []*request, err func() *spec.Error, sent error) {
	for _, r := range requests {
		if r.reply != nil {
			r.reply <- reply{err: sent}
		} else if r.id != nil {
			c.client.sock.mustSend(c.client.dialect.failure(r.id, "", err()))
		}
	}
}
