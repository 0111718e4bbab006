package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
)

// component is one of a bill of materials in the words of CycloneDX 1.6.
type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Purl    string `json:"purl"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// writeSBOM writes to document which modules a program is built of, as the program itself
// says.
func writeSBOM(version string, at time.Time, program, document string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	library := func(path, version string) component {
		purl := "pkg:golang/" + path + "@" + version
		return component{Type: "library", Ref: purl, Name: path, Version: version, Purl: purl}
	}
	// The standard library's versions have no v before them.
	libraries := []component{library("std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		libraries = append(libraries, library(m.Path, m.Version))
	}
	self := component{
		Type: "application", Name: "tabhub", Version: version, Ref: "pkg:golang/tabhub@v" + version, Purl: "pkg:golang/tabhub@v" + version,
		Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}},
	}
	var refs []string
	for _, c := range libraries {
		refs = append(refs, c.Ref)
	}
	return writeJSON(document, map[string]any{
		"bomFormat":    "CycloneDX",
		"specVersion":  "1.6",
		"version":      1,
		"serialNumber": "urn:uuid:" + uuid.NewSHA1(uuid.Nil, sum[:]).String(),
		"metadata":     map[string]any{"timestamp": at.UTC().Format(time.RFC3339), "component": self},
		"components":   libraries,
		"dependencies": []any{map[string]any{"ref": self.Ref, "dependsOn": refs}},
	})
}
