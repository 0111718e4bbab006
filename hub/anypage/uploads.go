package anypage

import (
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tabhub/hub/core"
	"tabhub/spec"
)

// Uploads are the files that an owner lets clients upload: single files, and those below folders. No link leads
// out of them.
type Uploads []string

const (
	maxUpload    = 16 << 20 // bytes of all files of an act
	maxNamed     = 30       // names in a message
	maxUploadAll = 2000     // files that are looked at for names
)

// read puts the data into files that have a name alone.
func (u Uploads) read(files []spec.File) error {
	left := int64(maxUpload)
	for i := range files {
		data, err := u.data(files[i].Name, left)
		if err != nil {
			return err
		}
		left -= int64(len(data))
		files[i].Data, files[i].MimeType = base64.StdEncoding.EncodeToString(data), mime.TypeByExtension(path.Ext(files[i].Name))
		files[i].Name = path.Base(files[i].Name)
	}
	return nil
}

// data returns what a file holds, of at most so many bytes.
func (u Uploads) data(name string, most int64) ([]byte, error) {
	if len(u) == 0 {
		return nil, core.Fail(spec.FailDenied, "the owner has named no files for clients to upload: they do so with the setting uploads (tabhub serve --uploads DIR); nothing was done")
	}
	f, err := u.open(name)
	if err != nil {
		names := u.names()
		if len(names) == 0 {
			return nil, core.Fail(spec.FailInvalidArguments, "there is no file %.80q for clients to upload, and no other: the owner puts them into %s; nothing was done", name, strings.Join(u, ", "))
		}
		return nil, core.Fail(spec.FailInvalidArguments, "there is no file %.80q for clients to upload; there are %s; nothing was done", name, strings.Join(names, ", "))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, core.Fail(spec.FailToolError, "the file %.80q cannot be read: %v; nothing was done", name, err)
	case int64(len(data)) > most:
		return nil, core.Fail(spec.FailInvalidArguments, "the files are larger than %d MiB together; nothing was done", maxUpload>>20)
	}
	return data, nil
}

// open opens a file by its name.
func (u Uploads) open(name string) (*os.File, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrNotExist
	}
	for _, at := range u {
		dir, in := at, name
		if info, err := os.Stat(at); err != nil {
			continue
		} else if !info.IsDir() {
			if dir, in = filepath.Dir(at), filepath.Base(at); in != name {
				continue
			}
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			continue
		}
		var f *os.File
		// To open a pipe would wait for a program that writes into it.
		if info, err := root.Stat(filepath.FromSlash(in)); err == nil && info.Mode().IsRegular() {
			f, _ = root.Open(filepath.FromSlash(in))
		}
		root.Close()
		if f != nil {
			return f, nil
		}
	}
	return nil, fs.ErrNotExist
}

// names returns the names of files, as many as a message has.
func (u Uploads) names() (names []string) {
	seen := 0
	for _, at := range u {
		info, err := os.Stat(at)
		if err == nil && !info.IsDir() {
			names = append(names, fmt.Sprintf("%q", filepath.Base(at)))
			continue
		}
		root, err := os.OpenRoot(at)
		if err != nil {
			continue
		}
		// What cannot be read is not named.
		_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if seen++; seen > maxUploadAll || len(names) >= maxNamed {
				return fs.SkipAll
			}
			if err == nil && d.Type().IsRegular() {
				names = append(names, fmt.Sprintf("%q", name))
			}
			return nil
		})
		root.Close()
	}
	slices.Sort(names)
	return slices.Compact(names)
}
