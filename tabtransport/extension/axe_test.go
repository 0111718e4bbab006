package extension_test

import (
	"os"
	"testing"

	"tabhub/tabtransport/tabtest/chromium"
)

// accessible checks what a page shows with axe-core, for what would keep a person from using it.
func accessible(t *testing.T, p *chromium.Page, what string) {
	t.Helper()
	script, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		missing(t, "the npm packages are not installed: run npm ci in tabtransport/extension")
	}
	if p.Eval("typeof axe") == `"undefined"` {
		p.Eval(string(script) + ";0")
	}
	var found []string
	p.Into(`axe.run().then(({violations}) => violations.filter(({impact}) => impact === "serious" || impact === "critical")
		.flatMap(({help, nodes}) => nodes.map(({html, failureSummary}) => help + ": " + html.slice(0, 200) + ": " + failureSummary)))`, &found)
	for _, problem := range found {
		t.Errorf("%s: %s", what, problem)
	}
}

// inBothShades checks what a page shows in light and in dark colours, and takes pictures of it.
func inBothShades(t *testing.T, p *chromium.Page, name string) {
	t.Helper()
	for shade, dark := range map[string]bool{"light": false, "dark": true} {
		p.Dark(dark)
		picture(t, p, name+"-"+shade)
		accessible(t, p, name+", "+shade)
	}
}
