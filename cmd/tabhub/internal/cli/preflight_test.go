package cli

import (
	"testing"

	"tabhub/cmd/tabhub/internal/command"
	"tabhub/hub/call"
	"tabhub/hub/face/admin"
	"tabhub/hub/trust/policy"
)

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
