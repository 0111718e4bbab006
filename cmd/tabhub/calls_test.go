package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/face/admin"
)

func noEnv(string) string { return "" }

// `tabhub calls -f` shows a call begin, go on and end, and its ID cancels it.
func TestWatchAndCancel(t *testing.T) {
	p, _ := serveTest(t)
	dir := "--data-dir=" + string(p.Dir)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	in, out := io.Pipe()
	watched, called := make(chan int, 1), make(chan string, 1)
	go func() {
		watched <- run(ctx, []string{"calls", "-f", "--json", dir}, strings.NewReader(""), out, out, noEnv)
		out.Close()
	}()
	events := json.NewDecoder(bufio.NewReader(in))
	until := func(is func(*admin.WatchEvent) bool) *admin.WatchEvent {
		t.Helper()
		for {
			var e admin.WatchEvent
			if err := events.Decode(&e); err != nil {
				t.Fatal(err)
			}
			if is(&e) {
				return &e
			}
		}
	}
	until(func(*admin.WatchEvent) bool { return true }) // it watches
	go func() {
		var b bytes.Buffer
		run(t.Context(), []string{"call", "website_tool_demo_tabhub__wrap_gift", `{"productId":1,"seconds":60}`, dir}, strings.NewReader(""), &b, &b, noEnv)
		called <- b.String()
	}()
	is := until(func(e *admin.WatchEvent) bool { return len(e.Running) == 1 && e.Running[0].Progress != nil })
	var b bytes.Buffer
	if code := run(t.Context(), []string{"calls", "cancel", strings.ToLower(is.Running[0].ID[:6]), dir}, strings.NewReader(""), &b, &b, noEnv); code != command.ExitOK {
		t.Fatalf("cancel: %d %s", code, b.String())
	}
	until(func(e *admin.WatchEvent) bool { return len(e.Entries) > 0 && e.Entries[0].Outcome == "STOPPED" })
	if said := <-called; !strings.Contains(said, "may have taken effect") {
		t.Errorf("the caller is told %s", said)
	}
	interrupt()
	go io.Copy(io.Discard, in)
	if code := <-watched; code != command.ExitOK {
		t.Errorf("watch ends with %d", code)
	}
}
