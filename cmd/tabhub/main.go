// Command tabhub is one MCP server for every tab you have open: `tabhub serve` is
// the hub, `tabhub stdio` what an MCP client starts, and the other commands look at
// the hub that runs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	stop()
	os.Exit(code)
}
