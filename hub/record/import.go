package record

import (
	"os"

	"tabhub/storage/private"
)

// Import makes entries, oldest first, the first lines of a record of which there is none yet;
// otherwise it does nothing, so that it can be repeated. When it returns they are on the
// disk.
func Import(dir string, o Options, entries []Entry) error {
	all, err := segments(dir)
	if err != nil || len(all) > 0 || len(entries) == 0 {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	w := newWriter(nil, o)
	var head Head
	for i := range entries {
		w.encode(&Line{Entry: entries[i]}, &head)
	}
	if err := private.Replace(segment{0, 1}.lines(dir), w.buf.Bytes(), true); err != nil {
		return err
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	return writeHead(dir, head)
}
