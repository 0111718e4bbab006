package consent

import (
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// Bounds of the definitions that are stored, and of what a question shows of a change.
const (
	maxStored     = 64
	maxDefinition = 16 << 10 // bytes; of a longer one no change is shown
	maxChanges    = 100
	maxChange     = 400 // characters of a value
)

// definitions are those that the owner has allowed, so that a question can show what is
// different. The last one is the newest.
type definitions []definition

type definition struct {
	Pin string          `json:"pin"`
	Is  json.RawMessage `json:"is"`
}

// readDefinitions reads what was stored, nothing if it cannot be read: it serves to show changes
// only.
func readDefinitions(stored json.RawMessage) (d definitions) {
	_ = json.Unmarshal(stored, &d)
	return d
}

// with returns d and one more.
func (d definitions) with(pin policy.Pin, is json.RawMessage) definitions {
	name := hex.EncodeToString(pin[:])
	next := slices.DeleteFunc(slices.Clone(d), func(k definition) bool { return k.Pin == name })
	next = append(next, definition{name, slices.Clone(is)})
	return next[max(0, len(next)-maxStored):]
}

// get returns the definition with a pin, nil if it is not there.
func (d definitions) get(pin policy.Pin) json.RawMessage {
	name := hex.EncodeToString(pin[:])
	if i := slices.IndexFunc(d, func(k definition) bool { return k.Pin == name }); i >= 0 {
		return d[i].Is
	}
	return nil
}

// changes returns in what two definitions differ.
func changes(was, is json.RawMessage) (all []spec.AskChange) {
	old := map[string]string{}
	for l := range leaves(was) {
		old[l.name()] = l.text()
	}
	add := func(c spec.AskChange) {
		if len(all) < maxChanges {
			c.What = line(c.What)
			c.Was, c.Is = differing(c.Was, c.Is)
			all = append(all, c)
		}
	}
	for l := range leaves(is) {
		name, now := l.name(), l.text()
		if before, ok := old[name]; !ok || before != now {
			add(spec.AskChange{What: name, Was: before, Is: now, Added: !ok})
		}
		delete(old, name)
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		add(spec.AskChange{What: name, Was: old[name], Removed: true})
	}
	return all
}

// differing returns two texts for people, from shortly before to shortly after where they
// differ.
func differing(was, is string) (string, string) {
	const around = 40 // bytes
	start := 0
	for start < min(len(was), len(is)) && was[start] == is[start] {
		start++
	}
	end := 0
	for end < min(len(was), len(is))-start && was[len(was)-1-end] == is[len(is)-1-end] {
		end++
	}
	part := func(s string) string {
		from, to := max(0, start-around), min(len(s), len(s)-end+around)
		text, _ := shown(strings.ToValidUTF8(s[from:to], ""), maxChange)
		if from > 0 && text != "" {
			text = "…" + text
		}
		if to < len(s) {
			text += "…"
		}
		return text
	}
	return part(was), part(is)
}
