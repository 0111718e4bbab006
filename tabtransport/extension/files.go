package extension

import (
	"embed"
	"io/fs"
	"slices"
	"sync"

	"tabhub/tabtransport/pagejs"
)

//go:embed manifest.json README.md *.html *.css *.js worker/*.js icons/*.png
var asTheyAre embed.FS

//go:embed content/*.js
var content embed.FS

// Shared are the files that the hub's dashboard uses, too: colours, elements, words, a tool's form
// and its result.
//
//go:embed tokens.css elements.js words.js schemaform.js schemaform.css toolresult.js toolresult.css
var Shared embed.FS

// scripts are the scripts that run in pages, each made of several files: the browser loads
// one file where it would load ten.
var scripts = map[string][]string{
	// In the page's world of every frame; plain.js where the page is to have no WebMCP of the extension's.
	"content/page.js":  slices.Concat([]string{"framepath.js", pagejs.WatchTools, "oldforms.js"}, pagejs.WebMCP, []string{"sentinel.js"}),
	"content/plain.js": {"framepath.js", pagejs.WatchTools, "oldforms.js", "sentinel.js"},
	// In the page's world of a frame that has given a sign.
	"content/library.js": {pagejs.Values, pagejs.Shapes, pagejs.ModelContext, pagejs.Library, pagejs.ToolCalls, pagejs.Dialogs, "libraryend.js"},
	// In the page's world of a frame whose server, or that of a frame in it, is spoken to.
	"content/answers.js": {pagejs.Answers, "answersend.js"},
	// In the extension's world of a tab's top document.
	"content/top.js": {"framepath.js", "ratelimit.js", "gateway.js"},
	// In the extension's world of a frame that has given a sign.
	"content/frame.js": {pagejs.Values, "shape.js", "ratelimit.js", pagejs.Shapes, pagejs.ModelContext, pagejs.PageServer, "librarysource.js", "pagescript.js", "embedded.js", "combine.js", "main.js"},
	"content/late.js":  {"late.js"},
}

// files returns the files of the extension by name.
var files = sync.OnceValue(func() map[string][]byte {
	all := map[string][]byte{}
	err := fs.WalkDir(asTheyAre, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			all[name], err = asTheyAre.ReadFile(name)
		}
		return err
	})
	if err != nil {
		panic(err) // they are compiled in
	}
	for name, parts := range scripts {
		all[name] = []byte(pagejs.Script(content, "content", parts...))
	}
	return all
})
