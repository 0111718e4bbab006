package extension

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
)

// build is one of the two extensions that this program has: they differ in their manifests, and in the
// script that the browser starts.
type build string

const (
	normal       build = "tabhub"
	trustedInput build = "tabhub (trusted input)" // also the name in the browser's list
)

// trustedWorker is the service worker of trustedInput, which imports that of normal.
const trustedWorker = "worker/trustedinput.js"

// debugger is the permission that normal does not have.
const debugger = "debugger"

// files returns the files of the build by name. They are shared: callers must not change them.
func (b build) files() map[string][]byte {
	if b == trustedInput {
		return trustedFiles()
	}
	return normalFiles()
}

var normalFiles = sync.OnceValue(func() map[string][]byte {
	files := maps.Clone(all())
	delete(files, trustedWorker)
	return files
})

var trustedFiles = sync.OnceValue(func() map[string][]byte {
	files := maps.Clone(all())
	var m map[string]any
	err := json.Unmarshal(files["manifest.json"], &m)
	if err == nil {
		m["name"] = trustedInput
		m["description"] = "Offers your open tabs' tools to the tabhub on this computer, and acts there with input that pages cannot tell from yours."
		m["permissions"] = append(m["permissions"].([]any), debugger)
		m["background"].(map[string]any)["service_worker"] = trustedWorker
		files["manifest.json"], err = json.MarshalIndent(m, "", "  ")
	}
	if err != nil {
		panic(err) // it is compiled in
	}
	return files
})

// buildOf returns the build that a manifest is of.
func buildOf(manifest []byte) build {
	var m struct{ Permissions []string }
	_ = json.Unmarshal(manifest, &m) // one that makes no sense is of neither
	if slices.Contains(m.Permissions, debugger) {
		return trustedInput
	}
	return normal
}
