// Package checkpage is the command check, which opens a page in a browser and with a hub of its own,
// calls what only reads, and reports what does not work. Package pagecheck judges what it finds.
package checkpage
