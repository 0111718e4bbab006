package tabtransport

import (
	"context"
	"net/http"
)

// RemoteError says that another process of the hub has the user whose credential a socket has shown in
// its first message. It is no refusal: the wire has Handler take the socket over, with all that was read
// of it.
type RemoteError struct{ Handler http.Handler }

func (*RemoteError) Error() string { return "another process has the user's hub" }

type openedKey struct{}

// WithOpened marks the request of a socket to whose peer another process has already sent the
// first message of the protocol.
func WithOpened(ctx context.Context) context.Context {
	return context.WithValue(ctx, openedKey{}, true)
}

// IsOpened reports whether WithOpened was said.
func IsOpened(ctx context.Context) bool { return ctx.Value(openedKey{}) != nil }

type endingKey struct{}

// WithEnding marks the request of a socket whose path through another process ends when ending is
// done: the hub then closes the socket in good order, and its peer reconnects by another path.
func WithEnding(ctx, ending context.Context) context.Context {
	return context.WithValue(ctx, endingKey{}, ending)
}

// Ending returns what WithEnding was given, nil if that was not called.
func Ending(ctx context.Context) context.Context {
	ending, _ := ctx.Value(endingKey{}).(context.Context)
	return ending
}
