package policy

import (
	"fmt"
	"slices"
)

// byPreset is Rule.By of the rules of a mode.
const byPreset = "preset"

// The classes of a rule that stand for an Of.
const (
	classHub   = "hub"
	classRelay = "relay"
)

// Modes are all there are.
var Modes = []Mode{ModeOpen, ModeCareful, ModeAsk, ModeReadOnly}

// Rules returns the rules of a mode. They name no client and no tool, so that each answer of the
// owner is more specific.
func (m Mode) Rules() []Rule {
	all := []Rule{{ID: "private", Effect: Ask, From: "private", Note: "an action at another site after reading a private site"}}
	careful := []Rule{
		{ID: "destructive", Effect: Ask, Class: "destructive", Note: "what cannot be undone or has consequences"},
		{ID: "act", Effect: Ask, Class: Act.String(), Note: "what a client does on a page by itself, once for each session and site"},
		{ID: "late", Effect: Ask, Class: "destructive", Late: true, Note: "the same, if a page offers it after the client's first call"},
		{ID: "pack", Effect: Ask, Pack: anyPack, Class: "write", Note: "what a pack's tools change, once for each site and pack"},
		{ID: "unverified", Effect: Ask, Site: "unverified", Note: "sites that no browser vouches for"},
		{ID: "relay", Effect: Ask, Class: classRelay, Note: "requests to extensions, which reach the whole browser"},
	}
	switch m {
	case ModeOpen:
		all = append(all, Rule{ID: "open", Effect: Allow, Note: "everything"})
	case ModeCareful:
		all = append(append(all, careful...), Rule{ID: "careful", Effect: Allow, Note: "everything else"})
	case ModeAsk:
		all = append(append(all, careful...), Rule{ID: "ask", Effect: Ask, Note: "everything, once for each client and site"})
	case ModeReadOnly:
		all = append(all, Rule{ID: "read-only", Effect: Allow, Class: "read", Note: "reading, and nothing else"})
	}
	for i := range all {
		all[i].ID, all[i].By = "preset:"+all[i].ID, byPreset
	}
	return all
}

// check reports whether there is such a mode.
func (m Mode) check() error {
	if !slices.Contains(Modes, m) {
		return fmt.Errorf("the mode is %.40q; it may be open, careful, ask or read-only", string(m))
	}
	return nil
}

// UnmarshalText reads a mode, and refuses what is none.
func (m *Mode) UnmarshalText(text []byte) error {
	*m = Mode(text)
	return m.check()
}

// raises reports whether the mode asks about a tool that has changed since it was allowed.
func (m Mode) raises() bool { return m == ModeCareful || m == ModeAsk }
