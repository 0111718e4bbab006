// Command pack makes what is in a release beside archives and packages, and no other tool
// makes: the bundle for MCP hosts, the extension for stores, the entry of the MCP registry,
// and what says which modules a program is built of. goreleaser.yaml runs it. The same input
// gives the same bytes.
package main

import (
	"archive/zip"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tabhub/tabtransport/extension"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "pack: %v\n", err)
		os.Exit(1)
	}
}

const usage = `it is used as
  pack extras --version V --repository OWNER/NAME [--system OS] DIST OUT
  pack sbom --version V --time SECONDS PROGRAM DOCUMENT`

func run(args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	f := flag.NewFlagSet("pack "+args[0], flag.ContinueOnError)
	version := f.String("version", "", "of the release, without a v before it")
	repository := f.String("repository", "", "at GitHub, as OWNER/NAME")
	system := f.String("system", "", "the only one that the bundle is for, as goreleaser names its directory")
	seconds := f.Int64("time", 0, "of the commit, in seconds since 1970")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	if f.NArg() != 2 || *version == "" {
		return errors.New(usage)
	}
	switch args[0] {
	case "extras":
		return extras(*version, *repository, *system, f.Arg(0), f.Arg(1))
	case "sbom":
		return writeSBOM(*version, time.Unix(*seconds, 0), f.Arg(0), f.Arg(1))
	}
	return errors.New(usage)
}

// extras makes the files of a release in the directory out, of the programs that
// goreleaser has built in the directory dist.
func extras(version, repository, system, dist, out string) error {
	owner, name, ok := strings.Cut(repository, "/")
	if !ok || owner == "" || name == "" {
		return fmt.Errorf("--repository is %q; write it as OWNER/NAME", repository)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	store, err := extension.ForStore(version)
	if err != nil {
		return err
	}
	if err := writeZip(filepath.Join(out, "tabhub-extension_"+version+".zip"), store, nil); err != nil {
		return err
	}
	bundle, programs, err := bundleFiles(version, repository, system, dist)
	if err != nil {
		return err
	}
	file := filepath.Join(out, "tabhub_"+version+".mcpb")
	if err := writeZip(file, bundle, programs); err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	return writeJSON(filepath.Join(out, "server.json"), registryEntry(version, owner, name, filepath.Base(file), hex.EncodeToString(sum[:])))
}

// writeZip writes files, of which some are programs, to a zip file.
func writeZip(file string, files map[string][]byte, programs []string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	z := zip.NewWriter(out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		mode := fs.FileMode(0o644)
		if slices.Contains(programs, name) {
			mode = 0o755
		}
		h.SetMode(mode)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(files[name])
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return errors.Join(z.Close(), out.Close())
}

func writeJSON(file string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
