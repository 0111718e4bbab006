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

// WithOpened says of the request of a socket that another process has told its peer what its protocol
// has the hub say first.
func WithOpened(ctx context.Context) context.Context {
	return context.WithValue(ctx, openedKey{}, true)
}

// IsOpened reports whether WithOpened was said.
func IsOpened(ctx context.Context) bool { return ctx.Value(openedKey{}) != nil }

type endingKey struct{}

// WithEnding says of the request of a socket that what the socket passes through is about to end
// when ending is done: the socket is then closed in good order, so that its peer comes by another path.
func WithEnding(ctx, ending context.Context) context.Context {
	return context.WithValue(ctx, endingKey{}, ending)
}

// Ending returns what WithEnding was given, nil if that was not called.
func Ending(ctx context.Context) context.Context {
	ending, _ := ctx.Value(endingKey{}).(context.Context)
	return ending
}
