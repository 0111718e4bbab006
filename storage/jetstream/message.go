package jetstream

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"tabhub/spec"
	"tabhub/storage"
)

// The headers of a message, see the package's doc.
const (
	headerKind  = "Tabhub-Kind"
	headerNode  = "Tabhub-Node"
	headerEpoch = "Tabhub-Epoch"
	headerID    = "Tabhub-Id"
	headerPart  = "Tabhub-Part"
	headerUser  = "Tabhub-User"
)

// The values of headerKind.
const (
	kindClaim    = "claim"
	kindFlush    = "flush"
	kindSnapshot = "snapshot"
	kindRelease  = "release"
)

const subjectPrefix = "tabhub.user."

// subject returns the subject of a user's journal. It has a hash of the name, which may have any
// characters.
func subject(user spec.UserID) string {
	sum := sha256.Sum256([]byte(user))
	return subjectPrefix + hex.EncodeToString(sum[:16])
}

// message is a message of a journal.
type message struct {
	seq        uint64
	after      uint64 // of the message before it
	kind, node string
	id         string
	epoch      spec.Epoch
	part, of   int // of is 1 for a message without parts
	data       []byte
}

var errMessage = fmt.Errorf("%w: not a message of a journal", storage.ErrCorrupt)

// parse reads a message that the server has stored under a sequence.
func parse(seq uint64, h nats.Header, data []byte) (m message, err error) {
	m = message{
		seq: seq, kind: h.Get(headerKind), node: h.Get(headerNode), id: h.Get(headerID),
		epoch: spec.Epoch(seq), of: 1, data: data,
	}
	if m.after, err = strconv.ParseUint(h.Get(nats.ExpectedLastSubjSeqHdr), 10, 64); err != nil || m.after >= seq {
		return m, fmt.Errorf("%w: message %d follows %q", errMessage, seq, h.Get(nats.ExpectedLastSubjSeqHdr))
	}
	if m.kind != kindClaim {
		epoch, err := strconv.ParseUint(h.Get(headerEpoch), 10, 64)
		if err != nil || epoch >= seq {
			return m, fmt.Errorf("%w: message %d has epoch %q", errMessage, seq, h.Get(headerEpoch))
		}
		m.epoch = spec.Epoch(epoch)
	}
	switch m.kind {
	case kindClaim, kindRelease:
	case kindFlush, kindSnapshot:
		part, of, _ := strings.Cut(h.Get(headerPart), "/")
		i, err := strconv.Atoi(part)
		n, err2 := strconv.Atoi(of)
		if err != nil || err2 != nil || i < 0 || i >= n {
			return m, fmt.Errorf("%w: message %d is part %q", errMessage, seq, h.Get(headerPart))
		}
		m.part, m.of = i, n
	default:
		return m, fmt.Errorf("%w: message %d is a %q", errMessage, seq, m.kind)
	}
	return m, nil
}

// Writer is the last writer of a user's journal. The zero Writer means that there is none.
type Writer struct {
	Node     string     // by its Options.Node
	Epoch    spec.Epoch // under which it wrote
	Released bool       // it has released the user

	seq uint64 // of its message
}

func (m *message) writer() Writer {
	return Writer{Node: m.node, Epoch: m.epoch, Released: m.kind == kindRelease, seq: m.seq}
}

// userHeader returns a user in the characters that a header may contain, for people to read.
func userHeader(user spec.UserID) string {
	const most = 200
	if len(user) > most {
		user = user[:most] + "…"
	}
	q := strconv.QuoteToASCII(string(user))
	return q[1 : len(q)-1]
}
