package main

import (
	"bytes"
	"context"
	"testing"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/home"
)

// A hub of the operating system that is told to end while it waits for another one has not
// failed.
func TestStopOfAHubThatWaits(t *testing.T) {
	dir := home.Dir(t.TempDir())
	lock, err := dir.TryLock(home.HubLock)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var said bytes.Buffer
	exit := run(ctx, []string{"serve", "--service", "--data-dir", string(dir)}, nil, &said, &said, func(string) string { return "" })
	if exit != command.ExitOK || said.Len() > 0 {
		t.Errorf("it ends with %d: %s", exit, said.String())
	}
}
