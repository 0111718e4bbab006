package private

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
)

// Document is JSON that is kept as a whole: in a file, or with the state of a user's hub, if that
// moves from process to process.
type Document struct {
	// Body is what was saved last, nil if nothing was.
	Body []byte
	// Save replaces it, and blocks until that is on disk unless wait is false. It fails when
	// another hub has become the user's. Nothing of the body may be changed afterwards.
	Save func(body []byte, wait bool) error
}

// OpenDocument returns the document in a file that its owner alone may read and write. One that
// others may read, as a restored backup's, is taken from them. There need not be a file yet.
func OpenDocument(path string) (Document, error) {
	doc := Document{Save: func(body []byte, wait bool) error {
		var text bytes.Buffer
		if err := json.Indent(&text, body, "", "  "); err != nil {
			return err
		}
		text.WriteByte('\n')
		return Replace(path, text.Bytes(), wait)
	}}
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return doc, nil
	}
	if err == nil && fi.Mode().Perm()&0o077 != 0 {
		err = os.Chmod(path, 0o600)
	}
	if err == nil {
		doc.Body, err = os.ReadFile(path)
	}
	return doc, err
}

// Write saves v as JSON.
func (d Document) Write(v any, wait bool) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return d.Save(body, wait)
}
