// Package dashboard holds the files of the dashboard: its page, the page on which a client asks to
// sign in, and their scripts and styles. They hold no data; the scripts get it from the admin API.
package dashboard

import "embed"

//go:generate go tool esbuild dashboard.ts authorize.ts --bundle --format=esm --charset=utf8 --log-level=warning --outdir=bundle

// Files are the files by name: index.html, authorize.html, styles, and the scripts in bundle.
//
//go:embed *.html *.css bundle/*.js
var Files embed.FS
