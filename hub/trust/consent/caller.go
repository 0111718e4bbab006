package consent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"tabhub/hub/call/ledger"
	"tabhub/hub/trust/flow"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// Caller is the client for which something is done, and how it can be reached
// meanwhile. It is immutable, and belongs to one request of the client.
type Caller struct {
	Principal *policy.Principal
	Said      string    // what the client calls itself; believed for nothing
	Session   string    // made by the hub or its bridge, and good for Who alone; "" if the client has none
	Agent     string    // tells apart the runs of a client without a Session, "" with one; believed for tabs alone
	Began     time.Time // when the session made its first call; zero: this is it
	Bound     []string  // the names of the browsers that its connection is for; nil: all
	Via       string    // the builtin tool that it called for this; "" if none

	// Extensions go to the page as they are.
	Extensions spec.Extensions

	// Begun tells the client the ID of what it has begun, by which it can be stopped, before
	// anything is done. Nil if the client does not want to know.
	Begun func(id string)
	// Progress tells the client of progress, in order, until the call has returned. Nil if
	// the client wants none.
	Progress func(spec.Progress)
	// Elicit asks the client's own user. Nil if the client cannot.
	Elicit Elicit
	// Reply is the client's answer to the question with which an earlier request of it has ended.
	// Nil: none.
	Reply *Reply
	// Round and After tie together the requests of one call whose page asks back: Round is
	// a random id of this request, After that of the one before, "" in the first. A yes for
	// this once is good for all of them.
	Round, After string
	// AskedBy is the frame that has asked back in the round before: this round goes there. The
	// Hub sets it when a page asks back. Nil: the client cannot be asked.
	AskedBy *Frame

	// Request is the client's request in the ledger. Nil: none.
	Request *ledger.Call

	note *note // nil if no record is made
}

// Frame is a frame of a tab. The zero Frame is none.
type Frame struct {
	Tab string `json:"tab"`          // spec.TabAddr.Public
	ID  int64  `json:"id,omitempty"` // 0: the tab's page itself
}

// Elicit asks the user of a client a question, and blocks until there is an answer. It returns
// *AskBack if the client can be asked only by ending its request, and ErrUnanswered if nobody has answered:
// a client that runs unattended says so by itself.
type Elicit func(ctx context.Context, q *spec.Ask) (spec.AskResult, error)

// Reply is the answer to a question by which an earlier request has ended.
type Reply struct {
	Question string // its id
	Result   spec.AskResult
	// Unanswered: nobody has answered the client, so it is not asked again.
	Unanswered bool
}

// ErrUnanswered says that the user of a client has not answered.
var ErrUnanswered = errors.New("the client's user has not answered")

// AskBack is the error of a call that ends with a question for the client's user: the client
// sends the same request again, with the answer.
type AskBack struct{ Question *spec.Ask }

func (*AskBack) Error() string { return "the owner is to be asked first" }

// As returns the Caller of a principal that has no session, and cannot be reached.
func As(who *policy.Principal) *Caller { return &Caller{Principal: who} }

// Party names a client and the browsers that its connection is for: connections of one client that
// are for other browsers know nothing of each other's calls.
func Party(who *policy.Principal, bound []string) string {
	if bound == nil {
		return who.ID
	}
	return who.ID + "\x00" + strings.Join(bound, ",")
}

// IsParty reports whether a Party is of the client of an ID.
func IsParty(party, client string) bool {
	id, _, _ := strings.Cut(party, "\x00")
	return id == client
}

// Label names the client for people: by the owner's name for it, if it has one, else by what
// it calls itself.
func (c *Caller) Label() string {
	switch c.Principal {
	case policy.Owner, policy.Token, policy.Unnamed:
		return cmp.Or(c.Said, c.Principal.Name)
	}
	return c.Principal.Name
}

// Report tells the client of progress, if it wants to know it.
func (c *Caller) Report(p spec.Progress) {
	if c.Progress != nil {
		c.Progress(p)
	}
}

// Through returns c for what its client does through the builtin tool of that name.
func (c *Caller) Through(tool string) *Caller {
	via := *c
	via.Via, via.Begun = tool, nil
	return &via
}

// Call is what a question about a call is made from.
type Call struct {
	ID       string // the call's, for the record
	Action   *policy.Action
	Decision policy.Decision
	Args     json.RawMessage // as they would be sent
	Title    string          // of the item, by its page
	Origin   string          // where it is
	Top      string          // the site of the page that it is in, if that is another
	Is       json.RawMessage // the definition that is called; nil without one
	// Added is when the owner added the pack whose tool is called, zero if that is not known.
	Added time.Time
	// Steps say what the call of a pack's tool does (spec.AskPack), or what an act does, a step each:
	// `click button "Order"`. The page's own words stand in quotes.
	Steps []string
	// Script is the JavaScript of a client's own by which it acts. The owner sees it whole.
	Script string
	// Trusted is set if the browser acts with input that pages cannot tell from its user's.
	Trusted bool
	// Carries returns which texts of other sites stand in Args. It is called when a question is
	// made, once. Nil: none.
	Carries func() []flow.Match
}
