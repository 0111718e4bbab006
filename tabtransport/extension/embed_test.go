package extension_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tabhub/tabtransport/extension"
	"tabhub/tabtransport/tabtest"
)

type manifest struct {
	Key         string            `json:"key"`
	Permissions []string          `json:"permissions"`
	Optional    []string          `json:"optional_permissions"`
	Hosts       []string          `json:"host_permissions"`
	CSP         map[string]string `json:"content_security_policy"`
}

func readManifest(t *testing.T) manifest {
	t.Helper()
	text, err := os.ReadFile("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// A hub pins the id: if the key changed, every installed copy would be locked out.
func TestIDIsTheKeys(t *testing.T) {
	key, err := base64.StdEncoding.DecodeString(readManifest(t).Key)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(key)
	var id strings.Builder
	for _, b := range sum[:16] {
		id.WriteByte('a' + b>>4)
		id.WriteByte('a' + b&15)
	}
	if id.String() != extension.ID {
		t.Errorf("the key's id is %s, ID is %s", &id, extension.ID)
	}
}

// The README must explain each permission that the browser asks for.
func TestPermissionsAreExplained(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	m := readManifest(t)
	for _, p := range slices.Concat(m.Permissions, m.Optional, m.Hosts) {
		if !strings.Contains(string(readme), "`"+p+"`") {
			t.Errorf("README.md does not explain %s", p)
		}
	}
	csp := m.CSP["extension_pages"]
	if !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
		t.Errorf("the pages' policy is not strict: %s", csp)
	}
	if got, want := m.CSP["sandbox"], "sandbox allow-scripts; default-src 'none'; script-src blob: 'self'; worker-src blob:"; got != want {
		t.Errorf("the policy of clients' scripts is %s, want %s", got, want)
	}
}

// What the scripts do without a browser.
func TestScripts(t *testing.T) {
	t.Parallel()
	tabtest.NodeTest(t, "*.test.mjs")
}

func TestTypes(t *testing.T) {
	t.Parallel()
	tsc := filepath.Join("node_modules", ".bin", "tsc")
	if _, err := os.Stat(tsc); err != nil {
		missing(t, "TypeScript is not installed: run npm ci in tabtransport/extension")
	}
	if out, err := exec.CommandContext(t.Context(), tsc, "-p", ".").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dir")
	ring := tabtest.NewPairings(t).Ring
	first, err := extension.Write(dir, ring, "ws://127.0.0.1:1/tabs")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "pairing.json")
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), first.Key.String()) || !strings.Contains(string(text), "ws://127.0.0.1:1/tabs") {
		t.Errorf("pairing.json: %s, %v", text, err)
	}
	if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("others may read the key: %v, %v", fi.Mode(), err)
	}
	if err := os.WriteFile(filepath.Join(dir, "worker", "old.js"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// A browser has the copy loaded: it stays paired.
	if again, err := extension.Write(dir, ring, "ws://127.0.0.1:2/tabs"); err != nil || again.Pairing != first.Pairing {
		t.Fatalf("bringing an own directory up to date: %v, %v", again.Pairing, err)
	}
	// One that another hub wrote is paired with this one.
	if other, err := extension.Write(dir, tabtest.NewPairings(t).Ring, "ws://127.0.0.1:2/tabs"); err != nil || other.Pairing == first.Pairing {
		t.Fatalf("writing over another hub's copy: %v, %v", other.Pairing, err)
	}
	var got []string
	for _, name := range []string{"manifest.json", "README.md", "popup.html", "content/frame.js", "worker/main.js", "icons/128.png", "worker/old.js", "pairing.json", "content/frame.ts", "types.d.ts", "package.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			got = append(got, name)
		}
	}
	if want := []string{"manifest.json", "README.md", "popup.html", "content/frame.js", "worker/main.js", "icons/128.png", "pairing.json"}; !slices.Equal(got, want) {
		t.Errorf("the directory has %v, want %v", got, want)
	}
}

// `tabhub doctor` reads a copy to say what is wrong with it.
func TestRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	if _, err := extension.Read(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that is not there: %v", err)
	}
	written, err := extension.Write(dir, tabtest.NewPairings(t).Ring, "ws://127.0.0.1:1/tabs")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := extension.Read(dir); err != nil || !reflect.DeepEqual(got.Copy, written) || !got.Current {
		t.Errorf("%+v, %v; want %+v", got, err, written)
	}
	if err := os.Remove(filepath.Join(dir, "popup.js")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "pairing.json")); err != nil {
		t.Fatal(err)
	}
	if got, err := extension.Read(dir); err != nil || got.Pairing != "" || got.Current {
		t.Errorf("one of before there was pairing: %+v, %v", got, err)
	}
	if err := os.Remove(filepath.Join(dir, "manifest.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := extension.Read(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that holds something else: %v", err)
	}
}

// A mistyped directory must not cost its owner anything.
func TestWriteLeavesOthersAlone(t *testing.T) {
	for name, text := range map[string]string{"thesis.txt": "years of work", "manifest.json": `{"key":"another"}`} {
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := extension.Write(dir, tabtest.NewPairings(t).Ring, "ws://127.0.0.1:1/tabs"); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("writing beside %s: %v", name, err)
		}
		if left, err := os.ReadFile(file); err != nil || string(left) != text {
			t.Errorf("%s: %q, %v", name, left, err)
		}
	}
}
