// Package dashboard holds the files of the dashboard: its page, the page on which a client asks to
// sign in, and their scripts and styles. They hold no data; the scripts get it from the admin API.
package dashboard

import "embed"

// Files are the files by name: index.html, authorize.html, scripts and styles.
//
//go:embed *.html *.js *.css
var Files embed.FS
