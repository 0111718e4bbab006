package pagecheck

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tabhub/spec"
)

// vague are words that say nothing, alone or with others of them or a number.
var vague = []string{
	"test", "tests", "testing", "foo", "bar", "baz", "tool", "action", "handler", "function", "func", "fn", "do", "run", "execute", "exec", "call", "invoke",
	"stuff", "thing", "things", "something", "my", "a", "the", "new", "untitled", "example", "sample", "demo", "hello", "world", "temp", "tmp", "todo", "misc", "main", "default", "it", "this",
}

var (
	snake        = lazily(`^[a-z0-9]+(_[a-z0-9]+)+$`)
	kebab        = lazily(`^[a-z0-9]+(-[a-z0-9]+)+$`)
	camel        = lazily(`^[a-z][a-z0-9]*([A-Z][A-Za-z0-9]*)+$`)
	pascal       = lazily(`^[A-Z][a-z0-9]+([A-Z][A-Za-z0-9]*)+$`)
	otherThanAPI = lazily(`[^A-Za-z0-9_-]`)
)

// wordsOf returns the words of a text, or of a name such as add_to_cart or addToCart, in lower
// case.
func wordsOf(text string) []string {
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = nil
		}
	}
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			continue
		}
		if n := len(word); n > 0 && unicode.IsUpper(r) && !unicode.IsUpper(word[n-1]) {
			end()
		}
		word = append(word, r)
	}
	end()
	return words
}

// name looks at the name of a tool or prompt.
func (it *Item) name(r *report) {
	if it.Kind == spec.KindResource {
		return
	}
	words := wordsOf(it.Name)
	if !slices.ContainsFunc(words, func(w string) bool {
		w = strings.Trim(w, "0123456789")
		return w != "" && !slices.Contains(vague, w)
	}) || utf8.RuneCountInString(it.Name) < 2 {
		r.add(Warning, NameVague, "name what it does, such as search_products", "the name does not say what it does")
	}
	if c := otherThanAPI().FindString(it.Name); c != "" {
		r.add(Warning, NameCharacters, "use letters of ASCII, digits, _ and -", "the name has %q, which clients do not take; they see %s", c, it.Public)
	}
	// Where the hub shows the name as it is, it stands at the end.
	if shown := otherThanAPI().ReplaceAllString(it.Name, "_"); !strings.HasSuffix(it.Public, "_"+shown) {
		severity := Warning
		if it.Local {
			severity = Note // the site's own address has another length
		}
		r.add(severity, NameShortened, "use a shorter name", "with its site the name is too long, or could be another's; clients see %s", it.Public)
	}
}

// names looks at how the tools' names are written.
func (p *Page) names(r *report) {
	styles := map[string][]string{}
	var order []string
	for _, it := range p.Items {
		if it.Kind != spec.KindTool {
			continue
		}
		for style, is := range map[string]func() *regexp.Regexp{"snake_case": snake, "kebab-case": kebab, "camelCase": camel, "PascalCase": pascal} {
			if is().MatchString(it.Name) {
				if styles[style] == nil {
					order = append(order, style)
				}
				styles[style] = append(styles[style], it.Name)
			}
		}
	}
	if len(order) < 2 {
		return
	}
	slices.SortStableFunc(order, func(a, b string) int { return len(styles[b]) - len(styles[a]) })
	var parts []string
	for _, style := range order {
		parts = append(parts, style+" ("+quoted(styles[style], 3)+")")
	}
	r.add(Warning, NamesMixed, "write all of them the same way; models guess names from others", "the tools' names are written in different ways: %s", strings.Join(parts, ", "))
}

// description looks at what an item says of itself.
func (it *Item) description(r *report) {
	text := strings.TrimSpace(it.text("description"))
	if text == "" {
		severity := Warning
		if it.Kind == spec.KindTool {
			severity = Error
		}
		r.add(severity, DescriptionMissing, "say what it does, when to use it and what it returns", "it has no description; a model has nothing but the name to go by")
		return
	}
	if len(text) > spec.MaxDescription {
		r.add(Warning, DescriptionCut, "put what matters first, and the rest into the parameters", "the description has %d bytes; it is cut after %d", len(text), spec.MaxDescription)
	}
	words := wordsOf(text)
	name := wordsOf(it.Name)
	switch {
	case it.Kind == spec.KindTool && !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(name, w) && !slices.Contains(filler, w) }):
		r.add(Warning, DescriptionRepeats, "say when to use it and what it returns", "the description says no more than the name: %q", text)
	case it.Kind == spec.KindTool && isShort(text, words):
		r.add(Warning, DescriptionShort, "say what it does, when to use it and what it returns", "the description is very short: %q", text)
	}
}

// filler are words that add nothing to a name.
var filler = []string{"a", "an", "the", "this", "tool", "function", "to", "of", "for", "is", "it", "that", "which", "and", "s", "es"}

// isShort reports whether a description can hardly say anything. Scripts without spaces say
// more with fewer characters.
func isShort(text string, words []string) bool {
	dense := strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
	})
	if dense {
		return utf8.RuneCountInString(text) < 6
	}
	return len(words) < 3
}

// alikeness is from where on two descriptions are hard to tell apart.
const alikeness = 0.9

// alike finds tools whose descriptions say nearly the same.
func (p *Page) alike(r *report) {
	type said struct {
		name  string
		words []string
	}
	var all []said
	for _, it := range p.Items {
		if it.Kind == spec.KindTool {
			words := wordsOf(it.text("description"))
			slices.Sort(words)
			all = append(all, said{it.Label(), slices.Compact(words)})
		}
	}
	for i, a := range all {
		for _, b := range all[:i] {
			if len(a.words) > 2 && overlap(a.words, b.words) >= alikeness {
				r.item = a.name
				r.add(Warning, ToolsAlike, "say in both what the other one does not do", "its description is nearly that of %s", b.name)
				break
			}
		}
	}
	r.item = ""
}

// overlap returns how much two sorted lists have in common, from 0 to 1.
func overlap(a, b []string) float64 {
	both := 0
	for _, w := range a {
		if _, ok := slices.BinarySearch(b, w); ok {
			both++
		}
	}
	all := len(a) + len(b) - both
	if all == 0 {
		return 0
	}
	return float64(both) / float64(all)
}
