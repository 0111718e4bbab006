package auth

import (
	"errors"
	"strings"
	"time"

	"tabhub/spec"
)

// ErrSilent is in the error of a Directory that does not answer.
var ErrSilent = errors.New("the directory of credentials does not answer")

// Directory knows whose a credential is, so that it finds its way to the user's hub. It proves
// nothing: that hub checks the credential. Its methods are safe for concurrent use, and block
// until it is changed.
type Directory interface {
	// Hint adds a credential by what HintOf returns for it, until it ends, which is never if
	// until is zero.
	Hint(id string, user spec.UserID, until time.Time) error
	// Forget takes one out.
	Forget(id string)
}

// HintOf returns what a credential is called in a Directory; ok is false if it is in none: it
// says itself whose it is, as a JWT, or is none of the hub's. A browser's credential is the id
// of its pairing.
func HintOf(credential string) (id string, ok bool) {
	if id, ok := ClientID(credential); ok {
		return id, id != ""
	}
	if strings.HasPrefix(credential, "browser.") {
		return credential, true
	}
	if !isOpaque(credential) {
		return "", false
	}
	return sumOf(credential), true
}

// isOpaque reports whether s has the form of rand.Text, as the secrets of pages have.
func isOpaque(s string) bool {
	return len(s) == 26 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}
