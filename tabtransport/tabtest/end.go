package tabtest

import (
	"encoding/json"
	"testing"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// End is the peer of a connection, a browser or a tab, moved step by step by a test.
// Methods that wait are meant for a testing/synctest bubble, which reports a wait without
// end as a deadlock.
type End interface {
	// Notify sends a message without an id.
	Notify(tab int64, msg spec.Inbound)
	// Ask sends a message with an id and waits for the answer.
	Ask(tab int64, msg spec.Inbound) (json.RawMessage, error)
	// Next waits for the next request of the hub.
	Next() Request
	// Answer answers a request: with resp, or with err if that is not nil.
	Answer(r Request, resp spec.Response, err *spec.Error)
	// Progress reports progress of a request.
	Progress(r Request, progress float64)
	// Waits reports that a request waits for the person in front of the tab.
	Waits(r Request)
	// Continues reports that a request goes on in a later document of the tab.
	Continues(r Request)
	// Cancelled waits for the next request that the hub cancels.
	Cancelled() string
	// Closed waits until the hub closes the connection.
	Closed() spec.CloseCode
	// Cut loses the connection, without a word.
	Cut()
}

// Request is a request of the hub as an End sees it.
type Request struct {
	ID     string
	Tab    int64
	Method string
	Call   spec.ExecuteTool // if it is one
}

// Dial connects an End. conn describes it; a wire that finds out some of its
// fields by itself ignores them.
type Dial func(t testing.TB, conn tabtransport.Conn) (End, error)
