// Command bench measures what tabhub costs, with real browsers and a hub that it starts:
//
//	go run ./cmd/tabhub/bench page
//	go run ./cmd/tabhub/bench call npx chrome-devtools-mcp@1.11
//
// page measures what the extension costs pages that have no tools. It runs two browsers side by
// side, one with the extension, connected to a hub, and one without, loads the same pages in both
// in turn, and prints how many times as long a page takes to load with the extension (the median of
// navigation start to the end of the load event), for a plain page and for one with 20 frames.
//
// call measures a call of a page's tool, from an MCP client on stdio to the page and back: through
// `tabhub stdio`, a hub and the extension, and through another MCP server, Chrome's DevTools
// server, whose command follows. Where the browser is, and what else it must be told, is added. The
// calls go through one and the other in turn, each with a browser of its own.
//
// What is measured in turn shares what else the machine does. Each ratio has the interval that it
// lies in with 95 % confidence.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	n := flag.Int("n", 200, "measure `n` loads or calls each")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *n, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, n int, args []string) error {
	var measure func(l *lab) error
	switch {
	case len(args) == 1 && args[0] == "page":
		measure = func(l *lab) error { return measurePage(ctx, l, n) }
	case len(args) > 1 && args[0] == "call":
		measure = func(l *lab) error { return measureCalls(ctx, l, n, args[1:]) }
	default:
		return errors.New("say `page`, or `call` and the command of Chrome's DevTools server")
	}
	l, err := openLab(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	return measure(l)
}
