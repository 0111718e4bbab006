package main

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/cli"
	"tabhub/cmd/tabhub/internal/command"
)

// While an owner watches in a terminal, a call waits for what is typed there, and what was
// typed before the question was there is no answer to it.
func TestWatchQuestions(t *testing.T) {
	hub := serve(t, "--listen", "127.0.0.1:0", "--demo", "--policy", "careful")
	keys, keyboard := io.Pipe()
	screen, prints := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	a := &command.App{In: keys, Out: command.Visible{W: prints}, Err: command.Visible{W: prints}, Stdout: prints, Stderr: prints, Env: func(string) string { return "" }, DataDir: hub.dir}
	done := make(chan error, 1)
	go func() { done <- cli.WatchQuestions(ctx, a) }()
	lines := bufio.NewReader(screen)
	await := func(word string) {
		t.Helper()
		for text := ""; !strings.Contains(text, word); {
			c, _, err := lines.ReadRune()
			if err != nil {
				t.Fatalf("%v after %q", err, text)
			}
			text += string(c)
		}
	}
	typing := func(text string) { io.WriteString(keyboard, text+"\n") }
	await("waiting for questions")
	call := func(tool, args string) chan string {
		out := make(chan string, 1)
		cmd := exec.Command("tabhub", "call", "--data-dir", hub.dir, "website_tool_demo_tabhub__"+tool, args)
		go func() {
			b, _ := cmd.CombinedOutput()
			out <- string(b)
		}()
		return out
	}
	<-call("add_to_cart", `{"productId":1}`)
	typing("once") // before there is a question
	ordered := call("checkout", `{"note":"first"}`)
	await("“first”")
	await("> ")
	typing("perhaps")
	await("is no answer")
	typing("once")
	await("answered: Yes, this once")
	if out := <-ordered; !strings.Contains(out, "orderNumber") {
		t.Errorf("called %s", out)
	}
	declined := call("checkout", `{"note":"second"}`)
	await("“second”")
	await("> ")
	typing("no")
	await("answered: No")
	if out := <-declined; !strings.Contains(out, "DENIED") {
		t.Errorf("called %s", out)
	}
	go io.Copy(io.Discard, lines)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	keys.Close()
}
