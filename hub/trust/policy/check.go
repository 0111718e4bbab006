package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"

	"tabhub/naming"
	"tabhub/spec"
)

// Limits of a document, and of a file.
const (
	MaxRules = 1000 // and of pauses and private sites
	maxText  = 256  // bytes of a name, a note, …
)

// RuleError says what is wrong with a rule. The text is a sentence without the rule's place.
type RuleError struct {
	Index int // of the rule
	Other int // of the rule that it cannot stand beside, else -1
	Text  string
}

func (e *RuleError) Error() string {
	if e.Other < 0 {
		return fmt.Sprintf("rule %d: %s", e.Index+1, e.Text)
	}
	return fmt.Sprintf("rules %d and %d: %s", e.Other+1, e.Index+1, e.Text)
}

// Check checks the rules of one source. The error holds a *RuleError for each that is
// wrong; errors.Join has made it if there are several.
func Check(rules []Rule) error {
	if len(rules) > MaxRules {
		return fmt.Errorf("there are %d rules; there may be up to %d", len(rules), MaxRules)
	}
	var errs []error
	first := map[Rule]int{} // by subject
	for i := range rules {
		r := &rules[i]
		if err := r.check(); err != nil {
			errs = append(errs, &RuleError{i, -1, err.Error()})
			continue
		}
		s := r.subject()
		other, twice := first[s]
		if !twice {
			first[s] = i
			continue
		}
		text := "they say the same; keep one"
		if r.Effect != rules[other].Effect {
			text = fmt.Sprintf("one says %s and the other %s of the same; keep one, or have one name more", rules[other].Effect, r.Effect)
		}
		errs = append(errs, &RuleError{i, other, text})
	}
	return errors.Join(errs...)
}

// subject is what a rule is about: of two rules with one subject only one is of use, unless one
// ends.
func (r *Rule) subject() Rule {
	s := Rule{Client: r.Client, Session: r.Session, Site: r.Site, Tool: r.Tool, Pack: r.Pack, Class: r.Class, Pin: r.Pin, Late: r.Late, From: r.From}
	if !r.Until.IsZero() {
		s.Until = s.Until.Add(1)
	}
	return s
}

func (r *Rule) check() error {
	switch {
	case r.Effect != Allow && r.Effect != Ask && r.Effect != Deny:
		return fmt.Errorf("the effect is missing; it may be %s", or(effects[1:]))
	case r.Effect == Allow && *r == (Rule{ID: r.ID, Effect: Allow, Until: r.Until, Made: r.Made, By: r.By, Note: r.Note}):
		return errors.New("it allows everything; name a client, a site, a tool, a pack or a class, or use the mode open")
	case r.Session != "" && r.Client == "":
		return errors.New("it names a session without its client")
	case !r.Pin.isZero() && r.Effect != Allow:
		return errors.New("it has a pin, and a page would get around it by another description; leave the pin out")
	case !r.Pin.isZero() && r.Tool == "":
		return errors.New("it has the pin of one definition, and must name its tool")
	}
	if r.Pack != "" && r.Pack != anyPack && !isPackName(r.Pack) {
		return fmt.Errorf("the pack is %.40q; it may be the name of a pack, such as shop-tools, or * for all packs", r.Pack)
	}
	if r.Pack != "" && (r.Class == classHub || r.Class == classRelay || r.Class == Act.String()) {
		return fmt.Errorf("it is about packs and has the class %s; packs give tools to pages only", r.Class)
	}
	for what, text := range map[string]string{"id": r.ID, "client": r.Client, "session": r.Session, "by": r.By, "note": r.Note} {
		if err := checkText(what, text, maxText); err != nil {
			return err
		}
	}
	if r.Site != "" {
		if err := CheckSite(r.Site); err != nil {
			return fmt.Errorf("site: %w", err)
		}
	}
	if r.From != "" && r.From != "private" {
		if err := CheckSite(r.From); err != nil {
			return fmt.Errorf("from: %w", err)
		}
	}
	if !slices.Contains(ruleClasses, r.Class) {
		return fmt.Errorf("the class is %.40q; it may be %s", r.Class, or(ruleClasses[1:]))
	}
	if isPattern(r) && strings.Trim(r.Tool, "*") == "" {
		return errors.New("the tool is any; leave it out")
	}
	return checkText("tool", r.Tool, spec.MaxURI)
}

// isPackName reports whether a pack can have a name.
func isPackName(name string) bool {
	return len(name) <= maxPackName && name[0] != '-' && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

const maxPackName = 32

// ruleClasses are what Rule.Class may be.
var ruleClasses = append(slices.Clone(classes), classHub, classRelay)

// Check checks a scope.
func (s *Scope) Check() error {
	if s == nil {
		return nil
	}
	if len(s.Sites) > MaxRules || len(s.Tools) > MaxRules {
		return fmt.Errorf("there may be up to %d sites and tools", MaxRules)
	}
	for _, site := range s.Sites {
		if err := CheckSite(site); err != nil {
			return err
		}
	}
	for _, tool := range s.Tools {
		if err := checkText("tool", tool, spec.MaxURI); err != nil {
			return err
		}
	}
	if slices.Contains(s.Classes, ClassUnset) {
		return fmt.Errorf("a class may be %s", or(classes[1:]))
	}
	if len(s.Browsers) == 0 {
		return nil
	}
	return CheckBrowsers(s.Browsers)
}

// check checks what the owner has decided.
func (d *Document) check() error {
	if d.Mode != "" {
		if err := d.Mode.check(); err != nil {
			return err
		}
	}
	if err := Check(d.Rules); err != nil {
		return err
	}
	ids := map[string]bool{}
	for i := range d.Rules {
		r := &d.Rules[i]
		if r.ID == "" || ids[r.ID] || r.By == byPreset {
			return &RuleError{i, -1, fmt.Sprintf("the id %q is missing, another rule's, or a preset's", r.ID)}
		}
		ids[r.ID] = true
	}
	if len(d.Private) > MaxRules || len(d.Pauses) > MaxRules {
		return fmt.Errorf("there may be up to %d pauses and private sites", MaxRules)
	}
	for _, site := range d.Private {
		if err := CheckPrivate(site); err != nil {
			return err
		}
	}
	if err := CheckBindings(d.Bindings); err != nil {
		return err
	}
	for _, p := range d.Pauses {
		if p.Site != "" {
			if err := CheckSite(p.Site); err != nil {
				return err
			}
		}
		if err := errors.Join(checkText("client", p.Client, maxText), checkText("by", p.By, maxText)); err != nil {
			return err
		}
	}
	return nil
}

// checkText checks a text that is shown as it is.
func checkText(what, text string, most int) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("the %s is %d bytes long; it may be %d", what, len(text), most)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return fmt.Errorf("the %s %.80q holds what cannot be shown", what, text)
	}
	return nil
}

// CheckSite checks a pattern of sites, such as Rule.Site.
func CheckSite(pattern string) error {
	if pattern == "verified" || pattern == "unverified" {
		return nil
	}
	head, domain, wild := strings.Cut(pattern, "*.")
	if !wild {
		head, domain = "", pattern
	}
	if strings.Contains(domain, "*") || wild && !slices.Contains(wildMarks, head) {
		return fmt.Errorf("%.100q has a * that is not the first of its labels; write *.example.com for example.com and all below", pattern)
	}
	if key, ok := canonical(spec.Domain(head + domain)); !ok {
		if key == "" {
			return fmt.Errorf("%.100q is no site; write it as `tabhub tabs` shows it, such as example.com, localhost:5173 or http_printer.example.com", pattern)
		}
		return fmt.Errorf("%.100q is no site; did you mean %s?", pattern, key)
	}
	if !wild {
		return nil
	}
	_, host, _ := naming.SplitKey(spec.Domain(domain))
	if _, err := publicsuffix.EffectiveTLDPlusOne(host); err != nil {
		return fmt.Errorf("%.100q is wider than what one owner can have; name a domain below it, such as *.example.%s", pattern, host)
	}
	return nil
}

// CheckPrivate checks a site that is to be private.
func CheckPrivate(site string) error {
	if site == "verified" || site == "unverified" {
		return fmt.Errorf("%q cannot be private; name a site", site)
	}
	return CheckSite(site)
}

// wildMarks are what may stand before "*.".
var wildMarks = []string{"", "http_", "unverified_", "unverified_http_"}

// canonical reports whether d is the key of an origin. If it is not, it returns the key that d
// may stand for, or "".
func canonical(d spec.Domain) (spec.Domain, bool) {
	marks, _, _ := naming.SplitKey(d)
	authority := string(d)[len(marks):]
	if strings.Count(authority, "_") == 7 && naming.IsDomain(d) {
		return d, true // an IPv6 address, or a name that could be one
	}
	for _, scheme := range []string{"https://", "http://"} {
		if key, err := naming.DomainOf(scheme+authority, !naming.IsClaimed(d)); err == nil && key == d {
			return d, true
		}
	}
	for _, scheme := range []string{"", "https://"} {
		if key, err := naming.DomainOf(scheme+strings.TrimSuffix(string(d), "/"), true); err == nil {
			return key, false
		}
	}
	return "", false
}
