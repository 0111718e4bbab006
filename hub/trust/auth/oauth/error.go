package oauth

import "fmt"

// Error is an error of the caller, named as in RFC 6749 (section 5.2) and its successors.
type Error struct {
	Code string // such as "invalid_grant"
	Text string // what to do
}

func (e *Error) Error() string { return e.Text }

// The codes.
const (
	invalidRequest   = "invalid_request"
	invalidClient    = "invalid_client"
	invalidGrant     = "invalid_grant"
	invalidTarget    = "invalid_target"
	invalidRedirect  = "invalid_redirect_uri"
	invalidMetadata  = "invalid_client_metadata"
	unsupportedType  = "unsupported_response_type"
	unsupportedGrant = "unsupported_grant_type"
	accessDenied     = "access_denied"
	// TooMany is the code of a request that may be repeated after a while.
	TooMany = "temporarily_unavailable"
)

func errorf(code, format string, args ...any) *Error {
	return &Error{code, fmt.Sprintf(format, args...)}
}
