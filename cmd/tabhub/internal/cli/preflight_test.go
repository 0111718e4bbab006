package cli

import (
	"testing"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/call"
	"tabhub/hub/face/admin"
	"tabhub/hub/trust/policy"
)

// A person who schedules a client reads which rule lets it act at a site.
func TestFixForAnAct(t *testing.T) {
	a := &command.App{Env: func(string) string { return "" }}
	p := admin.ToolPreflight{State: call.WouldAsk, Site: "shop.example", Tool: "browser_page click", Class: policy.Act, By: policy.ByPreset}
	if got, want := fixFor(a, "nightly", &p), "tabhub policy set allow --client nightly --site shop.example --class act --until 8h"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	p.By, p.Rule = policy.ByFlow, &policy.Rule{From: "mail.example"}
	if got, want := fixFor(a, "nightly", &p), "tabhub policy flow mail.example shop.example allow --client nightly --class act"; got != want {
		t.Errorf("after reading another site: %s, want %s", got, want)
	}
}

// A person who schedules a client reads which rule lets it use a pack: one for all that the pack changes at a site, and one
// for each tool that cannot be undone.
func TestFixForAPack(t *testing.T) {
	a := &command.App{Env: func(string) string { return "" }}
	for class, want := range map[policy.Class]string{
		policy.Write:       "tabhub policy set allow --client nightly --site shop.example --pack shop-tools --class write --until 8h",
		policy.Destructive: "tabhub policy set allow --client nightly --site shop.example --tool order --pack shop-tools --until 8h",
	} {
		p := &admin.ToolPreflight{State: call.WouldAsk, Site: "shop.example", Tool: "order", Pack: "shop-tools", Class: class, By: policy.ByPreset}
		if got := fixFor(a, "nightly", p); got != want {
			t.Errorf("%s: %s, want %s", class, got, want)
		}
	}
}
