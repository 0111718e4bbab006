package pagejs

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

// The files of the library, to be named to [Script].
const (
	Values       = "pagejs/values.js"       // forms and limits of what pages say; the others need it
	ModelContext = "pagejs/modelcontext.js" // tools of a document.modelContext
	Library      = "pagejs/library.js"      // tools of a modelContext that a script of the page made
	PageServer   = "pagejs/pageserver.js"   // a client of an MCP server in the page
)

//go:embed *.js
var library embed.FS

// Script returns one script made of parts, in that order and in a scope of its own: files of
// the library and files that are in dir of own. It panics if there is no such file, as both
// are compiled in.
func Script(own fs.FS, dir string, parts ...string) string {
	var b strings.Builder
	b.WriteString("(() => {\n\"use strict\";\n")
	for _, name := range parts {
		text, err := fs.ReadFile(own, path.Join(dir, name))
		if in, ok := strings.CutPrefix(name, "pagejs/"); ok {
			text, err = library.ReadFile(in)
		}
		if err != nil {
			panic(err)
		}
		b.Write(text)
	}
	b.WriteString("})();\n")
	return b.String()
}
