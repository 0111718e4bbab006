package setup

import (
	"slices"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/clientconf"
	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/face/admin"
)

// What the dashboard offers to copy is what `tabhub install` writes, but for the token: a page
// holds none.
func TestConnectHoldsNoSecret(t *testing.T) {
	all := Connectable("/opt/tab hub", StdioArgs("/data dir"), "http://127.0.0.1:3300/mcp")
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
		for _, how := range []*admin.Connect{c.Start, c.URL} {
			if how != nil && (strings.Contains(how.Line+how.Entry, command.TokenEnv)) {
				t.Errorf("%s: %+v", c.Name, how)
			}
		}
		if c.URL != nil && !strings.Contains(c.URL.Line+c.URL.Entry, "http://127.0.0.1:3300/mcp") {
			t.Errorf("%s does not lead to the hub: %+v", c.Name, c.URL)
		}
		if c.Start == nil || !strings.Contains(c.Start.Line, "data dir") || !strings.Contains(c.Start.Line, "tab hub") {
			t.Errorf("%s starts another hub: %+v", c.Name, c.Start)
		}
	}
	for _, name := range append(clientconf.Names(), "other") {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not among %v", name, names)
		}
	}
}
