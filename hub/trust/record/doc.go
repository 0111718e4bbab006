// Package record writes the record of what was done through a hub, and what was refused: one
// line for each event, chained by hashes, in files that programs can read while the hub runs and
// when it does not, or in a stream that nodes share.
//
// A Recorder queues entries. Its writer makes lines of them, chains them, and gives them to a
// medium, files or stream, which stores them in pieces. Queries and the check read pieces.
//
// # The files
//
// A record is a directory of segments, EPOCH-SEQUENCE.jsonl, with one Line a line. An epoch
// is one opening of the log: it takes the next number by creating the first segment, which
// must not exist, and no other writes to its segments. The writer of the epoch before finds the
// new one, and stops; so a hub that does not know yet that another has replaced it does not fork
// the chain. The chain goes on from epoch to epoch.
//
// Line.Prev is the hash of the bytes of the line before it. The head is the last line that is known
// to be on the disk. Its file is beside the directory of all records, so that it shows when lines
// at the end were cut off, or all were deleted. It is there before the first line, and later
// written without a sync, after the lines are synced: a head that is older than the lines is not
// wrong. It is not in the hub's store, so that it can be read while a hub has that open.
//
// Reading needs no lock: readers ignore what follows the last line feed of a file.
//
// # The stream
//
// A Stream takes a batch of lines only behind the last one. So the chain has no fork: a writer that
// finds lines of another chains its own behind them. A hub that was replaced while it could not write does so, too, and a Recorder that is closed
// goes on, see Deferred. A note says whose such lines are. So the order of lines is that in which they
// were written, and the time of one may be before that of the line before it.
//
// There is no head: a batch that was confirmed is on several servers.
package record
