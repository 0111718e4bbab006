// Package outcome keeps what became of the calls of clients: it answers the client that asks
// for it, and the one that asks for the same call again because it has not got the answer.
//
// A Call is one request of a client: tools/call, resources/read or prompts/get. It may send
// several requests to pages, as a batch of the tool proxy does, or none.
//
//	            Sending               End, with or without an answer
//	waiting ─────────────▶ sent ─────────────────────────────────▶ ended
//	   ▲ ◀──── NotSent ─────┘                                        ▲
//	   └───────────────────────── End ───────────────────────────────┘
//
// What a Report says follows from that:
//
//	waiting, sent                                      under_way, and whether it was sent
//	ended with the answer of a page, or of the hub     ended
//	ended without an answer, or with a failure of the
//	hub, after it was sent                             may_have_taken_effect
//	the same, and it was not sent                      not_sent
//	not known, or not any more                         unknown
//
// # Who waits for the answer
//
// One request at a time: the asker, at first the one that has begun the call. Its turn says
// which of them. What an earlier asker still reports is of no account.
//
//	            Break, and nothing was sent       stopped: the call is cancelled at once,
//	            that must not be sent twice       and sends nothing any more
//	attended ──────────────────────────────▶
//	   ▲  │     Break                             broken: the call goes on for DetachFor,
//	   │  └─────────────────────────────────▶     then it is stopped
//	   │ Begin of the same                          │
//	   └────────────────────────────────────────────┘
//
// Break is for who is told that a connection is lost. Who is not (in sessions of Streamable
// HTTP a client that leaves does not cancel) has the Ledger find out, when the same is asked
// again, by Asker.Gone.
//
// An answer that was written to its connection counts as delivered. A lost answer of a call that has sent what must not be sent twice is given
// to the next request of the same session for the same, for AskAgain, once.
//
// # What is kept
//
// The latest MaxCalls calls of a session that have ended, for Keep, and up to MaxLost with those
// of which the answer may be asked for again; of a client those of MaxIdle sessions with none such; of
// all sessions together MaxEnded. Answers together
// have up to MaxAnswers bytes, those that were delivered up to MaxAnswer each. What is older goes
// first. Of a session that is over for good nothing is kept. Nothing outlives the process.
package outcome

// MetaKey says in the _meta of a result which call it answers.
const MetaKey = "tabhub/call"
