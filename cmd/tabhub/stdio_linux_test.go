package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/cmd/tabhub/internal/terminal/ptytest"
)

// `tabhub stdio` on a terminal says what it is for, and serves all the same.
func TestStdioOnATerminal(t *testing.T) {
	terminal, tty := ptytest.Open(t, 80)
	defer tty.Close()
	go io.Copy(io.Discard, terminal) // its echo
	io.WriteString(terminal, `{"jsonrpc":"2.0","id":7,"method":"ping"}`+"\n\x04")
	var out, diag bytes.Buffer
	args := []string{"stdio", "--standalone", "--listen", "127.0.0.1:0", "--data-dir", t.TempDir() + "/data"}
	if code := run(t.Context(), args, tty, &out, &diag, func(string) string { return "" }); code != command.ExitOK {
		t.Errorf("it ends with %d", code)
	}
	if !strings.Contains(diag.String(), "`tabhub install CLIENT --data-dir ") || !strings.Contains(out.String(), `"id":7,"result"`) {
		t.Errorf("%s%s", diag.String(), out.String())
	}
}
