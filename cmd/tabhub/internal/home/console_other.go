//go:build !windows

package home

// HideConsole does nothing: what other systems start has no window.
func HideConsole() {}
