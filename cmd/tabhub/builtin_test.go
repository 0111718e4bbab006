package main

import (
	"strings"
	"testing"

	"tabhub/hub/browsertool"
	"tabhub/hub/mcpserver/proxytool"
)

// A model reads the instructions in every session, so they are short, and name no tool
// that it does not have.
func TestInstructions(t *testing.T) {
	for off, named := range map[string]map[string]bool{
		"":                   {"proxy": true, "browser_": true},
		proxytool.Name:       {"proxy": false, "browser_": true},
		browsertool.TabTool:  {"proxy": true, "browser_": false},
		browsertool.PageTool: {"proxy": true, "browser_": false},
	} {
		p := process{tools: browsertool.Switches{off: false}}
		text := p.instructions()
		for name, want := range named {
			if strings.Contains(text, name) != want {
				t.Errorf("without %q, %s is named: %t", off, name, !want)
			}
		}
		if len(text) > 1000 {
			t.Errorf("without %q: %d bytes", off, len(text))
		}
	}
}
