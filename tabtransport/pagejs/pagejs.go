package pagejs

import (
	"embed"
	"io/fs"
	"iter"
	"path"
	"strings"
)

// The files of the library, to be named to [Script].
const (
	Values       = "pagejs/values.js"       // forms and limits of what pages say; the others need it
	Shapes       = "pagejs/shapes.js"       // how WebMCP differs; ModelContext and Library need it
	ModelContext = "pagejs/modelcontext.js" // tools of a document.modelContext
	Answers      = "pagejs/answers.js"      // keeps a PageServer's answers from the page's own clients
	WatchTools   = "pagejs/watchtools.js"   // what tools of the browser's modelContext throw, and how they go on
	Library      = "pagejs/library.js"      // tools of a modelContext that a script of the page made
	ToolCalls    = "pagejs/toolcalls.js"    // what tools do while they run: they ask, and take tokens
	Dialogs      = "pagejs/dialogs.js"      // what dialogs the page opens
	PageServer   = "pagejs/pageserver.js"   // a client of an MCP server in the page
)

// WebMCP are the files that give a page the standard's API where the browser has none. All but
// the first are inside the function installWebMCP: a document that does not touch the API defines
// none of it.
var WebMCP = []string{
	"pagejs/webmcpstand.js",
	Literal + "function installWebMCP(owner, place) {",
	"pagejs/webmcpfields.js", "pagejs/webmcpforms.js", "pagejs/webmcpframes.js", "pagejs/webmcptools.js", "pagejs/webmcpinvocation.js", "pagejs/webmcpidl.js", "pagejs/webmcp.js",
	Literal + "return makeWebMCP(owner, place);\n}",
}

// Literal begins a part of a script that is not a file's name but JavaScript.
const Literal = "js:"

//go:embed *.js
var library embed.FS

// Script returns one script made of parts, in that order and in a scope of its own: files of
// the library and files that are in dir of own. Lines that hold only a comment are left out, as
// each document pays for what it is given. It panics if there is no such file, as both are
// compiled in.
func Script(own fs.FS, dir string, parts ...string) string {
	var b strings.Builder
	b.WriteString("(() => {\n\"use strict\";\n")
	for _, name := range parts {
		if js, ok := strings.CutPrefix(name, Literal); ok {
			b.WriteString(js + "\n")
			continue
		}
		text, err := fs.ReadFile(own, path.Join(dir, name))
		if in, ok := strings.CutPrefix(name, "pagejs/"); ok {
			text, err = library.ReadFile(in)
		}
		if err != nil {
			panic(err)
		}
		for line := range code(string(text)) {
			b.WriteString(line)
		}
	}
	b.WriteString("})();\n")
	return b.String()
}

// code yields the lines of a script that hold more than a comment. A template literal must have
// no line that begins as a comment does.
func code(script string) iter.Seq[string] {
	return func(yield func(string) bool) {
		inComment := false
		for line := range strings.Lines(script) {
			text := strings.TrimSpace(line)
			if strings.HasPrefix(text, "/*") {
				inComment = true
			}
			skip := inComment || strings.HasPrefix(text, "//")
			if _, after, ends := strings.Cut(text, "*/"); inComment && ends {
				inComment, skip = false, after == ""
			}
			if !skip && !yield(line) {
				return
			}
		}
	}
}
