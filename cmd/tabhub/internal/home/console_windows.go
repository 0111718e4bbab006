package home

import "golang.org/x/sys/windows"

// HideConsole closes the window that a task of the Task Scheduler gets.
func HideConsole() { windows.NewLazySystemDLL("kernel32.dll").NewProc("FreeConsole").Call() }
