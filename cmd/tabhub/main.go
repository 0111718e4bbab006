// Command tabhub is one MCP server for every tab you have open: `tabhub serve` is
// the hub, `tabhub stdio` what an MCP client starts, and the other commands look at
// the hub that runs, or prepare a client or a browser for it.
//
// Each command has a file of its name (run.go lists them); they reach the hub by its admin
// API (remote.go) and print by print.go, which lets no text of a page steer a terminal. The
// hub itself is process.go: it takes the data directory's lock, the ports and the store,
// makes the servers and ends them. tenant.go opens what belongs to one user, builtin.go
// says which tools of the hub's own that has, and admission.go whose tab or browser joins.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// stopSignals are those that end a command.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals...)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	stop()
	os.Exit(code)
}
