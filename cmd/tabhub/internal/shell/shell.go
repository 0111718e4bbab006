// Package shell writes commands that a user is told to run.
package shell

import (
	"regexp"
	"runtime"
	"strings"
)

var plain = regexp.MustCompile(`^[A-Za-z0-9_./:=@+-]+$`)

// Line returns words as a command line of an operating system's usual shell.
func Line(goos string, words ...string) string {
	line := make([]string, len(words))
	for i, w := range words {
		switch {
		case goos == "windows":
			if strings.ContainsAny(w, " \t&()^") {
				w = `"` + w + `"`
			}
		case !plain.MatchString(w):
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		line[i] = w
	}
	return strings.Join(line, " ")
}

// Here is Line for the system that this program runs on.
func Here(words ...string) string { return Line(runtime.GOOS, words...) }
