package telemetry

import (
	"context"
	"strings"
)

type traceparentKey struct{}

// WithTraceparent returns a context for what is done for a request of which the client names
// its span, in the words of W3C Trace Context. What is no traceparent is left out.
func WithTraceparent(ctx context.Context, traceparent string) context.Context {
	if !isTraceparent(traceparent) {
		return ctx
	}
	return context.WithValue(ctx, traceparentKey{}, traceparent)
}

// Traceparent returns the span of the client for which something is done, "" if it names none.
func Traceparent(ctx context.Context) string {
	s, _ := ctx.Value(traceparentKey{}).(string)
	return s
}

// isTraceparent reports whether s is a traceparent of version 00, which all later versions
// begin with: 00-TRACE-SPAN-FLAGS, in lower case.
func isTraceparent(s string) bool {
	const zeros = "00000000000000000000000000000000"
	if len(s) != 55 || s[:3] != "00-" || s[35] != '-' || s[52] != '-' {
		return false
	}
	trace, span, flags := s[3:35], s[36:52], s[53:]
	return trace != zeros && span != zeros[:16] && strings.Trim(trace+span+flags, "0123456789abcdef") == ""
}
