package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	. "tabhub/hub/trust/policy"
	"tabhub/spec"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// definition is something a page offers, with that pin.
type definition Pin

func (d definition) Pin() Pin { return Pin(d) }

var (
	claude = &Principal{ID: "c1", Name: "claude"}
	cursor = &Principal{ID: "c2", Name: "cursor"}
)

// buy is an action of claude at a shop, changed by f.
func buy(f ...func(*Action)) *Action {
	a := &Action{Principal: claude, Session: "s1", Site: Site{Domain: "shop.example.com"}, Kind: spec.KindTool, Name: "buy", Class: Destructive, Item: definition{1}}
	for _, f := range f {
		f(a)
	}
	return a
}

func class(c Class) func(*Action)      { return func(a *Action) { a.Class = c } }
func site(d spec.Domain) func(*Action) { return func(a *Action) { a.Site.Domain = d } }
func by(p *Principal) func(*Action)    { return func(a *Action) { a.Principal = p } }
func changed(a *Action)                { a.Item = definition{2} }
func pack(name string) func(*Action)   { return func(a *Action) { a.Pack = name } }
func late(a *Action)                   { a.Late = true }
func from(d ...spec.Domain) func(*Action) {
	return func(a *Action) {
		a.Read = append(a.Read, d...)
	}
}
func ofHub(name string, c Class) func(*Action) {
	return func(a *Action) { a.Of, a.Name, a.Class, a.Item, a.Kind = OfHub, name, c, nil, "" }
}

// act is what claude does by itself on a page of the shop.
func act(f ...func(*Action)) *Action {
	return buy(slices.Concat([]func(*Action){ofHub("browser_page click", Act)}, f)...)
}

func ofRelay(a *Action) {
	a.Of, a.Name, a.Class, a.Item, a.Kind = OfRelay, "Runtime.evaluate", Write, nil, ""
	a.Site = Site{Any: true}
}

// set makes a Set of rules such as "deny client=claude site=*.example.com".
func set(t testing.TB, mode Mode, rules ...string) *Set {
	t.Helper()
	return setOf(t, mode, Document{Rules: parse(t, rules)}, nil)
}

func setOf(t testing.TB, mode Mode, doc Document, file []Rule) *Set {
	t.Helper()
	s, err := New(doc, mode, File{Rules: file})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func parse(t testing.TB, rules []string) []Rule {
	t.Helper()
	var out []Rule
	for i, text := range rules {
		effect, rest, _ := strings.Cut(text, " ")
		r := Rule{ID: fmt.Sprint("r", i)}
		if err := r.Effect.UnmarshalText([]byte(effect)); err != nil {
			t.Fatal(err)
		}
		for _, f := range strings.Split(rest, ",") {
			key, value, _ := strings.Cut(f, "=")
			switch key {
			case "":
			case "client":
				r.Client = value
			case "session":
				r.Session = value
			case "site":
				r.Site = value
			case "tool":
				r.Tool = value
			case "class":
				r.Class = value
			case "pack":
				r.Pack = value
			case "from":
				r.From = value
			case "pin":
				r.Pin = Pin{1}
			case "late":
				r.Late = true
			case "ended":
				r.Until = now
			case "until":
				r.Until = now.Add(1)
			default:
				t.Fatalf("rule %q: what is %q?", text, key)
			}
		}
		out = append(out, r)
	}
	return out
}

// What the owner has said holds where it was said, and nowhere else.
func TestDecide(t *testing.T) {
	for _, test := range []struct {
		name   string
		mode   Mode
		rules  []string
		action *Action
		want   Effect
		layer  Layer
	}{
		{"careful lets reading through", ModeCareful, nil, buy(class(Read)), Allow, ByPreset},
		{"careful lets writing through", ModeCareful, nil, buy(class(Write)), Allow, ByPreset},
		{"careful asks before harm", ModeCareful, nil, buy(), Ask, ByPreset},
		{"what is not classed may do harm", ModeCareful, nil, buy(class(ClassUnset)), Ask, ByPreset},
		{"careful asks on unverified sites", ModeCareful, nil, buy(class(Read), site("unverified_shop.example.com")), Ask, ByPreset},
		{"careful asks before a relay's request", ModeCareful, nil, buy(ofRelay), Ask, ByPreset},
		{"careful lets tabs be listed", ModeCareful, nil, buy(ofHub("browser_tab list", Read), site("")), Allow, ByPreset},
		{"ask asks for everything", ModeAsk, nil, buy(class(Read)), Ask, ByPreset},
		{"ask has what it was told", ModeAsk, []string{"allow client=claude,site=shop.example.com"}, buy(class(Write)), Allow, ByRule},
		{"ask still asks before harm", ModeAsk, []string{"allow client=claude,site=shop.example.com"}, buy(), Ask, ByPreset},
		{"open lets everything through", ModeOpen, nil, buy(), Allow, ByPreset},
		{"open keeps to rules", ModeOpen, []string{"deny class=destructive"}, buy(), Deny, ByRule},
		{"read-only reads", ModeReadOnly, nil, buy(class(Read)), Allow, ByPreset},
		{"no rule lifts read-only", ModeReadOnly, []string{"allow client=claude,site=shop.example.com,tool=buy"}, buy(class(Write)), Deny, ByMode},

		{"a client that is trusted is asked about harm", ModeCareful, []string{"allow client=claude"}, buy(), Ask, ByPreset},
		{"a client that is trusted is asked about unverified sites", ModeCareful, []string{"allow client=claude"}, buy(class(Read), site("unverified_shop.example.com")), Ask, ByPreset},
		{"harm can be allowed by name", ModeCareful, []string{"allow client=claude,class=destructive"}, buy(), Allow, ByRule},
		{"a client by its id", ModeCareful, []string{"deny client=c1"}, buy(class(Read)), Deny, ByRule},
		{"another client", ModeCareful, []string{"deny client=cursor"}, buy(class(Read)), Allow, ByPreset},
		{"nobody is the owner by name", ModeCareful, []string{"allow client=owner,class=destructive"}, buy(by(&Principal{ID: "c3", Name: "owner"})), Ask, ByPreset},
		{"the most specific wins", ModeCareful, []string{"deny site=*.example.com", "allow site=shop.example.com"}, buy(class(Read)), Allow, ByRule},
		{"the longer of two wildcards", ModeOpen, []string{"allow site=*.example.com", "deny site=*.shop.example.com"}, buy(), Deny, ByRule},
		{"the domain of a wildcard", ModeOpen, []string{"deny site=*.shop.example.com"}, buy(), Deny, ByRule},
		{"another domain that ends so", ModeOpen, []string{"deny site=*.example.com"}, buy(site("badexample.com")), Allow, ByPreset},
		{"http is another site", ModeOpen, []string{"deny site=*.example.com"}, buy(site("http_shop.example.com")), Allow, ByPreset},
		{"http can be named", ModeOpen, []string{"deny site=http_*.example.com"}, buy(site("http_shop.example.com")), Deny, ByRule},
		{"a port is another site", ModeOpen, []string{"deny site=*.example.com"}, buy(site("shop.example.com:8443")), Allow, ByPreset},
		{"a dot behind a site leads to the same one", ModeOpen, []string{"deny site=shop.example.com"}, buy(site("shop.example.com.")), Deny, ByRule},
		{"below which others are", ModeOpen, []string{"deny site=*.example.com:8443"}, buy(site("shop.example.com.:8443")), Deny, ByRule},
		{"a claimed site is not the real one", ModeCareful, []string{"allow site=shop.example.com,class=destructive"}, buy(site("unverified_shop.example.com")), Ask, ByPreset},
		{"of rules that say different things the stricter", ModeOpen, []string{"allow client=claude", "deny site=shop.example.com"}, buy(), Deny, ByRule},
		{"but what is said of one tool there", ModeOpen, []string{"deny site=shop.example.com", "allow client=claude,site=shop.example.com,tool=buy"}, buy(), Allow, ByRule},
		{"a pattern of tools", ModeOpen, []string{"deny tool=b*y"}, buy(), Deny, ByRule},
		{"a tool beats its pattern", ModeOpen, []string{"deny tool=b*", "allow tool=buy"}, buy(), Allow, ByRule},
		{"the other sessions of a client", ModeCareful, []string{"allow client=claude,session=s2,tool=buy"}, buy(), Ask, ByPreset},
		{"a session", ModeCareful, []string{"deny client=claude,tool=buy", "allow client=claude,session=s1,tool=buy"}, buy(), Allow, ByRule},
		{"a rule that has ended", ModeOpen, []string{"deny ended,tool=buy"}, buy(), Allow, ByPreset},
		{"a rule that has not", ModeOpen, []string{"deny until,tool=buy"}, buy(), Deny, ByRule},
		{"late harm is not what was allowed", ModeCareful, []string{"allow client=claude,class=destructive"}, buy(late), Ask, ByPreset},
		{"but what was allowed by name", ModeCareful, []string{"allow client=claude,tool=buy"}, buy(late), Allow, ByRule},

		{"a definition", ModeCareful, []string{"allow client=claude,tool=buy,pin"}, buy(), Allow, ByRule},
		{"a definition that has changed", ModeCareful, []string{"allow client=claude,tool=buy,pin"}, buy(changed), Ask, ByPreset},
		{"that of a tool that only reads, too", ModeCareful, []string{"allow client=claude,tool=buy,pin"}, buy(changed, class(Read)), Ask, ByRule},
		{"open does not mind", ModeOpen, []string{"allow client=claude,tool=buy,pin"}, buy(changed, class(Read)), Allow, ByPreset},
		{"a change allows nothing", ModeCareful, []string{"allow client=claude,tool=buy,pin", "deny site=shop.example.com"}, buy(changed), Deny, ByRule},
		{"whatever its definition", ModeCareful, []string{"allow client=claude,tool=buy,pin", "allow client=claude,tool=buy"}, buy(changed), Allow, ByRule},

		{"careful lets a pack read", ModeCareful, nil, buy(pack("shop-tools"), class(Read)), Allow, ByPreset},
		{"careful asks before a pack changes something", ModeCareful, nil, buy(pack("shop-tools"), class(Write)), Ask, ByPreset},
		{"ask asks before a pack reads", ModeAsk, nil, buy(pack("shop-tools"), class(Read)), Ask, ByPreset},
		{"open lets a pack do everything", ModeOpen, nil, buy(pack("shop-tools")), Allow, ByPreset},
		{"read-only lets a pack read", ModeReadOnly, nil, buy(pack("shop-tools"), class(Read)), Allow, ByPreset},
		{"a rule from before the pack lets it read", ModeAsk, []string{"allow client=claude,site=shop.example.com"}, buy(pack("shop-tools"), class(Read)), Allow, ByRule},
		{"but not act", ModeCareful, []string{"allow site=shop.example.com"}, buy(pack("shop-tools"), class(Write)), Ask, ByPreset},
		{"also not by name", ModeCareful, []string{"allow client=claude,session=s1,site=shop.example.com,tool=buy,class=destructive"}, buy(pack("shop-tools")), Ask, ByPreset},
		{"a rule from before the pack stops it", ModeOpen, []string{"deny tool=buy"}, buy(pack("shop-tools"), class(Read)), Deny, ByRule},
		{"and asks about it", ModeOpen, []string{"ask site=shop.example.com"}, buy(pack("shop-tools"), class(Read)), Ask, ByRule},
		{"a pack at a site", ModeCareful, []string{"allow client=claude,site=shop.example.com,pack=shop-tools,class=write"}, buy(pack("shop-tools"), class(Write)), Allow, ByRule},
		{"a yes for the cart is none for deleting", ModeCareful, []string{"allow client=claude,site=shop.example.com,pack=shop-tools,class=write"}, buy(pack("shop-tools")), Ask, ByPreset},
		{"what a pack may do another may not", ModeCareful, []string{"allow client=claude,site=shop.example.com,pack=shop-tools,class=write"}, buy(pack("notes"), class(Write)), Ask, ByPreset},
		{"nor the site's own tools", ModeAsk, []string{"allow client=claude,site=shop.example.com,pack=shop-tools,class=write"}, buy(class(Write)), Ask, ByPreset},
		{"all packs, but the mode says as much", ModeCareful, []string{"allow pack=*,class=write"}, buy(pack("shop-tools"), class(Write)), Ask, ByPreset},
		{"all packs, of a client", ModeCareful, []string{"allow client=claude,pack=*,class=write"}, buy(pack("shop-tools"), class(Write)), Allow, ByRule},
		{"but one", ModeCareful, []string{"allow client=claude,pack=*,class=write", "deny pack=notes"}, buy(pack("notes"), class(Write)), Deny, ByRule},
		{"all packs, and not the site's own tools", ModeOpen, []string{"deny pack=*"}, buy(), Allow, ByPreset},
		{"a pack is no more than a site", ModeCareful, []string{"allow pack=shop-tools,class=write", "deny site=shop.example.com"}, buy(pack("shop-tools"), class(Write)), Deny, ByRule},

		{"any site: a site that is denied", ModeOpen, []string{"deny site=bank.example.com"}, buy(ofRelay), Deny, ByRule},
		{"any site: a site that is allowed", ModeCareful, []string{"allow site=bank.example.com,class=relay"}, buy(ofRelay), Ask, ByPreset},
		{"any site: the relay can be allowed", ModeCareful, []string{"allow client=claude,class=relay"}, buy(ofRelay), Allow, ByRule},
		{"a tool of the hub", ModeOpen, []string{"deny tool=browser_page"}, buy(ofHub("browser_page goto", Write)), Deny, ByRule},
		{"an action of it", ModeOpen, []string{"deny tool=browser_page,class=hub", "allow tool=browser_page goto,class=hub"}, buy(ofHub("browser_page goto", Write)), Allow, ByRule},
		{"a page's tool of its name", ModeCareful, []string{"allow tool=browser_page goto,class=hub"}, buy(func(a *Action) { a.Name = "browser_page goto" }), Ask, ByPreset},
		{"the hub's tools by a page's name", ModeAsk, []string{"allow tool=browser_page goto"}, buy(ofHub("browser_page goto", Write)), Ask, ByPreset},

		{"careful asks before an act", ModeCareful, nil, act(), Ask, ByPreset},
		{"ask, too", ModeAsk, nil, act(), Ask, ByPreset},
		{"open does not", ModeOpen, nil, act(), Allow, ByPreset},
		{"read-only denies it", ModeReadOnly, []string{"allow class=act"}, act(), Deny, ByMode},
		{"the answer of a session", ModeCareful, []string{"allow client=c1,session=s1,site=shop.example.com,class=act"}, act(), Allow, ByRule},
		{"and what else it does there", ModeCareful, []string{"allow client=c1,session=s1,site=shop.example.com,class=act"}, act(func(a *Action) { a.Name = "browser_script" }), Allow, ByRule},
		{"another session", ModeCareful, []string{"allow client=c1,session=s2,site=shop.example.com,class=act"}, act(), Ask, ByPreset},
		{"no session", ModeCareful, []string{"allow client=c1,session=s1,site=shop.example.com,class=act"}, act(func(a *Action) { a.Session = "" }), Ask, ByPreset},
		{"a client with its session", ModeCareful, []string{"allow client=c1,session=s1,site=shop.example.com,class=act"}, act(by(cursor)), Ask, ByPreset},
		{"a client with its id as a name", ModeCareful, []string{"allow client=token,session=s1,site=shop.example.com,class=act"}, act(by(&Principal{ID: "c3", Name: "token"})), Ask, ByPreset},
		{"below its site", ModeCareful, []string{"allow client=c1,session=s1,site=shop.example.com,class=act"}, act(site("a.shop.example.com")), Ask, ByPreset},
		{"above its site", ModeCareful, []string{"allow client=c1,session=s1,site=shop.example.com,class=act"}, act(site("example.com")), Ask, ByPreset},
		{"at another port", ModeCareful, []string{"allow client=c1,session=s1,site=shop.example.com,class=act"}, act(site("shop.example.com:8443")), Ask, ByPreset},
		{"without https", ModeCareful, []string{"allow client=c1,session=s1,site=shop.example.com,class=act"}, act(site("http_shop.example.com")), Ask, ByPreset},
		{"where a page claims to be it", ModeCareful, []string{"allow client=c1,session=s1,site=shop.example.com,class=act"}, act(site("unverified_shop.example.com")), Ask, ByPreset},
		{"it allows no tool", ModeAsk, []string{"allow client=c1,session=s1,site=shop.example.com,class=act"}, buy(), Ask, ByPreset},
		{"nor that the page goes elsewhere", ModeAsk, []string{"allow client=c1,session=s1,site=shop.example.com,class=act"}, buy(ofHub("browser_page goto", Write)), Ask, ByPreset},
		{"acts may be allowed for good", ModeCareful, []string{"allow client=claude,site=*.example.com,class=act"}, act(), Allow, ByRule},
		{"or one of them", ModeCareful, []string{"allow client=claude,tool=browser_page click,class=act"}, act(), Allow, ByRule},
		{"and no other", ModeCareful, []string{"allow client=claude,tool=browser_page click,class=act"}, act(func(a *Action) { a.Name = "browser_page fill" }), Ask, ByPreset},
		{"a page that calls a tool so", ModeAsk, []string{"allow client=claude,tool=browser_page click,class=act"}, buy(class(Act), func(a *Action) { a.Name = "browser_page click" }), Ask, ByPreset},
		{"an act is the hub's", ModeCareful, nil, buy(class(Act)), Ask, ByPreset},
		{"what allows the hub's tools allows no act", ModeCareful, []string{"allow client=claude,class=hub"}, act(), Ask, ByPreset},
		{"nor what allows the tool", ModeCareful, []string{"allow client=claude,session=s1,site=shop.example.com,tool=browser_page,class=hub"}, act(), Ask, ByPreset},
		{"nor its action", ModeAsk, []string{"allow client=claude,site=shop.example.com,tool=browser_page click,class=hub"}, act(), Ask, ByPreset},
		{"nor what allows the client", ModeCareful, []string{"allow client=claude"}, act(), Ask, ByPreset},
		{"nor the site", ModeCareful, []string{"allow client=claude,session=s1,site=shop.example.com"}, act(), Ask, ByPreset},
		{"nor what writes there", ModeCareful, []string{"allow client=claude,site=shop.example.com,class=write"}, act(), Ask, ByPreset},
		{"nor what destroys there", ModeCareful, []string{"allow client=claude,site=shop.example.com,class=destructive"}, act(), Ask, ByPreset},
		{"nor a pattern", ModeCareful, []string{"allow client=claude,site=shop.example.com,tool=browser*", "allow site=shop.example.com,tool=*click,class=hub"}, act(), Ask, ByPreset},
		{"what denies the hub's tools denies acts", ModeOpen, []string{"deny class=hub"}, act(), Deny, ByRule},
		{"and what denies the tool", ModeOpen, []string{"deny tool=browser_page"}, act(), Deny, ByRule},
		{"and the site", ModeOpen, []string{"deny site=*.example.com"}, act(), Deny, ByRule},
		{"and what writes", ModeOpen, []string{"deny class=write"}, act(), Deny, ByRule},
		{"and what destroys", ModeOpen, []string{"ask class=destructive"}, act(), Ask, ByRule},
		{"but not what reads", ModeOpen, []string{"deny class=read"}, act(), Allow, ByPreset},
		{"unless more is said of acts", ModeOpen, []string{"deny class=destructive", "allow client=claude,class=act"}, act(), Allow, ByRule},
		{"of which a denied site is no part", ModeCareful, []string{"deny site=shop.example.com", "allow client=claude,class=act"}, act(), Deny, ByRule},
		{"nor a client that is denied a site", ModeCareful, []string{"deny client=claude,site=shop.example.com", "allow client=claude,class=act"}, act(), Deny, ByRule},
		{"acts can be denied", ModeOpen, []string{"deny class=act"}, act(), Deny, ByRule},
		{"and only they", ModeOpen, []string{"deny class=act"}, buy(), Allow, ByPreset},
		{"a flow to an act", ModeOpen, []string{"ask from=mail.example.com"}, act(from("mail.example.com")), Ask, ByFlow},
		{"a flow that is allowed, and not to an act", ModeOpen, []string{"ask from=verified", "allow from=mail.example.com,site=shop.example.com"}, act(from("mail.example.com")), Ask, ByFlow},
		{"a flow that is allowed to an act", ModeOpen, []string{"ask from=verified", "allow from=mail.example.com,site=shop.example.com,class=act"}, act(from("mail.example.com")), Allow, ByPreset},

		{"what is no private site's goes where it likes", ModeCareful, nil, buy(class(Read), from("mail.example.com")), Allow, ByPreset},
		{"a flow that is denied", ModeOpen, []string{"deny from=mail.example.com"}, buy(from("a.example.com", "mail.example.com")), Deny, ByFlow},
		{"a flow that is allowed, and not to a pack", ModeOpen, []string{"ask from=verified", "allow from=mail.example.com,site=shop.example.com"}, buy(from("mail.example.com"), pack("shop-tools")), Ask, ByFlow},
		{"a flow that is allowed to a pack", ModeOpen, []string{"ask from=verified", "allow from=mail.example.com,site=shop.example.com,pack=shop-tools"}, buy(from("mail.example.com"), pack("shop-tools")), Allow, ByPreset},
		{"a flow that is allowed allows nothing", ModeCareful, []string{"allow from=mail.example.com"}, buy(from("mail.example.com")), Ask, ByPreset},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := set(t, test.mode, test.rules...).Decide(test.action, now)
			if d.Effect != test.want || d.Layer != test.layer {
				t.Errorf("got %s by %s, want %s by %s; %s", d.Effect, d.Layer, test.want, test.layer, d.Words(test.action))
			}
		})
	}
}

// An action that no rule is about is denied.
func TestNothingIsDenied(t *testing.T) {
	open := set(t, ModeOpen)
	for name, d := range map[string]Decision{
		"no set":     (*Set)(nil).Decide(buy(), now),
		"no action":  open.Decide(&Action{}, now),
		"no client":  open.Decide(buy(by(nil)), now),
		"no id":      open.Decide(buy(by(&Principal{Name: "claude"})), now),
		"no site":    open.Decide(buy(site("")), now),
		"no set ...": (*Set)(nil).Decide(&Action{}, now),
	} {
		if d.Effect != Deny {
			t.Errorf("%s: %s", name, d.Effect)
		}
	}
	if (*Set)(nil).Shows(buy(), now) || open.Shows(&Action{}, now) || set(t, ModeOpen, "deny tool=buy").Shows(buy(), now) {
		t.Error("what is denied is shown")
	}
	if (Decision{}).Effect == Allow || (Rule{}).Effect == Allow {
		t.Error("the zero value allows")
	}
}

func TestPauses(t *testing.T) {
	for _, test := range []struct {
		pause  Pause
		action *Action
		paused bool
	}{
		{Pause{}, buy(class(Read)), true},
		{Pause{Client: "claude"}, buy(), true},
		{Pause{Client: "cursor"}, buy(), false},
		{Pause{Site: "*.example.com"}, buy(), true},
		{Pause{Site: "bank.example.com"}, buy(), false},
		{Pause{Site: "shop.example.com"}, act(), true},
		{Pause{Client: "claude"}, act(), true},
		{Pause{Site: "bank.example.com"}, buy(ofRelay), true},
		{Pause{Client: "cursor", Site: "bank.example.com"}, buy(ofRelay), false},
	} {
		s := setOf(t, ModeOpen, Document{Pauses: []Pause{test.pause}}, parse(t, []string{"allow client=claude"}))
		if d := s.Decide(test.action, now); d.Paused != test.paused || (d.Effect == Deny) != test.paused {
			t.Errorf("%+v: %+v", test.pause, d)
		}
		if !s.Shows(test.action, now) {
			t.Errorf("%+v: what is only paused leaves the lists", test.pause)
		}
	}
}

func TestScope(t *testing.T) {
	for _, test := range []struct {
		scope  Scope
		action *Action
		want   Effect
	}{
		{Scope{}, buy(), Allow},
		{Scope{Sites: []string{"*.example.com"}}, buy(), Allow},
		{Scope{Sites: []string{"bank.example.com"}}, buy(), Deny},
		{Scope{Sites: []string{"*.example.com"}}, buy(ofRelay), Deny},
		{Scope{Sites: []string{"*.example.com"}}, buy(ofHub("browser_tab list", Read), site("")), Deny},
		{Scope{Tools: []string{"search", "b*"}}, buy(), Allow},
		{Scope{Tools: []string{"search"}}, buy(), Deny},
		{Scope{Tools: []string{"browser_page"}}, buy(ofHub("browser_page text", Read)), Allow},
		{Scope{Classes: []Class{Write}}, buy(class(Read)), Allow},
		{Scope{Classes: []Class{Write}}, buy(class(Write)), Allow},
		{Scope{Classes: []Class{Write}}, buy(class(ClassUnset)), Deny},
		{Scope{Classes: []Class{Write}}, act(), Deny},
		{Scope{Classes: []Class{Act}}, act(), Allow},
		{Scope{Classes: []Class{Act}}, buy(class(Write)), Allow},
		{Scope{Classes: []Class{Act}}, buy(), Deny},
		{Scope{Classes: []Class{Destructive}}, act(), Allow},
	} {
		if err := test.scope.Check(); err != nil {
			t.Error(err)
		}
		a := buy(by(&Principal{ID: "c3", Scope: &test.scope}))
		a.Of, a.Name, a.Class, a.Site = test.action.Of, test.action.Name, test.action.Class, test.action.Site
		d := set(t, ModeOpen, "allow client=c3").Decide(a, now)
		if d.Effect != test.want {
			t.Errorf("%+v, %s of %v: %s", test.scope, a.Name, a.Site, d.Words(a))
		}
	}
}

// A client that has read a private site does nothing elsewhere unasked, and an answer allows nothing
// that a rule denies.
func TestPrivateSites(t *testing.T) {
	for _, test := range []struct {
		rules  []string
		action *Action
		want   Effect
	}{
		{nil, buy(), Allow},
		{nil, buy(from("mail.example.org")), Ask},
		{nil, buy(from("example.com")), Allow},
		{nil, buy(from("mail.example.org"), ofRelay), Ask},
		{[]string{"deny tool=buy"}, buy(from("mail.example.org")), Deny},
		{[]string{"allow from=mail.example.org,site=shop.example.com"}, buy(from("mail.example.org")), Allow},
		{[]string{"allow from=private"}, buy(from("mail.example.org")), Ask},
		{[]string{"allow from=private,site=shop.example.com"}, buy(from("mail.example.org")), Allow},
		{[]string{"allow from=mail.example.org,site=shop.example.com"}, buy(from("mail.example.org", "wiki.example.org")), Ask},
		{[]string{"allow from=mail.example.org,site=shop.example.com"}, buy(from("mail.example.org"), ofRelay), Ask},
		{[]string{"deny from=mail.example.org,site=verified"}, buy(from("mail.example.org")), Deny},
		{nil, buy(from("mail.example.org"), site("mail.example.org")), Allow}, // its own
		{nil, buy(from("mail.example.org"), class(Read)), Allow},
		{[]string{"ask from=private,class=read"}, buy(from("mail.example.org"), class(Read)), Ask},
		{[]string{"allow from=private,class=read"}, buy(from("mail.example.org")), Ask},
		{nil, act(from("mail.example.org")), Ask},
		{nil, act(from("mail.example.org"), site("mail.example.org")), Allow},
		{[]string{"allow client=c1,session=s1,site=shop.example.com,class=act"}, act(from("mail.example.org")), Ask}, // a session's answer is about no flow
		{[]string{"allow from=private,site=shop.example.com"}, act(from("mail.example.org")), Ask},
		{[]string{"allow from=private,site=shop.example.com,class=act"}, act(from("mail.example.org")), Allow},
		{[]string{"allow from=private,site=shop.example.com,class=act"}, buy(from("mail.example.org")), Ask},
		{nil, buy(from("mail.example.org"), ofHub("browser_page goto", Write)), Ask},
		{nil, buy(from("mail.example.org"), ofHub("browser_tab close", Write), func(a *Action) { a.Dataless = true }), Allow},
		{nil, buy(from("mail.example.org"), ofHub("browser_tab new", Write), site("")), Allow}, // an empty one
	} {
		doc := Document{Rules: parse(t, test.rules), Private: []string{"*.example.org"}}
		if d := setOf(t, ModeOpen, doc, nil).Decide(test.action, now); d.Effect != test.want {
			t.Errorf("%v, from %v: %s", test.rules, test.action.Read, d.Effect)
		}
	}
}

// The hub notes what a client reads only if rules about flows may need it.
func TestTraces(t *testing.T) {
	for _, test := range []struct {
		s    *Set
		want bool
	}{
		{set(t, ModeCareful, "deny site=shop.example.com"), false},
		{set(t, ModeCareful, "deny from=mail.example.com"), true},
		{setOf(t, ModeOpen, Document{Private: []string{"mail.example.com"}}, nil), true},
		{setOf(t, ModeOpen, Document{}, parse(t, []string{"ask from=mail.example.com"})), true},
	} {
		if got := test.s.Traces(Owner); got != test.want {
			t.Errorf("%v: %v", test.s, got)
		}
	}
	s := setOf(t, ModeOpen, Document{Private: []string{"*.example.org"}}, parse(t, []string{"ask from=mail.example.com"}))
	for site, want := range map[spec.Domain]bool{"a.example.org": true, "mail.example.com": true, "shop.example.com": false} {
		if s.Watches(site) != want {
			t.Errorf("%q is watched: %v", site, !want)
		}
	}
	s = setOf(t, "", Document{Private: []string{"*.example.org", "mail.example.com"}}, nil)
	for site, want := range map[spec.Domain]bool{"mail.example.com": true, "example.org": true, "a.example.org": true, "example.com": false, "unverified_mail.example.com": false, "": false} {
		if s.IsPrivate(site) != want {
			t.Errorf("%q is private: %v", site, !want)
		}
	}
}

// A file decides alone where it says something, and the bounds hold all the same.
func TestFileDecidesAlone(t *testing.T) {
	file := parse(t, []string{"allow client=claude,class=destructive", "deny client=cursor"})
	own := Document{Rules: parse(t, []string{"deny client=claude,site=shop.example.com,tool=buy", "allow client=cursor,tool=buy", "deny client=claude,class=act", "allow client=cursor,class=act"})}
	s := setOf(t, ModeCareful, own, file)
	for _, test := range []struct {
		action *Action
		want   Effect
		layer  Layer
	}{
		{buy(), Allow, ByFile},
		{buy(pack("shop-tools")), Deny, ByRule}, // the file may be older than the pack, and its rule that allows says nothing of it
		{act(), Deny, ByRule},                   // nor of acts
		{buy(by(cursor)), Deny, ByFile},
		{act(by(cursor)), Deny, ByFile},
		{buy(class(Read)), Deny, ByRule},
		{buy(by(&Principal{ID: "c3"})), Ask, ByPreset},
	} {
		if d := s.Decide(test.action, now); d.Effect != test.want || d.Layer != test.layer {
			t.Errorf("%s: %s by %s, want %s by %s", test.action.Principal.ID, d.Effect, d.Layer, test.want, test.layer)
		}
	}
	if d := setOf(t, ModeReadOnly, own, file).Decide(buy(), now); d.Effect != Deny || d.Layer != ByMode {
		t.Errorf("a file lifts read-only: %+v", d)
	}
}

// A client must not see in a list what it is denied; that of one that is denied nothing is
// made once for all.
func TestHides(t *testing.T) {
	for _, test := range []struct {
		s    *Set
		who  *Principal
		want bool
	}{
		{nil, claude, true},
		{set(t, ModeCareful), nil, true},
		{set(t, ModeCareful), claude, false},
		{set(t, ModeReadOnly), claude, true},
		{set(t, ModeOpen, "deny client=cursor"), claude, false},
		{set(t, ModeOpen, "deny client=cursor"), cursor, true},
		{set(t, ModeOpen, "deny tool=buy"), claude, true},
		{set(t, ModeOpen, "ask tool=buy"), claude, false},
		{set(t, ModeOpen), &Principal{ID: "c3", Scope: &Scope{Tools: []string{"buy"}}}, true},
		{setOf(t, ModeOpen, Document{}, parse(t, []string{"deny client=claude"})), claude, true},
	} {
		if got := test.s.Hides(test.who); got != test.want {
			t.Errorf("%v hides from %v: %v", test.s, test.who, got)
		}
	}
}

// What the owner has allowed a pack ends with the pack: another one may have its name later. What the owner has
// denied it stays.
func TestWithdrawPack(t *testing.T) {
	rules := parse(t, []string{
		"allow client=claude,site=shop.example.com,pack=shop-tools,class=write", "deny client=cursor,pack=shop-tools", "allow client=claude,site=shop.example.com,tool=buy,pack=shop-tools,pin",
		"allow client=claude,pack=*", "allow client=claude,pack=notes", "allow client=claude,site=shop.example.com",
	})
	held := slices.Clone(rules)
	d := Document{Rules: rules}
	var withdrawn, left []string
	for _, r := range d.WithdrawPack("shop-tools") {
		withdrawn = append(withdrawn, r.ID)
	}
	for _, r := range d.Rules {
		left = append(left, r.ID)
	}
	if got := fmt.Sprint(withdrawn, left); got != "[r0 r2] [r1 r3 r4 r5]" {
		t.Errorf("withdrawn and left: %s", got)
	}
	if !slices.Equal(rules, held) {
		t.Error("WithdrawPack changes rules that a Set may hold")
	}
}

// An answer replaces the one before it.
func TestPut(t *testing.T) {
	for _, test := range []struct {
		before, put string
		left        int
	}{
		{"deny client=claude,tool=buy", "allow client=claude,tool=buy", 1},
		{"deny client=claude,tool=buy", "allow client=claude,tool=buy,pin", 1},
		{"allow client=claude,tool=buy,pin", "deny client=claude,tool=buy", 1},
		{"allow client=claude,tool=buy,pin", "allow client=claude,tool=buy", 1},
		{"allow client=claude,tool=buy", "deny client=cursor,tool=buy", 2},
		{"allow client=claude,tool=buy", "deny client=claude,tool=buy,until", 2},
		{"deny client=claude,tool=buy,until", "allow client=claude,tool=buy", 1},
		{"allow client=claude,tool=sell,ended", "allow client=claude,tool=buy", 1},
	} {
		d := Document{Rules: parse(t, []string{test.before})}
		before := slices.Clone(d.Rules)
		held := d.Rules
		put := parse(t, []string{test.put})[0]
		put.ID = "new"
		d.Put(put, now)
		if len(d.Rules) != test.left || d.Rules[len(d.Rules)-1].ID != "new" {
			t.Errorf("%s, then %s: %+v", test.before, test.put, d.Rules)
		}
		if !slices.Equal(before, held) {
			t.Error("Put changes rules that a Set may hold")
		}
		setOf(t, ModeOpen, d, nil)
	}
}

// The rule that an answer makes is about the same action, and about no other tool, site or
// client.
func TestRuleFor(t *testing.T) {
	for _, a := range []*Action{buy(), act(), buy(ofHub("browser_page goto", Destructive)), buy(ofRelay), buy(func(a *Action) { a.Name = "b*y" })} {
		r := RuleFor(a, Allow)
		r.ID = "answer"
		s := setOf(t, ModeCareful, Document{Rules: []Rule{r}}, nil)
		if d := s.Decide(a, now); d.Effect != Allow || d.Layer != ByRule {
			t.Errorf("%s: %s", a.Name, d.Words(a))
		}
		other := *a
		other.Name = "bury"
		other.Class = Destructive
		if d := s.Decide(&other, now); d.Effect == Allow {
			t.Errorf("%s: allows %s", a.Name, other.Name)
		}
	}
}
