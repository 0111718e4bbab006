// Package ledger has the calls of one user's clients: those in flight, what became of them for a
// while after, and those that are tasks. A Call is one request of a client for something that
// may reach a page or a browser: tools/call, resources/read, prompts/get, a request that is
// forwarded to an extension. Calls are in the Ledger from Begin on.
//
// These methods, each one step under the Ledger's mutex, are all that changes the state of a Call:
//
//	method     from                  to        when
//	Begin      -                     begun     a client asks for something
//	Waits      begun                 begun     it waits for a tab, or for the person who uses it
//	Asks       begun                 asked     the owner is asked
//	GoesOn     begun, asked          begun     the owner has answered, or the wait is over
//	Decided    begun                 decided   it may be done
//	Sending    decided, begun, sent  sent      a request is about to leave for a page or a browser
//	NotSent    sent                  decided   that request has not left, nor has another
//	Asks       sent                  asked     the page asks back, and the owner is asked again
//	End        all of these          answered  it has an answer, or ends without one
//	Taken      answered, lost        taken     the answer is written to the client's connection
//	Lost       answered              lost      it could not be written
//	(time)     taken, lost           gone      see "What is kept"
//
// What others want to know of a call are attributes of it, not types of their own:
//
//	stopped    Stop: its context ends with a cause; the call then ends by itself
//	shown      Enter, Leave: what its owner sees of it, while it is in flight
//	joined     Begin with the same id: another request waits for the same answer
//	a part     Part: a call within another one, such as an operation of a batch; what it sends
//	           the whole has sent
//	a task     BecomeTask: its client has left with an id by which it asks, also over restarts (task.go)
//
// # The same call
//
// A request with the same JSON-RPC id in the same session that asks for the same is the same call,
// as ids are not used twice in a session. It waits for the answer, or gets the one that is kept. If
// the answer was taken already it gets it once more, unless the call has sent nothing that must
// not be sent twice: then it is made anew, which does no harm, as is one that has ended so without an answer.
// The call then ends with the connection of the latest of these requests. On one stream a request is never the
// one before it, as nothing sends a line again. Two requests with different ids are two calls, however much
// they are alike.
//
// # What is kept
//
// Of each session the latest MaxCalls calls that have ended, for Keep, and up to MaxLost with those whose
// answer is being written, and MaxLost more whose answer is lost; of answers that were taken the latest,
// MaxTaken bytes. Of all sessions MaxEnded calls and MaxAnswers bytes: beyond that the client that has most
// gives way, by its session that was idle for the longest time. Of a session that is over for good nothing is
// kept. Only tasks outlive the process.
package ledger
