package private

import (
	"encoding/json"
	"os"
)

// ReadJSON reads a file of WriteJSON into v. One that others may read, as a restored
// backup's, is taken from them. The error is fs.ErrNotExist if there is none, and a
// *FormatError if the file holds something else.
func ReadJSON(path string, v any) error {
	fi, err := os.Stat(path)
	if err == nil && fi.Mode().Perm()&0o077 != 0 {
		err = os.Chmod(path, 0o600)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return &FormatError{err}
	}
	return nil
}

// FormatError is the error of ReadJSON for a file that holds no such JSON.
type FormatError struct{ err error }

func (e *FormatError) Error() string { return e.err.Error() }

// WriteJSON is Replace for a file that holds v.
func WriteJSON(path string, v any, durable bool) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return Replace(path, append(text, '\n'), durable)
}
