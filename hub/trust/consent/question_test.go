package consent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"tabhub/describe"
	"tabhub/hub/trust/policy"
	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// questionOf makes what is shown of a call.
func questionOf(t *testing.T, c Call) *spec.Ask {
	t.Helper()
	q, err := newQuestion(client(c.Action.Principal.ID), &c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &q.Ask
}

// Nothing that is sent may be hidden from the owner, however it is packed.
func TestArguments(t *testing.T) {
	long := strings.Repeat("a", maxValue) + strings.Repeat("b", 100) + strings.Repeat("c", maxValue)
	c := pay(client("c"), fmt.Sprintf(`{"to":"ann","deep":[{"x":1,"to":"eve"},[],{}],"text":%q,"to":"mal\u202elory\u200b\n!","":null}`, long))
	got := questionOf(t, c).Args
	want := []spec.AskValue{
		{Name: "to", Path: []string{"to"}, Value: "ann"},
		{Name: "deep/0/x", Path: []string{"deep", "0", "x"}, Value: "1"}, {Name: "deep/0/to", Path: []string{"deep", "0", "to"}, Value: "eve"},
		{Name: "deep/1", Path: []string{"deep", "1"}, Value: "[]"}, {Name: "deep/2", Path: []string{"deep", "2"}, Value: "{}"},
		{Name: "text", Path: []string{"text"}, Value: strings.Repeat("a", maxValue/2) + "…" + strings.Repeat("c", maxValue/2), Cut: maxValue + 100},
		{Name: "to", Path: []string{"to"}, Value: `mal\u202elory\u200b !`},
		{Name: `""`, Path: []string{`""`}, Value: "null"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("shown %+v", got)
	}

	many := "{" + strings.Repeat(`"a":1,`, maxRows) + `"to":"eve"}`
	_, err := newQuestion(client("c"), new(pay(client("c"), many)), nil)
	denied(t, err, "more than 1000 values")

	big := questionOf(t, pay(client("c"), `{"to":"eve","pad":"`+strings.Repeat("x", maxArgs)+`"}`))
	if !slices.Equal(big.Reaches, []spec.Reach{spec.ReachOnce}) || !strings.Contains(strings.Join(big.Why, ""), "64 KB") {
		t.Errorf("of large arguments: %v, %v", big.Reaches, big.Why)
	}
	if none := questionOf(t, pay(client("c"), `{}`)).Args; len(none) > 0 {
		t.Errorf("of no arguments: %v", none)
	}
}

// A page's words must be short, on one line, and visible, or they could be taken for the hub's.
func TestHostileNames(t *testing.T) {
	hostile := "Approved by tabhub.\n\u202eClick Allow\u200b " + strings.Repeat("!", 500)
	c := pay(client("c"), `{}`)
	by := client("c")
	by.Principal = &policy.Principal{ID: "c", Name: hostile}
	by.Said = hostile + "?"
	c.Action.Name, c.Title, c.Origin, c.Top = hostile, hostile+"?", "https://xn--pypal-4ve.example", hostile
	q, err := newQuestion(by, &c, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{q.Client.Name, q.Client.Said, q.Tool.Name, q.Tool.Title, q.Site.Top} {
		if len([]rune(text)) > maxName*7 || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || describe.Hidden(r) }) {
			t.Errorf("shown %q", text)
		}
	}
	if q.Site.Origin != "https://xn--pypal-4ve.example" {
		t.Errorf("the site: %q", q.Site.Origin)
	}
}

// readPrivate is the decision about a client that has read a private site.
var readPrivate = policy.Decision{Effect: policy.Ask, Layer: policy.ByFlow, Rule: &policy.Rule{ID: "preset:private", Effect: policy.Ask, From: "private", By: "preset", Note: "…"}}

// How far an answer may reach depends on what it can be about.
func TestOfferedReaches(t *testing.T) {
	all := "once session app always never"
	for name, test := range map[string]struct {
		change func(*Caller, *Call)
		want   string
	}{
		"usual":            {func(*Caller, *Call) {}, all},
		"no session":       {func(by *Caller, _ *Call) { by.Session = "" }, "once app always never"},
		"unverified site":  {func(_ *Caller, c *Call) { c.Action.Site.Domain = "unverified_shop.example" }, "once session"},
		"unknown program":  {func(by *Caller, c *Call) { c.Action.Principal = &policy.Principal{ID: policy.UnnamedID} }, "once session always never"},
		"policy file":      {func(_ *Caller, c *Call) { c.Decision.Layer = policy.ByFile }, "once"},
		"flow":             {func(_ *Caller, c *Call) { c.Decision.Layer = policy.ByFlow }, "once"},
		"private site":     {func(_ *Caller, c *Call) { c.Decision = readPrivate }, "once session"},
		"flow, no session": {func(by *Caller, c *Call) { by.Session, c.Decision = "", readPrivate }, "once"},
		"flow anywhere":    {func(_ *Caller, c *Call) { c.Decision, c.Action.Site = readPrivate, policy.Site{Any: true} }, "once"},
		"flow by file": {func(_ *Caller, c *Call) {
			c.Decision = readPrivate
			c.Decision.Rule = &policy.Rule{Effect: policy.Ask, From: "private", By: "file"}
		}, "once"},
		"no definition": {func(_ *Caller, c *Call) { c.Action.Item = nil }, "once"},
		"hub's tool":    {func(_ *Caller, c *Call) { c.Action.Item, c.Action.Of = nil, policy.OfHub }, all},
		"act":           {func(by *Caller, c *Call) { *c = click(by) }, "once session never"},
		"long act": {func(by *Caller, c *Call) {
			*c = click(by)
			c.Args = json.RawMessage(`{"value":"` + strings.Repeat("x", maxArgs) + `"}`)
		}, "once session never"},
		"act, no session":  {func(by *Caller, c *Call) { *c, by.Session = click(by), "" }, "once"},
		"act, unverified":  {func(by *Caller, c *Call) { *c = click(by); c.Action.Site.Domain = "unverified_shop.example" }, "once session"},
		"act, any site":    {func(by *Caller, c *Call) { *c = click(by); c.Action.Site = policy.Site{Any: true} }, "once"},
		"act by file":      {func(by *Caller, c *Call) { *c = click(by); c.Decision.Layer = policy.ByFile }, "once"},
		"act after a flow": {func(by *Caller, c *Call) { *c = click(by); c.Decision = readPrivate }, "once session"},
	} {
		by := client("c")
		c := pay(by, `{}`)
		test.change(by, &c)
		if got := strings.Trim(fmt.Sprint(reaches(by, &c)), "[]"); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// A rule must be about what was asked: not about a page's tool that has the name of a hub's,
// and, where everything is asked about, about the site.
func TestRules(t *testing.T) {
	by := client("c")
	c := pay(by, `{}`)
	c.Action.Of, c.Action.Name, c.Action.Item = policy.OfHub, "browser_page goto", nil
	if r, _ := ruleOf(by, &c, spec.ReachApp); r.Class != "hub" || r.Tool != "browser_page goto" || r.Site != "shop.example" {
		t.Errorf("a hub's tool: %+v", r)
	}
	c = pay(by, `{}`)
	c.Decision.Rule = &policy.Rule{Effect: policy.Ask, By: "preset"}
	if r, _ := ruleOf(by, &c, spec.ReachApp); r != (policy.Rule{Effect: policy.Allow, Client: "c", Site: "shop.example"}) {
		t.Errorf("where everything is asked about: %+v", r)
	}
	if q := questionOf(t, c); !strings.Contains(strings.Join(q.Why, " "), "all that shop.example itself offers") {
		t.Errorf("why: %v", q.Why)
	}
	c.Decision = readPrivate
	flow, ok := ruleOf(by, &c, spec.ReachSession)
	if flow.ID, flow.By = "r1", "window"; !ok {
		t.Fatal("an answer for the session makes no rule")
	}
	set, err := policy.New(policy.Document{Private: []string{"mail.example"}, Rules: []policy.Rule{flow}}, policy.ModeOpen, policy.File{})
	if err != nil {
		t.Fatal(err)
	}
	for site, want := range map[spec.Domain]policy.Effect{"shop.example": policy.Allow, "evil.example": policy.Ask} {
		a := *c.Action
		a.Site.Domain, a.Read = site, []spec.Domain{"mail.example"}
		if d := set.Decide(&a, time.Now()); d.Effect != want {
			t.Errorf("when it may act at the shop, to act at %s is %s", site, d.Effect)
		}
	}
	c.Decision = policy.Decision{}
	c.Action.Of, c.Action.Site = policy.OfHub, policy.Site{}
	if r, _ := ruleOf(by, &c, spec.ReachApp); r.Tool == "" {
		t.Errorf("a rule about everything: %+v", r)
	}
}

// A yes to what a pack changes at a site is none to what it destroys, to another pack, or to the site's own
// tools, and the owner reads before which pack acts, since when there is it, and what it would do.
func TestQuestionAboutAPack(t *testing.T) {
	by := client("c")
	c := pay(by, `{"id":"7"}`)
	c.Action.Pack, c.Action.Class, c.Title = "shop-tools", policy.Write, "Add to the cart"
	c.Added, c.Steps = time.Date(2026, 5, 3, 12, 0, 0, 0, time.Local), []string{"click button “Add\u202e to cart”", "fill field \"Note\" with \"" + strings.Repeat("x", maxStep) + "\"", "reads 2 times"}
	c.Decision.Rule = &policy.Rule{ID: "preset:pack", Effect: policy.Ask, Pack: "*", Class: "write", By: "preset", Note: "…"}
	q := questionOf(t, c)
	text := Text(q)
	for _, want := range []string{
		"tabhub asks: “C” wants to run “pay” of your pack “shop-tools” (added by you on 3 May 2026) on “shop.example”. Allow it?\n", "The pack calls it “Add to the cart”.\n",
		"about all that the pack shop-tools changes on shop.example.\n",
		"What the pack does:\n  “click button 'Add\\u202e to cart'”\n  “fill field \"Note\" with \"xxx", "characters are left out)”\n  “reads 2 times”\nWith:\n  “id”: “7”\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the question does not say %q:\n%.2000s", want, text)
		}
	}
	for reach, want := range map[spec.Reach]policy.Rule{
		spec.ReachApp:     {Effect: policy.Allow, Client: "c", Site: "shop.example", Pack: "shop-tools", Class: "write"},
		spec.ReachSession: {Effect: policy.Allow, Client: "c", Session: by.Session, Site: "shop.example", Pack: "shop-tools", Class: "write"},
		spec.ReachAlways:  {Effect: policy.Allow, Site: "shop.example", Pack: "shop-tools", Class: "write"},
		spec.ReachNever:   {Effect: policy.Deny, Client: "c", Site: "shop.example", Pack: "shop-tools", Class: "write"},
	} {
		if r, _ := ruleOf(by, &c, reach); r != want {
			t.Errorf("%s: %+v", reach, r)
		}
	}
	if words := strings.Join(beforehand(&c), " "); words != "policy set allow --client C --site shop.example --pack shop-tools --class write --until 8h" {
		t.Errorf("beforehand: %s", words)
	}
	c.Action.Class, c.Decision.Rule = policy.Destructive, &policy.Rule{Effect: policy.Ask, Class: "destructive", By: "preset"}
	if r, _ := ruleOf(by, &c, spec.ReachApp); r != (policy.Rule{Effect: policy.Allow, Client: "c", Site: "shop.example", Tool: "pay", Pack: "shop-tools", Pin: item("v1").Pin()}) {
		t.Errorf("what cannot be undone: %+v", r)
	}
	if questionOf(t, c).AboutSite {
		t.Error("an answer about what cannot be undone is about more than that")
	}
	c.Decision = readPrivate
	if r, _ := ruleOf(by, &c, spec.ReachSession); r.Pack != "shop-tools" || r.From != "private" {
		t.Errorf("after reading a private site: %+v", r)
	}
}

// click is an act of a client: it is about to click a button of the shop.
func click(by *Caller) Call {
	c := pay(by, `{"action":"click","ref":"kfa7"}`)
	c.Action.Of, c.Action.Kind, c.Action.Name, c.Action.Class, c.Action.Item = policy.OfHub, "", "browser_page click", policy.Act, nil
	c.Is, c.Steps = nil, []string{`click button "Order"`}
	c.Decision.Rule = &policy.Rule{ID: "preset:act", Effect: policy.Ask, Class: "act", By: "preset", Note: "…"}
	return c
}

// The owner reads what a client is about to do in a page, in the page's words; an answer is good for that, or for
// this site and this session.
func TestQuestionAboutAnAct(t *testing.T) {
	by := client("c")
	c := click(by)
	c.Steps[0] = "click button \"Or\u202eder”\ntabhub asks:\""
	q := questionOf(t, c)
	if text := Text(q); !strings.HasPrefix(text, "tabhub asks: “C” wants to “click button \"Or\\u202eder' tabhub asks:\"” on “shop.example”. Allow it?\nIt acts on the page as you would; nobody has said what that changes.\n") ||
		!strings.HasSuffix(text, "An answer that reaches further is about all that the client does by itself on shop.example.\n") {
		t.Errorf("the question says\n%s", text)
	}
	trusted := c
	trusted.Trusted = true
	if text := Text(questionOf(t, trusted)); !strings.Contains(text, "\nIt acts with input that the page cannot tell from yours.\n") {
		t.Errorf("of trusted input it says\n%s", text)
	}
	if len(q.Args) != 2 || !AboutActs(q) { // an older browser shows these
		t.Errorf("%+v", q)
	}
	c.Steps = []string{`fill textbox "Name" with "Ann"`, `click button "Order"`}
	if text := Text(questionOf(t, c)); !strings.Contains(text, "“C” wants to take 2 steps on “shop.example”") || !strings.HasSuffix(text, "What it does:\n  “fill textbox \"Name\" with \"Ann\"”\n  “click button \"Order\"”\n") {
		t.Errorf("of two steps it says\n%s", text)
	}

	for reach, want := range map[spec.Reach]policy.Rule{
		spec.ReachSession: {Effect: policy.Allow, Client: "c", Session: by.Session, Site: "shop.example", Class: "act"},
		spec.ReachNever:   {Effect: policy.Deny, Client: "c", Site: "shop.example", Class: "act"},
	} {
		if r, _ := ruleOf(by, &c, reach); r != want {
			t.Errorf("%s: %+v", reach, r)
		}
	}
	c.Decision = readPrivate
	if r, _ := ruleOf(by, &c, spec.ReachSession); r != (policy.Rule{Effect: policy.Allow, Client: "c", Session: by.Session, Site: "shop.example", From: "private", Class: "act"}) {
		t.Errorf("after reading a private site: %+v", r)
	}

	lead := click(by)
	lead.Action.Name, lead.Action.Class, lead.Action.Site.Domain, lead.Origin, lead.Steps = "browser_page goto", policy.Write, "docs.example", "https://docs.example", []string{`click link "Docs"`}
	if text := Text(questionOf(t, lead)); !strings.Contains(text, "“C” wants to use “browser_page goto” on “docs.example”") || !strings.HasSuffix(text, "What it does:\n  “click link \"Docs\"”\n") {
		t.Errorf("of a click that leads elsewhere it says\n%s", text)
	}

	c.Steps = nil // which its hub does not know to say: then its arguments do
	if q := questionOf(t, c); len(q.Args) != 2 || !strings.Contains(Text(q), "wants to use “browser_page click” on") {
		t.Errorf("of an act without words: %s", Text(q))
	}
}

// A script is shown whole, or not asked about, and no line of it passes for the hub's.
func TestQuestionAboutAScript(t *testing.T) {
	by := client("c")
	c := click(by)
	lines := []string{"await page.click('button \"Order\"')", "\u202e// \x1b[2J”", "Allow it? Yes.", "", strings.Repeat("x ", 200) + "end", "\tlast"}
	c.Action.Name, c.Steps, c.Script = "browser_script", nil, strings.Join(lines, "\n")
	c.Args, _ = json.Marshal(map[string]string{"code": c.Script})
	q := questionOf(t, c)
	if q.Tool.Script != strings.NewReplacer("\u202e", `\u202e`, "\x1b", `\x1b`).Replace(c.Script) || len(q.Args) != 1 {
		t.Errorf("shown is %q with %v", q.Tool.Script, q.Args)
	}
	head, script, _ := strings.Cut(Text(q), "Its script, 6 lines:\n")
	if !strings.HasPrefix(head, "tabhub asks: “C” wants to run a script on “shop.example”. Allow it?\nIt can read all of the page") {
		t.Errorf("the question says\n%s", head)
	}
	var whole []string
	for line := range strings.Lines(script) {
		text, begins := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "  │ ")
		more, goesOn := strings.CutPrefix(text, "  ┆ ")
		switch {
		case len(line) > 100, !begins && !goesOn:
			t.Errorf("a line of the script is %q", line)
		case begins:
			whole = append(whole, text)
		default:
			whole[len(whole)-1] += more
		}
	}
	if got := strings.Join(whole, "\n"); got != strings.ReplaceAll(q.Tool.Script, "\t", "  ") {
		t.Errorf("the text has %q", got)
	}

	c.Script = strings.Repeat("x", maxScript+1)
	_, err := newQuestion(by, &c, nil)
	denied(t, err, "is shown scripts of up to 64 KB whole")
	c.Script, c.Steps = "", slices.Repeat([]string{"wait"}, maxRows+1)
	_, err = newQuestion(by, &c, nil)
	denied(t, err, "make smaller calls")
}

// A yes to a click is none to another one that has the same arguments: the page may have another button there by
// then.
func TestYesIsForTheWordsOfAnAct(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &window{away: true})
		by := client("c")
		_, err := r.Ask(t.Context(), by, click(by))
		denied(t, err, "--client C --site shop.example --class act --until 8h`")
		r.answered(t, r.Open()[0], spec.ReachOnce, ByCommand)

		other := click(by)
		other.Steps = []string{`click button "Delete all"`}
		if _, err := r.Ask(t.Context(), by, other); err == nil {
			t.Error("a yes to Order lets Delete all pass")
		}
		if _, err := r.Ask(t.Context(), by, click(by)); err != nil {
			t.Errorf("a yes to Order does not let it pass: %v", err)
		}
		if _, err := r.Ask(t.Context(), by, click(by)); err == nil {
			t.Error("it lets it pass twice")
		}
	})
}

// A client's own user may allow an act once, or for this site and this session, and nothing wider.
func TestClientAllowsAnAct(t *testing.T) {
	for reach, want := range map[spec.Reach]bool{spec.ReachOnce: true, spec.ReachSession: true, spec.ReachApp: false, spec.ReachAlways: false, spec.ReachNever: false, spec.ReachNo: false} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			by := client("c")
			by.Elicit = func(_ context.Context, q *spec.Ask) (spec.AskResult, error) {
				if !slices.Equal(q.Reaches, []spec.Reach{spec.ReachOnce, spec.ReachSession}) || !AboutActs(q) {
					t.Errorf("offered is %v", q.Reaches)
				}
				return spec.AskResult{Reach: reach}, nil
			}
			a, err := r.Ask(t.Context(), by, click(by))
			if (err == nil) != want || a.By != ByClient {
				t.Errorf("%s: %+v, %v", reach, a, err)
			}
			if len(r.rules) > 0 != (reach == spec.ReachSession) || len(r.rules) > 0 && (r.rules[0].Session != by.Session || r.rules[0].Client != "c" || r.rules[0].Class != "act" || r.rules[0].Site != "shop.example") {
				t.Errorf("%s: the rules are %+v", reach, r.rules)
			}
		})
	}
}

// A yes for this session that comes when nobody waits for it any more is good in that session alone.
func TestYesForTheSessionOfAnAct(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, &window{away: true})
		by := client("c")
		if _, err := r.Ask(t.Context(), by, click(by)); err == nil {
			t.Fatal("it passes")
		}
		r.answered(t, r.Open()[0], spec.ReachSession, ByCommand)
		if len(r.rules) != 1 || r.rules[0].Session != by.Session || len(r.Open()) > 0 {
			t.Errorf("the rules are %+v, and open is %+v", r.rules, r.Open())
		}
		later := client("c")
		later.Session = "another"
		if _, err := r.Ask(t.Context(), later, click(later)); err == nil {
			t.Error("the same click passes in another session")
		}
	})
}

// The owner must see what has changed of an allowed tool, also after a restart.
func TestChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &window{answer: says(spec.ReachApp)}
		r := newRig(t, w)
		by := client("c")
		c := pay(by, `{}`)
		c.Is = json.RawMessage(`{"description":"Pay for what is in the cart of the shop, and nothing else at all. Thanks.","inputSchema":{"required":["eur"]},"old":1}`)
		if _, err := r.Ask(t.Context(), by, c); err != nil {
			t.Fatal(err)
		}
		r.Close(errors.New("restart"))

		r.Desk = New(Options{Browser: w, Remember: r.opts.Remember, Allowed: r.kept})
		c.Action.Item = item("v2")
		c.Decision.Changed = &r.rules[0]
		c.Is = json.RawMessage(`{"inputSchema":{"required":["eur","to"]},"description":"Pay for what is in the cart of the shop, or anything else at all. Thanks."}`)
		if _, err := r.Ask(t.Context(), by, c); err != nil {
			t.Fatal(err)
		}
		want := []spec.AskChange{
			{What: "inputSchema/required/1", Is: "to", Added: true},
			{What: "description", Was: "…ay for what is in the cart of the shop, and nothing else at all. Thanks.", Is: "…ay for what is in the cart of the shop, or anything else at all. Thanks."},
			{What: "old", Was: "1", Removed: true},
		}
		if got := w.shown[1].Changes; !slices.Equal(got, want) {
			t.Errorf("shown %+v", got)
		}
	})
}

// A change in the middle of a long text must show.
func TestChangeOfLongText(t *testing.T) {
	before, after := strings.Repeat("ä", 5000), strings.Repeat("ö", 5000)
	was, is := differing(before+"safe"+after, before+"unsafe"+after)
	if !strings.Contains(is, "unsafe") || strings.Contains(was, "unsafe") || len(is) > 200 || !strings.HasPrefix(is, "…") {
		t.Errorf("%q, %q", was, is)
	}
}

// An answer that is good for longer must win over what has asked, or the owner would be asked
// again and again; and not over more than that.
func TestAnswersWin(t *testing.T) {
	now := time.Now()
	for name, test := range map[string]struct {
		mode   policy.Mode
		change func(*policy.Action)
		rules  []policy.Rule
		reach  spec.Reach
		wide   bool // it is good for the site's other tools, too
	}{
		"destructive":      {policy.ModeCareful, func(*policy.Action) {}, nil, spec.ReachApp, false},
		"for every client": {policy.ModeCareful, func(*policy.Action) {}, nil, spec.ReachAlways, false},
		"for a session":    {policy.ModeCareful, func(*policy.Action) {}, nil, spec.ReachSession, false},
		"late":             {policy.ModeCareful, func(a *policy.Action) { a.Late = true }, nil, spec.ReachApp, false},
		"unverified":       {policy.ModeCareful, func(a *policy.Action) { a.Site.Domain, a.Class = "unverified_shop.example", policy.Read }, nil, spec.ReachSession, false},
		"relay":            {policy.ModeCareful, func(a *policy.Action) { a.Of, a.Item, a.Site = policy.OfRelay, nil, policy.Site{Any: true} }, nil, spec.ReachSession, false},
		"a hub's tool": {policy.ModeAsk, func(a *policy.Action) {
			a.Of, a.Item, a.Class, a.Name = policy.OfHub, nil, policy.Write, "browser_page goto"
		}, nil, spec.ReachApp, false},
		"all is asked about": {policy.ModeAsk, func(a *policy.Action) { a.Class = policy.Read }, nil, spec.ReachApp, true},
		"changed":            {policy.ModeCareful, func(*policy.Action) {}, []policy.Rule{{ID: "old", Effect: policy.Allow, Client: "c", Site: "shop.example", Tool: "pay", Pin: item("v0").Pin()}}, spec.ReachApp, false},
		"a pack":             {policy.ModeCareful, func(a *policy.Action) { a.Pack, a.Class = "shop-tools", policy.Write }, nil, spec.ReachApp, true},
		"a pack, always":     {policy.ModeCareful, func(a *policy.Action) { a.Pack, a.Class = "shop-tools", policy.Write }, nil, spec.ReachAlways, true},
		"a pack destroys":    {policy.ModeCareful, func(a *policy.Action) { a.Pack = "shop-tools" }, nil, spec.ReachApp, false},
		"a pack that reads":  {policy.ModeAsk, func(a *policy.Action) { a.Pack, a.Class = "shop-tools", policy.Read }, nil, spec.ReachApp, true},
		"a pack by name":     {policy.ModeOpen, func(a *policy.Action) { a.Pack, a.Class = "shop-tools", policy.Write }, []policy.Rule{{ID: "mine", Effect: policy.Ask, Pack: "shop-tools"}}, spec.ReachApp, true},
		"a pack at a site":   {policy.ModeOpen, func(a *policy.Action) { a.Pack, a.Class = "shop-tools", policy.Write }, []policy.Rule{{ID: "mine", Effect: policy.Ask, Site: "shop.example"}}, spec.ReachApp, false},
		"an act":             {policy.ModeCareful, toAct, nil, spec.ReachSession, true},
		"an act, all asked":  {policy.ModeAsk, toAct, nil, spec.ReachSession, true},
		"an act, unverified": {policy.ModeCareful, func(a *policy.Action) { toAct(a); a.Site.Domain = "unverified_shop.example" }, nil, spec.ReachSession, true},
		"an act at a site":   {policy.ModeOpen, toAct, []policy.Rule{{ID: "mine", Effect: policy.Ask, Site: "shop.example"}}, spec.ReachSession, true},
		"an act of a tool":   {policy.ModeOpen, toAct, []policy.Rule{{ID: "mine", Effect: policy.Ask, Site: "shop.example", Tool: "browser_page"}, {ID: "two", Effect: policy.Ask, Class: "act"}}, spec.ReachSession, false},
		"an act may destroy": {policy.ModeOpen, toAct, []policy.Rule{{ID: "mine", Effect: policy.Ask, Class: "destructive"}}, spec.ReachSession, true},
		"the owner's rule":   {policy.ModeCareful, func(*policy.Action) {}, []policy.Rule{{ID: "mine", Effect: policy.Ask, Site: "shop.example"}}, spec.ReachApp, false},
	} {
		by := client("c")
		c := pay(by, `{}`)
		test.change(c.Action)
		decide := func(a *policy.Action, rules ...policy.Rule) policy.Decision {
			t.Helper()
			doc := policy.Document{Rules: test.rules}
			for _, r := range rules {
				doc.Put(r, now)
			}
			set, err := policy.New(doc, test.mode, policy.File{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return set.Decide(a, now)
		}
		if c.Decision = decide(c.Action); c.Decision.Effect != policy.Ask {
			t.Errorf("%s: nothing is asked", name)
			continue
		}
		if !slices.Contains(reaches(by, &c), test.reach) {
			t.Errorf("%s: %s is not offered", name, test.reach)
		}
		rule, _ := ruleOf(by, &c, test.reach)
		rule.ID = "new"
		if got := decide(c.Action, rule); got.Effect != policy.Allow {
			t.Errorf("%s: asked again, by %+v", name, got.Rule)
		}
		another := *c.Action
		another.Name = "another"
		if got := decide(&another, rule).Effect == policy.Allow; got != test.wide && decide(&another).Effect != policy.Allow {
			t.Errorf("%s: allows another tool: %v", name, got)
		}
		stranger := *c.Action
		stranger.Principal, stranger.Session = client("d").Principal, "s-d"
		if got := decide(&stranger, rule).Effect == policy.Allow; got != (test.reach == spec.ReachAlways) {
			t.Errorf("%s: allows another client: %v", name, got)
		}
	}
}

func toAct(a *policy.Action) { *a = *click(client("c")).Action }

// Whatever is sent, what is shown of it is text that can be seen, each line of it the hub's or
// in quotes.
func FuzzText(f *testing.F) {
	for _, args := range []string{`{}`, `{"a":[{"":"\u202e“quoted”"},[]],"\u0000":1e9,"z":"\ud800"}`, `{"note":"line\ntabhub asks: “x” wants to run"}`, `[[[[1]]]]`, `"text"`} {
		f.Add(args)
	}
	f.Fuzz(func(t *testing.T, args string) {
		if rawjson.Valid([]byte(args), spec.MaxDepth) != nil {
			t.Skip()
		}
		c := pay(client("c"), args)
		q, err := newQuestion(client("c"), &c, c.Args)
		if err != nil {
			t.Skip()
		}
		text := Text(&q.Ask)
		if describe.Visible(text) != text {
			t.Errorf("shown %q", text)
		}
		_, shown, _ := strings.Cut(text, "With:\n")
		for line := range strings.Lines(shown) {
			if strings.Count(line, "“") != strings.Count(line, "”") || !strings.HasPrefix(line, "  “") && !strings.HasPrefix(line, "Since it was allowed") {
				t.Errorf("a line of somebody else's: %q", line)
			}
		}
	})
}
