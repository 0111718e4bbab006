package consent

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"tabhub/hub/trust/policy"
	"tabhub/spec"
)

// A refusal is all that a model and its person have: it must name a way that works for them.
func TestRefusals(t *testing.T) {
	mcpb := func(words ...string) string { return "/opt/x.mcpb/tabhub " + strings.Join(words, " ") }
	byPage := func(*Call) {}
	for _, test := range []struct {
		name    string
		command func(...string) string
		address string
		client  *policy.Principal
		change  func(*Call)
		want    string
	}{
		{"a client with a name", nil, "http://127.0.0.1:9147", nil, byPage,
			"the owner has to allow this call first, and cannot be asked now. Tell the owner to open http://127.0.0.1:9147, or run `tabhub approve ID` within 24 hours, and make the same call again then. " +
				"For work while nobody is there, the owner allows it beforehand, whatever the tool becomes meanwhile: `tabhub policy set allow --client C --site shop.example --tool pay --until 8h`"},
		{"a program that is not on the path", mcpb, "http://127.0.0.1:9147", policy.Unnamed, byPage,
			"the owner has to allow this call first, and cannot be asked now. Tell the owner to open http://127.0.0.1:9147, or run `/opt/x.mcpb/tabhub approve ID` within 24 hours, and make the same call again then. " +
				"For work while nobody is there, the owner allows it beforehand, whatever the tool becomes meanwhile: `/opt/x.mcpb/tabhub policy set allow --client unnamed --site shop.example --tool pay --until 8h`, which is about all programs without a credential of their own (`/opt/x.mcpb/tabhub token mint --name NAME`)"},
		{"a user with an account", func(...string) string { return "" }, "https://hub.example", nil, byPage,
			"the owner has to allow this call first, and cannot be asked now. Tell the owner to open https://hub.example within 24 hours, and make the same call again then"},
		{"a tool of the hub", nil, "", nil, func(c *Call) {
			c.Action.Of, c.Action.Kind, c.Action.Name, c.Action.Item, c.Action.Site = policy.OfHub, "", "browser_tab close", nil, policy.Site{}
		},
			"the owner has to allow this call first, and cannot be asked now. Tell the owner to run `tabhub approve ID` within 24 hours, and make the same call again then. " +
				"For work while nobody is there, the owner allows it beforehand: `tabhub policy set allow --client C --tool browser_tab close --class hub --until 8h`"},
		{"after a private site", nil, "", nil, func(c *Call) {
			c.Decision = policy.Decision{Effect: policy.Ask, Layer: policy.ByFlow, Rule: &policy.Rule{Effect: policy.Ask, From: "private"}}
		},
			"the owner has to allow this call first, and cannot be asked now. Tell the owner to run `tabhub approve ID` within 24 hours, and make the same call again then. " +
				"For work while nobody is there, the owner allows it beforehand: `tabhub policy flow private shop.example allow --client C`"},
		{"an act", nil, "", nil, func(c *Call) { *c = click(client("c")) },
			"the owner has to allow this call first, and cannot be asked now. Tell the owner to run `tabhub approve ID` within 24 hours, and make the same call again then. " +
				"For work while nobody is there, the owner allows it beforehand: `tabhub policy set allow --client C --site shop.example --class act --until 8h`"},
		{"an act after a private site", nil, "", nil, func(c *Call) {
			*c = click(client("c"))
			c.Decision = policy.Decision{Effect: policy.Ask, Layer: policy.ByFlow, Rule: &policy.Rule{Effect: policy.Ask, From: "private"}}
		},
			"the owner has to allow this call first, and cannot be asked now. Tell the owner to run `tabhub approve ID` within 24 hours, and make the same call again then. " +
				"For work while nobody is there, the owner allows it beforehand: `tabhub policy flow private shop.example allow --client C --class act`"},
		{"a name that is a pattern", nil, "", nil, func(c *Call) { c.Action.Name = "get*" },
			"the owner has to allow this call first, and cannot be asked now. Tell the owner to run `tabhub approve ID` within 24 hours, and make the same call again then"},
		{"by the policy file", nil, "", nil, func(c *Call) { c.Decision.Layer = policy.ByFile },
			"the owner has to allow this call first, and cannot be asked now. Tell the owner to run `tabhub approve ID` within 24 hours, and make the same call again then"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, &window{away: true})
				r.opts.Command, r.opts.Dashboard = test.command, test.address
				by := client("c")
				if test.client != nil {
					by.Principal = test.client
				}
				c := pay(by, `{}`)
				test.change(&c)
				_, err := r.Ask(t.Context(), by, c)
				if err == nil {
					t.Fatal("it passes")
				}
				if got := strings.ReplaceAll(err.Error(), r.Open()[0].ID[:idShown], "ID"); got != test.want {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
			})
		})
	}
}

// Where a client's own user is asked, a yes lasts only for a client with a credential of its own, and at one
// site that the browser vouches for: another program could show a shared one.
func TestAlwaysByClient(t *testing.T) {
	own := &policy.Principal{ID: "c", Name: "C"}
	for _, test := range []struct {
		name   string
		client *policy.Principal
		change func(*Call)
		always bool
	}{
		{"its own credential", own, func(*Call) {}, true},
		{"the owner's programs", policy.Owner, func(*Call) {}, false},
		{"the hub's token", policy.Token, func(*Call) {}, false},
		{"no name", policy.Unnamed, func(*Call) {}, false},
		{"a site that a page claims", own, func(c *Call) { c.Action.Site.Domain = "unverified_shop.example" }, false},
		{"no site", own, func(c *Call) {
			c.Action.Of, c.Action.Name, c.Action.Item, c.Action.Site = policy.OfHub, "browser_tab close", nil, policy.Site{}
		}, false},
		{"an act", own, func(c *Call) { *c = click(client("c")) }, false},
		{"a flow", own, func(c *Call) { c.Decision = policy.Decision{Effect: policy.Ask, Layer: policy.ByFlow} }, false},
		{"the policy file", own, func(c *Call) { c.Decision.Layer = policy.ByFile }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				by := &Caller{Principal: test.client, Session: "s"}
				var offered []spec.Reach
				by.Elicit = func(_ context.Context, q *spec.Ask) (spec.AskResult, error) {
					offered = q.Reaches
					return spec.AskResult{Reach: spec.ReachApp}, nil
				}
				c := pay(by, `{}`)
				test.change(&c)
				_, err := r.Ask(t.Context(), by, c)
				if (err == nil) != test.always || slices.Contains(offered, spec.ReachApp) != test.always || (len(r.rules) == 1) != test.always {
					t.Errorf("offered %v, stored %+v: %v", offered, r.rules, err)
				}
				if test.always && (r.rules[0].Client != "c" || r.rules[0].Site != "shop.example" || r.rules[0].By != ByClient || !r.rules[0].Until.IsZero()) {
					t.Errorf("the rule is %+v", r.rules[0])
				}
			})
		})
	}
}
