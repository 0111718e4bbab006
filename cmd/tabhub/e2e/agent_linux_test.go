package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A careful agent, written down: it knows what a person would do on a page, in the words that a person sees
// there, and has no eyes but the texts that a server sends. It is the same for each server: only how a server
// is asked to look and to act is an adapter's.

// seen is an element or a text of a look.
type seen struct {
	depth      int
	role, name string
	text       string // its value, or its text
	ref        string
}

// view is what an agent has read of a page, in the order of the page.
type view []seen

// target is an element as a person sees it.
type target struct {
	role string // "button", or several as "cell|text"
	name string // with ... for a part of it
	in   string // a text near it: of its row, its card, its item
}

func (t target) String() string {
	s := fmt.Sprintf("%s %q", t.role, t.name)
	if t.in != "" {
		s += fmt.Sprintf(" at %q", t.in)
	}
	return s
}

// matches says whether text is the pattern, in which ... stands for what is not known.
func matches(text, pattern string) bool {
	begins, ends := strings.HasPrefix(pattern, "..."), strings.HasSuffix(pattern, "...")
	part := strings.TrimSuffix(strings.TrimPrefix(pattern, "..."), "...")
	switch {
	case begins && ends:
		return strings.Contains(text, part)
	case begins:
		return strings.HasSuffix(text, part)
	case ends:
		return strings.HasPrefix(text, part)
	}
	return text == part
}

func (n seen) is(t target) bool {
	if n.ref == "" || !slices.Contains(strings.Split(t.role, "|"), n.role) {
		return false
	}
	return matches(n.name, t.name) || n.name == "" && matches(n.text, t.name)
}

// find returns the element that is meant. Of several it is the one that stands in the smallest group with the text of
// in, or else the first one.
func (v view) find(t target) (found seen, ok bool) {
	best := -1
	var all []int
	for i, n := range v {
		if n.is(t) {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return seen{}, false
	}
	if t.in == "" {
		return v[all[0]], true
	}
	for near, n := range v {
		if n.name != t.in && n.text != t.in {
			continue
		}
		for _, i := range all {
			// It stands in the text's own group. Groups get smaller with depth; of one depth the first after the text
			// is meant, as its row goes on.
			if common := v.common(near, i); common >= n.depth-1 && common*1e6-distance(near, i) > best {
				best, found = common*1e6-distance(near, i), v[i]
			}
		}
	}
	return found, best >= 0
}

func distance(from, to int) int {
	if to < from {
		return 1e5 + from - to
	}
	return to - from
}

// common returns the depth of the smallest group that has both nodes.
func (v view) common(a, b int) int {
	a, b = min(a, b), max(a, b)
	depth := v[a].depth
	for _, n := range v[a+1 : b+1] {
		depth = min(depth, n.depth-1)
	}
	return max(depth, 0)
}

// text is all that was read, a line each.
func (v view) text() string {
	var b strings.Builder
	for _, n := range v {
		for _, s := range []string{n.name, n.text} {
			if s != "" {
				b.WriteString(s + "\n")
			}
		}
	}
	return b.String()
}

// intent is something that the agent does.
type intent struct {
	verb   string
	at     target
	to     target                     // of drag
	fields []field                    // of fill
	value  string                     // what is chosen, pressed, uploaded, or to be seen
	dialog *reply                     // of a click that the page answers with a dialog
	leads  bool                       // to another page
	seeks  bool                       // it is done until something comes
	renews bool                       // what is there becomes something else
	learn  func(text string) string   // of read
	make   func(text string) []intent // of make: what is read decides what is done
	until  target                     // of until: step is done again and again until this is there
	step   *intent
}

type field struct {
	at    target
	value string // "true" for what is ticked
}

// reply is how a dialog is answered.
type reply struct {
	accept bool
	text   string
}

// targets are those that must be known before it is done.
func (i *intent) targets() []target {
	switch i.verb {
	case "fill":
		var out []target
		for _, f := range i.fields {
			out = append(out, f.at)
		}
		return out
	case "drag":
		return []target{i.at, i.to}
	case "see", "read", "make", "until":
		return nil
	}
	if i.at.role == "" { // of scroll: the page
		return nil
	}
	return []target{i.at}
}

// eyes are a server as the agent uses it, for eyes and hands.
type eyes interface {
	// open shows a page.
	open(url string) error
	// look gives all of the page.
	look() (view, error)
	// search gives what of the page has one of these words, or all of it if the server cannot search.
	search(words []string) (view, error)
	// await waits until the page says something, and may give what it shows then.
	await(text string) (view, error)
	// act does an intent with its targets, and may give what has changed, if the agent will need it. moved says
	// that the page is another one.
	act(i *intent, on []seen, changes bool) (now view, moved bool, err error)
}

// careful is an agent that does plans.
type careful struct {
	eyes
	known view
	it    string // what was learned last; $it in names and values
}

const mostLooks = 4

// do does a plan on a page.
func (a *careful) do(url string, plan []intent) error {
	a.known, a.it = nil, ""
	err := a.open(url)
	if err == nil {
		a.known, err = a.look()
	}
	if err != nil {
		return err
	}
	return a.all(plan)
}

func (a *careful) all(plan []intent) error {
	for n := range plan {
		i := a.filled(plan[n])
		var next []target
		see := ""
		if n+1 < len(plan) {
			j := a.filled(plan[n+1])
			if next = j.targets(); j.verb == "see" {
				see = j.value
			}
		}
		if err := a.one(&i, next, see); err != nil {
			return fmt.Errorf("%s %v: %w", i.verb, i.targets(), err)
		}
	}
	return nil
}

// filled puts what was learned in.
func (a *careful) filled(i intent) intent {
	put := func(s *string) { *s = strings.ReplaceAll(*s, "$it", a.it) }
	i.fields = slices.Clone(i.fields)
	for n := range i.fields {
		put(&i.fields[n].value)
		put(&i.fields[n].at.name)
	}
	for _, s := range []*string{&i.value, &i.at.name, &i.at.in, &i.to.name} {
		put(s)
	}
	return i
}

// one does an intent; next and see are what the agent will need then.
func (a *careful) one(i *intent, next []target, see string) error {
	switch i.verb {
	case "see":
		return a.see(i.value)
	case "read":
		return a.reading(i, func(text string) bool {
			a.it = i.learn(text)
			return a.it != ""
		})
	case "make":
		var more []intent
		if err := a.reading(i, func(text string) bool {
			more = i.make(text)
			return more != nil
		}); err != nil {
			return err
		}
		return a.all(more)
	case "until":
		for range 30 {
			if _, ok := a.known.find(i.until); ok {
				return nil
			}
			step := *i.step
			step.seeks = true
			if err := a.one(&step, []target{i.until}, ""); err != nil {
				return err
			}
			if _, ok := a.known.find(i.until); ok {
				continue
			}
			now, err := a.search([]string{part(i.until)})
			if err == nil && a.incomplete(now, i.until) {
				a.known = nil
				now, err = a.look()
			}
			if err != nil {
				return err
			}
			a.learn(now)
		}
		return fmt.Errorf("%s does not come", i.until)
	}
	for again := range 2 {
		elements, err := a.elements(i.targets())
		if err != nil {
			return err
		}
		unknown := slices.ContainsFunc(next, func(t target) bool { _, ok := a.known.find(t); return !ok }) || see != ""
		unknown = unknown || i.leads || i.renews
		now, moved, err := a.act(i, elements, unknown)
		if err != nil && again == 0 && stale.MatchString(err.Error()) {
			a.known = nil // what was known is old
			continue
		}
		if err != nil {
			return err
		}
		if moved || i.leads || i.renews {
			a.known = nil
		}
		a.learn(now)
		return nil
	}
	return nil
}

// reading has take read what is known, and if that is not enough, what has the word of the intent, and all.
func (a *careful) reading(i *intent, take func(text string) bool) error {
	if take(a.known.text()) {
		return nil
	}
	now, err := a.search([]string{i.value})
	if err == nil {
		if a.learn(now); take(a.known.text()) {
			return nil
		}
		now, err = a.look()
	}
	if err != nil {
		return err
	}
	if a.known = now; !take(now.text()) {
		return fmt.Errorf("it is not in\n%s", now.text())
	}
	return nil
}

var stale = regexp.MustCompile(`(?i)stale|not found in the current page snapshot|no such element|not found on page|detached|did not become interactive`)

// learn adds what has been read to what is known: nodes of one reference are the newer one.
func (a *careful) learn(now view) {
	if len(now) == 0 {
		return
	}
	newer := map[string]bool{}
	for _, n := range now {
		if n.ref != "" {
			newer[n.ref] = true
		}
	}
	old := slices.DeleteFunc(slices.Clone(a.known), func(n seen) bool { return newer[n.ref] })
	a.known = append(slices.Clone(now), old...)
}

// part is the longest part of a target's words that is known.
func part(t target) string {
	if t.in != "" {
		return t.in
	}
	return strings.Trim(t.name, ".")
}

// incomplete says that the text near a target is there, but the target is not: what a search showed ends before it.
func (a *careful) incomplete(v view, t target) bool {
	_, ok := v.find(t)
	return !ok && t.in != "" && slices.ContainsFunc(v, func(n seen) bool { return n.name == t.in || n.text == t.in })
}

// elements returns what is meant, and looks for what it does not know.
func (a *careful) elements(targets []target) ([]seen, error) {
	for looks := 0; ; looks++ {
		var out []seen
		var words []string
		var missing target
		for _, t := range targets {
			n, ok := a.known.find(t)
			if !ok {
				words, missing = append(words, part(t)), t
			}
			out = append(out, n)
		}
		if words == nil {
			return out, nil
		}
		var now view
		var err error
		switch {
		case looks == mostLooks:
			return nil, fmt.Errorf("there is no %s in\n%s", missing, a.known.text())
		case looks < 2 && !a.incomplete(a.known, missing):
			now, err = a.search(words)
		case looks == 2 && !a.incomplete(a.known, missing):
			now, err = a.await(words[0])
		default:
			a.known = nil
			now, err = a.look()
		}
		if err != nil {
			return nil, err
		}
		a.learn(now)
	}
}

// see waits until the page says a text.
func (a *careful) see(text string) error {
	if strings.Contains(a.known.text(), text) {
		return nil
	}
	now, err := a.search([]string{text})
	if err == nil && !strings.Contains(now.text(), text) {
		a.learn(now)
		now, err = a.await(text)
	}
	if err != nil {
		return fmt.Errorf("the page does not say %q: %w", text, err)
	}
	a.learn(now)
	if !strings.Contains(a.known.text(), text) {
		return fmt.Errorf("the page does not say %q", text)
	}
	return nil
}
