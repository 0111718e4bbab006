// Package tasks keeps the tasks of one user: calls whose clients have left with an id, by which
// they ask what became of them (the extension io.modelcontextprotocol/tasks of MCP, revision
// 2026-07-28). It runs nothing: whoever runs a call holds its Run, and says by it what happens;
// package mcpserver says it to clients.
//
// A task is a document of the store from before its client learns of its id, so that it outlives
// the process; what it waits for may, too, if its page has kept it (Run.Sending). Its states, and
// all that changes them, each one step under the Book's mutex:
//
//	by            from                      to              when
//	Begin         -                         working         it is stored
//	Open          -                         working         an earlier process has begun it
//	Run.Ask       working                   input_required  the client's user or model is asked
//	Answer        input_required            working         the last question has its answer
//	Run.End       working, input_required   completed       there is a result, be it of a failure
//	Run.End       working, input_required   failed          there is an error of the protocol
//	Cancel        working, input_required   cancelled       the client does not want it any more
//	(time)        any                       gone            its time to live is over
//
// What has ended stays as it is. A Run whose task has ended already changes nothing.
package tasks
