// Command tabhub is one MCP server for every tab you have open: `tabhub serve` is
// the hub, `tabhub stdio` what an MCP client starts, and the other commands look at
// the hub that runs, or prepare a client or a browser for it.
//
// run.go has the tree of commands, which packages below internal hold: daemon the hub itself, cli what
// looks at one that runs, setup what prepares browsers and clients, checkpage what looks at a page.
package main

import (
	"context"
	"os"
	"os/signal"

	"tabhub/cmd/tabhub/internal/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), command.StopSignals...)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	stop()
	os.Exit(code)
}
