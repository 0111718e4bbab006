// Package jetstream stores the state of users in a stream of NATS JetStream, which the nodes of a
// cluster share. [Store] implements storage.DomainToolStorage.
//
// # The journal
//
// All users are in one stream, TABHUB_USERS. Each user has one subject of it, whose messages are
// the user's journal:
//
//	claim     makes a node the user's writer. Its sequence in the stream is the epoch.
//	flush     the changes of a batch, applied all or none.
//	snapshot  the whole state of the user; earlier messages do not count.
//	release   leaves the user without a writer.
//
// Each message is published with the sequence of the user's last one, as the server's condition
// (Nats-Expected-Last-Subject-Sequence): the server refuses a writer that another one has
// superseded, whatever that writer believes. The last writer owns the user, so state, fence and
// ownership cannot disagree. The server stores the condition with the message, so a reader can
// tell that nothing is missing between two. The store deletes what a snapshot replaces from the
// front, one message after the other: gaps before a whole snapshot do not matter.
//
// The headers of a message:
//
//	Tabhub-Kind   claim, flush, snapshot or release
//	Tabhub-Node   the writer, by Options.Node
//	Tabhub-Epoch  the sequence of the writer's claim; a claim has none
//	Tabhub-Id     unique: shows whether a publish without an answer was stored
//	Tabhub-Part   "i/n" of a flush or snapshot, of a payload in n messages, counted from 0.
//	              Parts without a last one do not count.
//	Tabhub-User   the user's id, for people
//
// The payload of a flush or snapshot is the version of the format, one byte, and a batch of
// storage.Entry values.
//
// The package trusts all programs that may write to the stream: messages are not signed.
//
// The store repeats a publish without an answer until it knows the outcome.
package jetstream
