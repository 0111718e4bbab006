//go:build !embedded_nats

package natsd

import (
	"context"
	"errors"
)

// Built reports whether this program has a NATS server inside.
const Built = false

// ErrNotBuilt is Start's error in a program without the server.
var ErrNotBuilt = errors.New("this program has no NATS server inside: build one that has, with go build -tags embedded_nats ./cmd/tabhub, or name NATS servers with --cluster")

// Server does not exist in this program.
type Server struct{}

// Start fails: the program has no server.
func Start(Options) (*Server, error) { return nil, ErrNotBuilt }

// Ready fails.
func (*Server) Ready(context.Context) error { return ErrNotBuilt }

// URL returns nothing.
func (*Server) URL() string { return "" }

// Close does nothing.
func (*Server) Close() {}
