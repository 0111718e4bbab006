package main

import (
	"bufio"
	"context"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal/ptytest"
)

// A call on a terminal shows how far it is; Ctrl-C cancels it and prints its outcome.
func TestCallOnATerminal(t *testing.T) {
	p, _ := serveTest(t)
	terminal, tty := ptytest.Open(t, 80)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	code := make(chan int, 1)
	go func() {
		defer tty.Close()
		code <- run(ctx, []string{"call", "website_tool_demo_tabhub__wrap_gift", `{"productId":1,"seconds":60}`, "--data-dir", string(p.Dir)}, strings.NewReader(""), tty, tty, noEnv)
	}()
	var seen strings.Builder
	lines := bufio.NewReader(terminal)
	for !strings.HasSuffix(seen.String(), "Cutting the paper") {
		c, err := lines.ReadByte()
		if err != nil {
			t.Fatalf("%v, after %q", err, seen.String())
		}
		seen.WriteByte(c)
	}
	if !strings.Contains(seen.String(), "\x1b[36m━") && !strings.Contains(seen.String(), "\x1b[2m━") {
		t.Errorf("there is no bar in %q", seen.String())
	}
	interrupt()
	var last string
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // nobody has the terminal any more
		}
		last = line
	}
	if !strings.HasSuffix(last, "\r\x1b[Ktabhub: cancelled; the call may have taken effect\r\n") {
		t.Errorf("the last line is %q", last)
	}
	if got := <-code; got != command.ExitError {
		t.Errorf("exit code %d", got)
	}
	tenant, err := p.Tenants.Get(t.Context(), "local")
	if err != nil {
		t.Fatal(err)
	}
	if _, n := tenant.Hub.Owner.Running(); n != 0 {
		t.Errorf("%d calls are under way", n)
	}
}
