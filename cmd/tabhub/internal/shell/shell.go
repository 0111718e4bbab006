// Package shell writes commands that a user is told to run.
package shell

import (
	"runtime"
	"strings"
)

// isPlain reports whether a shell takes a word as it is.
func isPlain(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./:=@+-", r))
	})
}

// Line returns words as a command line of an operating system's usual shell.
func Line(goos string, words ...string) string {
	line := make([]string, len(words))
	for i, w := range words {
		switch {
		case goos == "windows":
			if strings.ContainsAny(w, " \t&()^") {
				w = `"` + w + `"`
			}
		case !isPlain(w):
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		line[i] = w
	}
	return strings.Join(line, " ")
}

// Here is Line for the system that this program runs on.
func Here(words ...string) string { return Line(runtime.GOOS, words...) }
