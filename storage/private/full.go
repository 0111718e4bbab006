package private

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Explain adds to an error with a file what is to be done where its file system is full or
// can only be read, which is none of the program's doing. Other errors it returns as they are.
func Explain(err error) error {
	file := pathOf(err)
	if _, done := errors.AsType[*explained](err); done || file == "" {
		return err
	}
	dir := filepath.Dir(file)
	if fi, e := os.Stat(file); e == nil && fi.IsDir() {
		dir = file
	}
	if why := whyNotWritten(err, dir); why != "" {
		return &explained{err, "the file system of " + dir + " " + why}
	}
	return err
}

// pathOf returns the path of the file that an error is about, "" if that is none.
func pathOf(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Path
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.New
	}
	return ""
}

type explained struct {
	err error
	why string
}

func (e *explained) Error() string { return e.err.Error() + "; " + e.why }
func (e *explained) Unwrap() error { return e.err }
