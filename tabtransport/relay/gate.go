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
	// Admit decides about a message of the client for an extension. "connect" is one: after
	// it the client gets the extension's events. Admit does not block. If ask is not nil, the
	// owner must answer first: ask blocks until they do, or returns ctx's cause; params must
	// not change until then. Without answered, nothing waits for a response, so the owner is
	// not asked: ask is nil. An admitted message is in flight from then on.
	Admit(method string, params json.RawMessage, answered bool) (p InFlight, ask func(ctx context.Context) (InFlight, error), err error)
	// Hears returns why the client must not get messages of an extension now, nil if it may.
	// It does not block.
	Hears() error
}

// InFlight is a message in flight, which the owner can see and stop. It is safe for concurrent
// use. Its methods neither block nor call the relay, which may hold a lock when it calls them.
type InFlight interface {
	// OnStop replaces the function that is called, without a lock, when the owner stops the
	// message. If the owner has stopped it already, OnStop returns what Stopped(false) does.
	OnStop(stop func()) error
	// Sent says that it goes to an extension of that name.
	Sent(extension string)
	// Stopped returns why it is stopped, nil if it is not. sent says that it may have reached
	// the extension.
	Stopped(sent bool) error
	// End is called once, when its response has come or will not come.
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
