package extension

import (
	"embed"
	"io/fs"
	"strings"
	"sync"
)

// The scripts are modules; the browser loads a bundle of each place where some run. They are not
// minified: the stores' reviewers read them.
//
//go:generate go tool esbuild worker/main.ts popup.ts options.ts ask.ts invite.ts offscreen.ts sandbox.ts --bundle --format=esm --charset=utf8 --log-level=warning --outdir=bundle
//go:generate go tool esbuild worker/trustedinput.ts --bundle --external:./main.js --format=esm --charset=utf8 --log-level=warning --outdir=bundle/worker
//go:generate go tool esbuild content/page.ts content/plain.ts content/library.ts content/answers.ts content/gateway.ts content/frame.ts content/openedearlier.ts content/steps.ts content/userscript.ts content/recorder.ts --bundle --preserve-symlinks --format=iife --charset=utf8 --log-level=warning --outdir=bundle/content

//go:embed manifest.json README.md *.html *.css icons/*.png bundle
var embedded embed.FS

// Shared are the style sheets that the hub's dashboard uses, too.
//
//go:embed tokens.css question.css schemaform.css toolresult.css
var Shared embed.FS

// all holds the files of both builds, by name.
var all = sync.OnceValue(func() map[string][]byte {
	all := map[string][]byte{}
	err := fs.WalkDir(embedded, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			all[strings.TrimPrefix(name, "bundle/")], err = embedded.ReadFile(name)
		}
		return err
	})
	if err != nil {
		panic(err) // they are compiled in
	}
	return all
})
