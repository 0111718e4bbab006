package home

import "errors"

// CanHandOver says whether HandOver works on this system.
const CanHandOver = false

// HandOver fails: a process of Windows stays what it is.
func (l *Lock) HandOver(string, []string) error { return errors.ErrUnsupported }

// Inherited returns nil.
func (d Dir) Inherited(string) *Lock { return nil }
