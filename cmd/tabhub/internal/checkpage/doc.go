// Package checkpage is the command check. It opens a page in a separate browser with a separate hub,
// calls the tools that only read, and reports what does not work. Package pagecheck judges the page.
package checkpage
