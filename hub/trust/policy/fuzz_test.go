package policy_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	. "tabhub/hub/trust/policy"
	"tabhub/spec"
)

// What rules and actions are made of: few words, so that many match.
var (
	someClients = []string{"", "", "claude", "cursor", "c1", "owner"}
	someSites   = []string{"", "", "verified", "unverified", "*.example.com", "*.shop.example.com", "shop.example.com", "unverified_shop.example.com", "http_*.example.com", "bank.example.org"}
	someTools   = []string{"", "", "buy", "b*", "*y", "b*y", "sell", "browser_page", "browser_page goto"}
	someClasses = []string{"", "", "read", "write", "act", "destructive", "hub", "relay"}
	somePacks   = []string{"", "", "", "*", "shop-tools", "notes"}
	someFroms   = []string{"private", "*.example.com", "bank.example.org", "verified"}
	someDomains = []spec.Domain{"", "example.com", "shop.example.com", "shop.example.com.", "a.shop.example.com", "unverified_shop.example.com", "http_shop.example.com", "bank.example.org"}
)

func one[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

func someRule(r *rand.Rand, id string) Rule {
	rule := Rule{ID: id, Effect: one(r, []Effect{Allow, Ask, Deny}), Client: one(r, someClients), Site: one(r, someSites), Tool: one(r, someTools), Class: one(r, someClasses), Pack: one(r, somePacks)}
	if rule.Client != "" && r.IntN(3) == 0 {
		rule.Session = one(r, []string{"s1", "s2"})
	}
	if rule.Tool != "" && rule.Effect == Allow && r.IntN(2) == 0 {
		rule.Pin = Pin{byte(r.IntN(2))}
	}
	rule.Late = r.IntN(6) == 0
	if r.IntN(8) == 0 {
		rule.Until = now.Add(time.Duration(r.IntN(3)-1) * time.Hour)
	}
	if r.IntN(5) == 0 {
		rule.From, rule.Pin = one(r, someFroms), Pin{}
	}
	return rule
}

// someRules returns rules that can stand beside each other.
func someRules(r *rand.Rand, n int) []Rule {
	var out []Rule
	for i := range n {
		if more := append(slices.Clip(out), someRule(r, fmt.Sprint("r", i))); Check(more) == nil {
			out = more
		}
	}
	return out
}

func someAction(r *rand.Rand) *Action {
	a := &Action{Principal: one(r, []*Principal{claude, cursor, {ID: "owner"}}), Session: one(r, []string{"", "s1", "s2"}), Of: one(r, []Of{OfPage, OfPage, OfHub, OfRelay})}
	a.Site.Domain = one(r, someDomains)
	a.Site.Any = a.Of == OfRelay && r.IntN(2) == 0
	a.Name = one(r, []string{"buy", "by", "sell", "browser_page", "browser_page goto"})
	a.Class = Class(r.IntN(5))
	a.Late, a.Dataless = r.IntN(2) == 0, r.IntN(8) == 0
	if a.Of == OfPage {
		a.Item = definition{byte(r.IntN(2))}
		a.Pack = one(r, []string{"", "", "shop-tools", "notes"})
	}
	for range r.IntN(3) {
		a.Read = append(a.Read, one(r, someDomains[1:]))
	}
	return a
}

// naive decides by the words of the package's documentation, slowly.
type naive struct {
	mode      Mode
	own, file []Rule
	private   string
}

func (n *naive) decide(a *Action) Effect {
	class := classOf(a)
	if a.Of == OfPage && a.Site.Domain == "" || n.mode == ModeReadOnly && class != Read {
		return Deny
	}
	rules := n.layer(a, "")
	effect := strictest(rules, a)
	if effect == Allow && (n.mode == ModeCareful || n.mode == ModeAsk) && n.hasChanged(a, rules) {
		effect = Ask
	}
	for _, from := range a.Read {
		if bare := strings.TrimSuffix; a.Of == OfHub && a.Site == (Site{}) || a.Dataless || !a.Site.Any && bare(string(from), ".") == bare(string(a.Site.Domain), ".") {
			continue
		}
		if flows := n.layer(a, from); len(flows) > 0 {
			effect = max(effect, strictest(flows, a))
		}
	}
	return effect
}

// layer returns the rules that match, of the file or else of the owner.
func (n *naive) layer(a *Action, from spec.Domain) []Rule {
	own := slices.Concat(n.own, n.mode.Rules())
	for _, rules := range [][]Rule{n.file, own} {
		var out []Rule
		for _, r := range rules {
			if n.fits(r, a, from) && (r.Pin == Pin{} || a.Item != nil && a.Item.Pin() == r.Pin) {
				out = append(out, r)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

func (n *naive) hasChanged(a *Action, winners []Rule) bool {
	all := n.own
	if slices.ContainsFunc(winners, func(r Rule) bool { return slices.Contains(n.file, r) }) {
		all = n.file
	}
	return slices.ContainsFunc(all, func(old Rule) bool {
		if old.Pin == (Pin{}) || a.Item == nil || a.Item.Pin() == old.Pin || !n.fits(old, a, "") {
			return false
		}
		return !slices.ContainsFunc(winners, func(r Rule) bool {
			was := specificity(old, a)
			was[2] -= 150 // between a pattern and a tool
			is := specificity(r, a)
			return is[0] >= was[0] && is[1] >= was[1] && is[2] >= was[2] && is[4] >= was[4]
		})
	})
}

func (n *naive) fits(r Rule, a *Action, from spec.Domain) bool {
	if (from == "") != (r.From == "") || !r.Until.IsZero() && !r.Until.After(now) {
		return false
	}
	if from != "" && !atSite(r.From, from, n.private) {
		return false
	}
	if r.Client != "" && r.Client != a.Principal.ID && (r.Client == "owner" || r.Client != a.Principal.Name) {
		return false
	}
	if r.Pack != "" && (a.Of != OfPage || a.Pack == "" || r.Pack != "*" && r.Pack != a.Pack) {
		return false
	}
	if r.Pack == "" && a.Pack != "" && r.Effect == Allow && r.By != "preset" && a.Class != Read {
		return false
	}
	if r.Session != "" && r.Session != a.Session || r.Late && !a.Late {
		return false
	}
	if a.Site.Any && r.Site != "" {
		if r.Effect == Allow || r.By == "preset" {
			return false
		}
	} else if r.Site != "" && !atSite(r.Site, a.Site.Domain, "") {
		return false
	}
	class := classOf(a)
	if class == Act && r.By != "preset" && r.Class != "act" && (r.Effect == Allow || r.Class == "read") {
		return false
	}
	switch r.Class {
	case "":
		if from != "" && class == Read {
			return false
		}
		if r.Effect == Allow && r.Tool != "" && a.Of != OfPage {
			return false
		}
	case "hub":
		if a.Of != OfHub || from != "" && class == Read {
			return false
		}
	case "relay":
		if a.Of != OfRelay || from != "" && class == Read {
			return false
		}
	case "act":
		if class != Act {
			return false
		}
	default:
		harms := class == Act && r.By != "preset" // what asks about harm, or denies it, is about acts
		if r.Class != class.String() && !harms || r.Effect == Allow && r.Tool != "" && a.Of != OfPage {
			return false
		}
	}
	if r.Tool == "" || r.Tool == a.Name {
		return true
	}
	if strings.Contains(r.Tool, "*") && r.Pin == (Pin{}) {
		return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(r.Tool), `\*`, ".*") + "$").MatchString(a.Name)
	}
	return a.Of == OfHub && strings.HasPrefix(a.Name, r.Tool+" ")
}

// classOf is the class that counts.
func classOf(a *Action) Class {
	if a.Class == ClassUnset || a.Class == Act && a.Of != OfHub {
		return Destructive
	}
	return a.Class
}

func atSite(pattern string, d spec.Domain, private string) bool {
	d = spec.Domain(strings.TrimSuffix(string(d), ".")) // which leads to the same server
	mark, below, wild := strings.Cut(pattern, "*.")
	switch {
	case pattern == "private":
		return string(d) == private
	case pattern == "verified":
		return d != "" && !strings.HasPrefix(string(d), "unverified_")
	case pattern == "unverified":
		return strings.HasPrefix(string(d), "unverified_")
	case !wild:
		return pattern == string(d)
	}
	host, ok := strings.CutPrefix(string(d), mark)
	return ok && !strings.Contains(host, "_") && (host == below || strings.HasSuffix(host, "."+below))
}

// specificity is how much a rule says of the client, the site, the tool, the site it comes from and the pack.
func specificity(r Rule, a *Action) [5]int {
	var s [5]int
	for i, text := range []string{r.Client, r.Session} {
		if text != "" {
			s[0] = i + 1
		}
	}
	site := func(pattern string) int {
		switch {
		case pattern == "":
			return 0
		case pattern == "verified", pattern == "unverified", pattern == "private":
			return 1
		case strings.Contains(pattern, "*"):
			return 2 + len(pattern[strings.Index(pattern, "*")+2:])
		}
		return 1000
	}
	s[1], s[3] = site(r.Site), site(r.From)
	switch r.Pack {
	case "":
	case "*":
		s[4] = 1
	default:
		s[4] = 2
	}
	switch {
	case r.Tool == "":
	case strings.Contains(r.Tool, "*"):
		s[2] = 100 * (1 + len(strings.ReplaceAll(r.Tool, "*", "")))
	case (r.Class == "hub" || r.Class == "act") && !strings.Contains(r.Tool, " "):
		s[2] = 100 * (1 + len(r.Tool))
	case r.Pin != (Pin{}):
		s[2] = 10_100
	default:
		s[2] = 10_000
	}
	if r.Class != "" {
		s[2] += 10
	}
	if r.Late {
		s[2]++
	}
	return s
}

// strictest is that of the rules that none beats.
func strictest(rules []Rule, a *Action) Effect {
	beats := func(x, y Rule) bool {
		p, q := specificity(x, a), specificity(y, a)
		return p != q && p[0] >= q[0] && p[1] >= q[1] && p[2] >= q[2] && p[3] >= q[3] && p[4] >= q[4]
	}
	effect := Unset
	for _, r := range rules {
		if !slices.ContainsFunc(rules, func(other Rule) bool { return beats(other, r) }) {
			effect = max(effect, r.Effect)
		}
	}
	if effect == Unset {
		return Deny
	}
	return effect
}

const private = "bank.example.org"

// The index finds what a comparison of each rule would; and whatever the rules are, a rule
// that denies never lets more happen, and their order does not matter.
func FuzzDecide(f *testing.F) {
	for seed := range uint64(100) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		n := &naive{mode: one(r, Modes), own: someRules(r, r.IntN(40)), private: private}
		if r.IntN(3) == 0 {
			n.file = someRules(r, r.IntN(6))
		}
		doc := Document{Rules: n.own, Private: []string{private}}
		s := setOf(t, n.mode, doc, n.file)

		shuffled := doc
		shuffled.Rules = slices.Clone(doc.Rules)
		r.Shuffle(len(shuffled.Rules), func(i, j int) {
			shuffled.Rules[i], shuffled.Rules[j] = shuffled.Rules[j], shuffled.Rules[i]
		})
		other := setOf(t, n.mode, shuffled, n.file)

		stricter := doc
		deny := someRule(r, "deny")
		deny.Effect, deny.Pin = Deny, Pin{}
		stricter.Rules = append(slices.Clip(stricter.Rules), deny)
		denying, err := New(stricter, n.mode, File{Rules: n.file})
		if err != nil {
			denying = s // it contradicts another
		}

		for range 50 {
			a := someAction(r)
			d := s.Decide(a, now)
			if want := n.decide(a); d.Effect != want {
				t.Fatalf("%+v: %s, want %s\nmode %s\nown %+v\nfile %+v\n%+v", a, d.Effect, want, n.mode, n.own, n.file, d.Rule)
			}
			again := other.Decide(a, now)
			if again.Effect != d.Effect || (again.Rule == nil) != (d.Rule == nil) || d.Rule != nil && again.Rule.ID != d.Rule.ID {
				t.Fatalf("%+v: %+v, and in another order %+v", a, d.Rule, again.Rule)
			}
			if strict := denying.Decide(a, now); strict.Effect < d.Effect {
				t.Fatalf("%+v: %s, and with %+v %s", a, d.Effect, deny, strict.Effect)
			}
			if d.Effect == Deny && d.Layer != ByMode && d.Layer != ByNothing && !s.Hides(a.Principal) && d.Layer != ByFlow {
				t.Fatalf("%+v: denied, and nothing is hidden", a)
			}
			d.Words(a)
		}
	})
}
