// Package anypage does what clients ask for on pages by themselves, without a tool of the page's or of a pack's: it
// looks at a page, and does steps there.
//
//	look.go     snapshots and pictures: which frames a client is shown, and as whose words
//	act.go      steps and scripts: what references stand for, what is sent, what came of it
//	named.go    the words of references, for the owner and the record
//	steps.go    the steps of browser_script, and their short forms
//	target.go   targets as texts: button "Remove" in row "Tea..."
//	uploads.go  the files that the owner has named
//
// What passes, and what is sent, is decided in hub/call (own.go).
package anypage
