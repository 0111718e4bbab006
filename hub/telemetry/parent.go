package telemetry

import (
	"context"
	"strings"
)

// Parent is the span of a client for which it has sent a request, in the words of W3C Trace
// Context.
type Parent struct{ Traceparent, Tracestate string }

// maxTracestate is how much of a client's tracestate must be taken (W3C Trace Context, 3.3.1.5);
// a longer one is left out.
const maxTracestate = 512

// ParseParent returns what a client has sent if it makes sense; ok is false if it does not.
func ParseParent(traceparent, tracestate string) (p Parent, ok bool) {
	if !isTraceparent(traceparent) {
		return Parent{}, false
	}
	if len(tracestate) > maxTracestate {
		tracestate = ""
	}
	return Parent{traceparent, tracestate}, true
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

type parentKey struct{}

// WithParent returns a context for what is done for a request that has a parent.
func WithParent(ctx context.Context, p Parent) context.Context {
	return context.WithValue(ctx, parentKey{}, p)
}

// ParentOf returns the parent of what is done with a context; it is empty if there is none.
func ParentOf(ctx context.Context) Parent {
	p, _ := ctx.Value(parentKey{}).(Parent)
	return p
}
