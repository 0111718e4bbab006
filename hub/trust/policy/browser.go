package policy

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Binding restricts a client to browsers, by the owner's names for them. All others, and pages that
// connect by themselves, do not exist for it.
type Binding struct {
	Client   string   `json:"client"` // as Rule.Client; "": each client
	Browsers []string `json:"browsers"`
}

// File is what a policy file says, which wins over what the owner has decided otherwise.
type File struct {
	Rules    []Rule
	Bindings []Binding
}

// MaxBrowserName is how long the name of a browser may be, in bytes.
const MaxBrowserName = 32

var browserName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// CheckBrowser checks the name of a browser.
func CheckBrowser(name string) error {
	if len(name) > MaxBrowserName || !browserName.MatchString(name) {
		return fmt.Errorf("%.64q is no name of a browser; it has up to %d of a-z, 0-9 and -, and does not begin with -", name, MaxBrowserName)
	}
	return nil
}

// CheckBrowsers checks the names of the browsers of a Binding.
func CheckBrowsers(names []string) error {
	if len(names) == 0 {
		return errors.New("it names no browser")
	}
	if len(names) > MaxRules {
		return fmt.Errorf("there may be up to %d browsers", MaxRules)
	}
	for _, name := range names {
		if err := CheckBrowser(name); err != nil {
			return err
		}
	}
	return nil
}

// Check checks a binding.
func (b *Binding) Check() error {
	return errors.Join(checkText("client", b.Client, maxText), CheckBrowsers(b.Browsers))
}

// CheckBindings checks the bindings of one source.
func CheckBindings(all []Binding) error {
	if len(all) > MaxRules {
		return fmt.Errorf("there may be up to %d bindings", MaxRules)
	}
	for i := range all {
		if err := all[i].Check(); err != nil {
			return fmt.Errorf("binding %d: %w", i+1, err)
		}
	}
	return nil
}

// Bind binds a client to browsers, in place of those that it was bound to.
func (d *Document) Bind(client string, browsers []string) {
	d.Unbind(client)
	d.Bindings = append(d.Bindings, Binding{client, browsers})
}

// Unbind ends the binding of exactly this client, and reports whether there was one.
func (d *Document) Unbind(client string) bool {
	before := len(d.Bindings)
	d.Bindings = slices.DeleteFunc(slices.Clone(d.Bindings), func(b Binding) bool { return strings.EqualFold(b.Client, client) })
	return len(d.Bindings) < before
}

// Bindings returns the bindings of the file, then the owner's. They must not be changed.
func (s *Set) Bindings() []Binding { return s.bindings }

// Browsers returns the names of the browsers that exist for a client: those that its connection
// (bound, nil for all), its credential and its bindings have in common. Nil says that all
// exist, an empty list that none does. The list must not be changed.
func (s *Set) Browsers(who *Principal, bound []string) []string {
	if s == nil || who == nil || who.ID == OwnerID {
		return bound
	}
	if who.Scope != nil && len(who.Scope.Browsers) > 0 {
		bound = common(bound, who.Scope.Browsers)
	}
	for i := range s.bindings {
		if isClient(s.bindings[i].Client, who) {
			bound = common(bound, s.bindings[i].Browsers)
		}
	}
	return bound
}

// common returns what two lists have in common; a is nil for everything.
func common(a, b []string) []string {
	if a == nil {
		return b
	}
	return slices.DeleteFunc(append([]string{}, a...), func(name string) bool { return !slices.Contains(b, name) })
}

// reaches reports whether the browser that an action leads to exists for its client.
func (s *Set) reaches(a *Action) bool {
	names := s.Browsers(a.Principal, a.Bound)
	return names == nil || a.Browser.Name != "" && slices.Contains(names, a.Browser.Name)
}
