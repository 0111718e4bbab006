package autostart

import (
	"fmt"
	"strings"
)

// Unit returns a unit of systemd's user manager.
//
// A user's manager can confine a program only together with NoNewPrivileges, under which
// neither Chromium's setuid sandbox nor a browser in a snap starts, and the hub starts
// browsers. The unit has what works without it: other users cannot read the hub's files, no core
// dump contains its tokens, and a tab that runs out of memory does not end the hub.
func (e *Entry) Unit() string {
	command, words := quoteUnit(e.Program), e.Args
	if strings.ContainsAny(e.Program, "\\\"'\t\n\r") { // systemd rejects such a path
		command, words = "/bin/sh", append([]string{"-c", `exec "$0" "$@"`, e.Program}, e.Args...)
	}
	for _, word := range words {
		command += " " + strings.ReplaceAll(quoteUnit(word), "$", "$$")
	}
	return fmt.Sprintf(`# %s
[Unit]
Description=tabhub, one MCP server for every tab
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
ExecStart=%s
Restart=on-failure
RestartSec=2
# What it was started with is wrong; that does not change by itself.
RestartPreventExitStatus=2
KillMode=mixed
TimeoutStopSec=30
UMask=0077
LimitCORE=0
OOMPolicy=continue

[Install]
WantedBy=default.target
`, e.record(), command)
}

var unitEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`, "\r", `\r`, "\t", `\t`)

// quoteUnit quotes a word of a command line, except for "$", which has no meaning in the program's
// path.
func quoteUnit(word string) string { return `"` + unitEscapes.Replace(word) + `"` }
