package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/command"
)

// Ctrl-C while the command waits for the hub is no failure of the hub.
func TestInterruptedPairing(t *testing.T) {
	p, _ := serveTest(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	in, out := io.Pipe()
	var said bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"browser", "pair", "--print", "--data-dir", string(p.Dir)}, strings.NewReader(""), io.MultiWriter(out, &said), io.MultiWriter(out, &said), noEnv)
		out.Close()
	}()
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "waiting until ") {
			interrupt()
		}
	}
	if got := <-code; got != command.ExitError || !strings.HasSuffix(said.String(), "\ntabhub: interrupted\n") {
		t.Errorf("exit code %d: %s", got, said.String())
	}
}
