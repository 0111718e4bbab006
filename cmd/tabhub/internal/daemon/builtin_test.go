package daemon

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tabhub/cmd/tabhub/internal/settings"
	"tabhub/hub/builtin"
	"tabhub/hub/builtin/browsertool"
	"tabhub/hub/builtin/proxytool"
	"tabhub/hub/offer/listed"
	"tabhub/spec"
)

// A model reads the instructions in every session, so they are short, and name no tool
// that it does not have.
func TestInstructions(t *testing.T) {
	for off, named := range map[string]map[string]bool{
		"":                   {"proxy": true, "browser_": true},
		proxytool.Name:       {"proxy": false, "browser_": true},
		proxytool.ReadName:   {"proxy": true, "proxy_read": false, "browser_": true},
		browsertool.TabTool:  {"proxy": true, "browser_": false},
		browsertool.PageTool: {"proxy": true, "browser_": false},
	} {
		p := Process{tools: builtin.Switches{off: false}}
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

// Each client's model pays for the hub's own tools in every session, and a model API that does not
// take a schema refuses the whole conversation.
func TestBuiltinsAreShort(t *testing.T) {
	size := 0
	for _, tool := range (&Process{Options: Options{Config: &settings.Config{}}}).builtins(nil, nil) {
		size += len(tool.Definition()) + len(",")
		if shown := listed.Input(tool.Input); string(shown.JSON) != string(tool.Input) {
			t.Errorf("%s would have to be listed with %s", tool.Name, shown.JSON)
		}
	}
	if size > 7000 {
		t.Errorf("the hub's own tools have %d bytes in tools/list, want at most 7000", size)
	}
}

// The guide names each tool that --tools can name, and says when it is listed.
func TestGuideNamesTheBuiltinTools(t *testing.T) {
	guide, err := os.ReadFile("../../../../spec/docs/USE.md")
	if err != nil {
		t.Fatal(err)
	}
	p := Process{Options: Options{Config: &settings.Config{}}}
	when := map[builtin.Listed]string{
		builtin.Always: "always", builtin.LocalOnly: "on a hub that others cannot reach",
	}
	var want []string
	for _, tool := range p.builtins(nil, nil) {
		want = append(want, tool.Name+": "+when[tool.Listed])
	}
	var got []string
	for _, row := range regexp.MustCompile("(?m)^\\| (`(?:proxy|browser_).*) \\| .* \\| (.*) \\|$").FindAllStringSubmatch(string(guide), -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			got = append(got, strings.Trim(name, "`")+": "+row[2])
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the guide has %q, want %q", got, want)
	}
}

// Clients that come over the network start no programs, unless the user wants that.
func TestInstancesAreForThisMachine(t *testing.T) {
	for flags, want := range map[string]bool{
		"":                        true,
		"--set=behind-proxy=true": false,
		"--set=public-url=https://hub.example.com":         false,
		"--set=behind-proxy=true --tools=browser_instance": true,
	} {
		p, _ := serve(t, io.Discard, strings.Fields(flags)...)
		of := tenantOf(t, p, string(spec.LocalUser))
		if slices.ContainsFunc(of.Builtin, func(b builtin.Tool) bool { return b.Name == browsertool.InstanceTool }) != want {
			t.Errorf("with %q the tools are %+v", flags, of.Builtin)
		}
	}
}
