package hub

import (
	"context"

	"tabhub/spec"
)

type extensionsKey struct{}

// WithExtensions returns a context whose Call, ReadResource and GetPrompt carry e to
// the page, in the extensions of the request. Neither they nor the hub interpret it.
func WithExtensions(ctx context.Context, e spec.Extensions) context.Context {
	return context.WithValue(ctx, extensionsKey{}, e)
}

func extensionsOf(ctx context.Context) spec.Extensions {
	e, _ := ctx.Value(extensionsKey{}).(spec.Extensions)
	return e
}
