package endpoint

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"tabhub/hub/core"
	"tabhub/hub/lists"
	"tabhub/hub/tenant"
	"tabhub/hub/trust/auth"
	"tabhub/spec"
	"tabhub/storage"
	"tabhub/tabtransport"
)

// Error is an error of the caller's. The caller sees its text.
type Error struct {
	Status int
	Text   string
}

func (e *Error) Error() string { return e.Text }

// BadRequest, Unauthorized and Forbidden return an *Error of that status.
func BadRequest(format string, args ...any) error {
	return &Error{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

func Unauthorized(format string, args ...any) error {
	return &Error{http.StatusUnauthorized, fmt.Sprintf(format, args...)}
}

func Forbidden(format string, args ...any) error {
	return &Error{http.StatusForbidden, fmt.Sprintf(format, args...)}
}

// ErrorReport is the body of an answer that is an error.
type ErrorReport struct {
	Error   string   `json:"error"`
	Nearest []string `json:"nearest,omitzero"` // names that exist, for one that does not
}

// Report is the one table from error to HTTP status and body. The text of an error that is not the
// caller's goes to the log only: it may hold paths.
func Report(log *slog.Logger, r *http.Request, err error) (status int, body ErrorReport) {
	if known, ok := errors.AsType[*Error](err); ok {
		return known.Status, ErrorReport{Error: known.Text}
	}
	if many, ok := errors.AsType[*tenant.LimitError](err); ok {
		return http.StatusTooManyRequests, ErrorReport{Error: many.Error()}
	}
	if unknown, ok := errors.AsType[*lists.UnknownError](err); ok {
		return http.StatusNotFound, ErrorReport{Error: unknown.Error(), Nearest: append([]string{}, unknown.Nearest...)}
	}
	_, failed := errors.AsType[*core.Failure](err)
	if _, refused := errors.AsType[*spec.Error](err); failed || refused {
		return http.StatusUnprocessableEntity, ErrorReport{Error: err.Error()}
	}
	if errors.Is(err, storage.ErrStaleEpoch) || errors.Is(err, storage.ErrOwned) || errors.Is(err, tabtransport.ErrGoingAway) {
		return http.StatusServiceUnavailable, ErrorReport{Error: "another hub serves this user now, and nothing was changed; try again"}
	}
	if errors.Is(err, auth.ErrSilent) {
		log.Warn("request failed", "path", r.URL.Path, "err", err)
		return http.StatusServiceUnavailable, ErrorReport{Error: "the store of credentials does not answer, and nothing was changed; try again in a moment"}
	}
	if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return http.StatusRequestEntityTooLarge, ErrorReport{Error: fmt.Sprintf("the body is larger than %d bytes", big.Limit)}
	}
	log.Error("request failed", "path", r.URL.Path, "err", err)
	return http.StatusInternalServerError, ErrorReport{Error: "the hub could not do this; its log says why"}
}
