// Package jsonrpc reads JSON-RPC messages from bytes, makes messages of bytes, and queues them
// for a connection.
//
// Each connection has an Outbox: a queue of frames and at most one writer. A goroutine that queues
// an answer while none writes becomes the writer, until the queue is empty; progress and
// changes, whose senders must not wait, start a goroutine for that. Answers follow the
// progress of their calls. Changes of the hub are not queued: they are flags, turned into
// notifications when the connection is free, so a client that is slow, or has no stream
// open, is notified once. Progress beyond a bound replaces earlier progress of its call.
// Answers are never dropped: when too many wait, no further request is read from the
// client.
package jsonrpc
