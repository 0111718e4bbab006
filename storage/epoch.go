package storage

import (
	"errors"
	"fmt"

	"tabhub/spec"
)

// ErrOwned is in the error of a Load that has changed nothing, because another process has the user.
var ErrOwned = errors.New("another process has the user")

// ErrStaleEpoch is what errors.Is finds in a StaleEpochError.
var ErrStaleEpoch = errors.New("a newer hub has taken over the user's store")

// StaleEpochError refuses a write of a hub that is not the user's writer any more:
// another one has called Load since. Nothing of the write was applied.
type StaleEpochError struct {
	User  spec.UserID
	Epoch spec.Epoch // of the write
	Newer spec.Epoch // handed out since; 0 if the store does not know it
}

func (e *StaleEpochError) Error() string {
	if e.Newer == 0 {
		return fmt.Sprintf("%v: user %q, epoch %d", ErrStaleEpoch, e.User, e.Epoch)
	}
	return fmt.Sprintf("%v: user %q, epoch %d, now %d", ErrStaleEpoch, e.User, e.Epoch, e.Newer)
}

// Is reports whether target is ErrStaleEpoch.
func (e *StaleEpochError) Is(target error) bool { return target == ErrStaleEpoch }

// CheckEpoch returns why a write under an epoch is refused while newest is the last
// one that was handed out, 0 if none was: a *StaleEpochError, ErrInvalid, or nil.
func CheckEpoch(user spec.UserID, epoch, newest spec.Epoch) error {
	switch {
	case epoch < newest:
		return &StaleEpochError{User: user, Epoch: epoch, Newer: newest}
	case epoch > newest || epoch == 0:
		return fmt.Errorf("%w: user %q was not loaded with epoch %d", ErrInvalid, user, epoch)
	}
	return nil
}
