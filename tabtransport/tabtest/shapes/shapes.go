// Package shapes has WebMCP as browsers had it, have it and are to have it, for tests in the one
// browser that is installed: each shape is a script over the WebMCP of Chromium 156. A browser more
// is a file, and a line of All.
package shapes

import "embed"

// Shape is the WebMCP of one browser.
type Shape struct {
	Name string
	// Script puts the browser's API in the place of Chromium's. It is to run in each world of a
	// document that uses the API, before the world's other scripts. Where Chromium gives a
	// document no WebMCP, it does nothing.
	Script string

	// OutputSchema says that the browser keeps the output schemas of tools.
	OutputSchema bool
	// Firefox says that the browser has only the tools that scripts register in the document: no
	// forms, no titles, no signals, and no tools of frames in getTools.
	Firefox bool
}

// All has the oldest first.
var All = []Shape{
	{Name: "chrome-149"},
	{Name: "chrome-152"},
	{Name: "chrome-156"},
	{Name: "chrome-159", OutputSchema: true},
	{Name: "chrome-160", OutputSchema: true},
	{Name: "firefox-153", Firefox: true},
}

// begin begins a script. An extension may run one twice in a world.
const begin = `(() => {
const done = Symbol.for("tabhub-shape");
if (typeof ModelContext !== "function" || done in ModelContext) return;
Object.defineProperty(ModelContext, done, { value: true });
`

//go:embed *.js
var files embed.FS

func init() {
	for i := range All {
		s := &All[i]
		s.Script = begin + file("base.js") + file(s.Name+".js") + "})();\n"
	}
}

func file(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is compiled in
	}
	return string(text)
}
