package autostart

import (
	"fmt"
	"strings"
)

// Desktop returns an entry for the autostart of a desktop. If the hub fails, only the next client
// starts it again.
func (e *Entry) Desktop() string {
	command := quoteDesktop(e.Program)
	for _, arg := range e.Args {
		command += " " + quoteDesktop(arg)
	}
	return fmt.Sprintf(`# %s
[Desktop Entry]
Type=Application
Name=tabhub
Comment=One MCP server for every tab
Exec=%s
Terminal=false
NoDisplay=true
`, e.record(), command)
}

// The value of Exec is unescaped twice: as a string of the file, and as an argument.
var (
	execEscapes   = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", `$`, `\$`, "%", "%%")
	stringEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`)
)

func quoteDesktop(word string) string {
	return `"` + stringEscapes.Replace(execEscapes.Replace(word)) + `"`
}
