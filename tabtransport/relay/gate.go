package relay

import (
	"context"
	"encoding/json"
	"errors"

	"tabhub/spec"
	"tabhub/tabtransport"
)

// Gate decides what one client may do. It is safe for concurrent use. Its errors are
// those of Refused.
type Gate interface {
	// Admit decides about a message of the client for an extension; "connect", after which the
	// extension's events come to the client, is one. It does not block. With ask the owner has
	// to be asked first: ask blocks until there is an answer, or returns ctx's cause; params
	// must stay as they are until then. Of a message that nobody waits for the answer to, the
	// owner is not asked: ask is nil then, always. What is let pass is under way from then on.
	Admit(method string, params json.RawMessage, answered bool) (p Passage, ask func(ctx context.Context) (Passage, error), err error)
	// Hears returns why the client is not to get now what an extension sends; nil: it is.
	// It does not block.
	Hears() error
}

// Passage is a message that a Gate has let pass, for its owner to see and to stop while it is
// under way. It is safe for concurrent use, and its methods, which may be called with a lock of
// the relay held, neither block nor call the relay.
type Passage interface {
	// OnStop has stop called, with no lock held, when the owner stops the message, instead of
	// what was given before. If they have already, it returns why, as Stopped(false) does.
	OnStop(stop func()) error
	// Sent says that it goes to an extension of that name.
	Sent(extension string)
	// Stopped returns why it is stopped, nil if it is not. sent says that it may have reached
	// the extension.
	Stopped(sent bool) error
	// End is called once, when it has been answered, or will not be.
	End()
}

// Admission says which user and client a peer belongs to.
type Admission struct {
	tabtransport.Admission
	// Client identifies the credential of a client; "" for an extension.
	Client string
	// Gate decides what a client may do. Nil for an extension.
	Gate Gate
}

// Refused returns the error of a Gate: code is spec.FailDenied, spec.FailPaused or
// spec.FailStopped, words say why, and what the owner can do.
func Refused(code spec.FailureCode, words string) error { return failed(code, "%s", words) }

// refusedBy returns the error for the client of an error of a Gate.
func refusedBy(err error) *spec.Error {
	if e, ok := errors.AsType[*spec.Error](err); ok {
		return e
	}
	return errGivenUp()
}

// errGivenUp is the answer to a message that waited for the owner when its connection ended.
func errGivenUp() *spec.Error {
	return failed(spec.FailNotConnected, "The connection ended before the owner had allowed this: nothing was sent")
}
