package flow

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How long a value is, in folded bytes: letters in lower case and digits.
const (
	minValue  = 8  // a whole string, a word with a digit or an @, a name
	minDigits = 5  // a number
	minJoined = 7  // a number in groups, such as that of a card or a phone
	minPlain  = 12 // a whole string that is one word of letters
	minLetter = 16 // a word of letters in a text
	maxValue  = 64 // a longer text is recognised by its passages

	maxNumber = 24
	maxWords  = 4 // a name, or a value that is sent with other separators
)

// passage is the length of a passage of a longer text, in folded bytes.
const passage = 20

// word is a run of letters and digits.
type word struct {
	start, end int  // in folded
	digit      bool // has one
	named      bool // begins with a capital or a digit
	spaced     bool // one space is between it and the word before
	tied       bool // one "-", "_", ".", "+", "~", "'" or "@" is
	at         bool // which is an @
	date       bool
}

// fold reads a text into folded and words.
func (r *reader) fold(s string) {
	r.folded, r.at, r.words = r.folded[:0], r.at[:0], r.words[:0]
	var w word
	in := false // a word
	before := 0 // the index after the latest word
	end := func(at int) {
		if in {
			w.end = len(r.folded)
			r.words = append(r.words, w)
			in, before = false, at
		}
	}
	for i, n := 0, 0; i < len(s); i += n {
		c := rune(s[i])
		if n = 1; c >= utf8.RuneSelf {
			c, n = utf8.DecodeRuneInString(s[i:])
		}
		digit := n == 1 && isDigit(s[i])
		switch {
		case digit && !in && dateLen(s[i:]) > 0:
			n = dateLen(s[i:])
			w, in = word{start: len(r.folded), date: true}, true
			for at, c := range []byte(s[i : i+n]) {
				if isDigit(c) {
					r.folded = append(r.folded, c)
					r.places(i + at)
				}
			}
			end(i + n)
		case digit || isLetter(c):
			if !in {
				w, in = word{start: len(r.folded), named: digit || unicode.IsUpper(c)}, true
				if i > 0 && before == i-1 && len(r.words) > 0 {
					w.spaced, w.at = s[i-1] == ' ', s[i-1] == '@'
					w.tied = strings.IndexByte("-_.+~'@", s[i-1]) >= 0
				}
			}
			w.digit = w.digit || digit
			r.folded = utf8.AppendRune(r.folded, lower(c))
			r.places(i)
		case c < utf8.RuneSelf || !unicode.Is(unicode.Cf, c): // a character of Cf is not seen
			end(i)
		}
	}
	end(len(s))
}

// places notes where the latest byte of folded stands in the text.
func (r *reader) places(at int) {
	for r.collects && len(r.at) < len(r.folded) {
		r.at = append(r.at, at)
	}
}

func isLetter(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.IsMark(c))
}

func lower(c rune) rune {
	switch {
	case 'A' <= c && c <= 'Z':
		return c + 'a' - 'A'
	case c < utf8.RuneSelf:
		return c
	}
	return unicode.ToLower(c)
}

// findWords finds values by words: the whole text if it is short, unusual words, and several words
// together.
func (r *reader) findWords() {
	if n := len(r.folded); n >= minValue && n <= maxValue && (n >= minPlain || r.sent || r.areTelling()) && !r.areDates() {
		r.add(0, n)
	}
	for i := range r.words {
		w := &r.words[i]
		if n := w.end - w.start; !w.date && n <= maxValue && (w.digit && n >= minValue || n >= minLetter || r.sent && n >= minPlain) {
			r.add(w.start, w.end)
		}
		if !w.tied {
			r.findTied(i)
		}
		r.findJoined(i)
	}
}

// areTelling reports whether the words are unusual: one has a digit, or all of several have a
// capital.
func (r *reader) areTelling() bool {
	return slices.ContainsFunc(r.words, func(w word) bool { return w.digit }) ||
		len(r.words) > 1 && !slices.ContainsFunc(r.words, func(w word) bool { return !w.named })
}

// areDates reports whether there is nothing but dates and times.
func (r *reader) areDates() bool {
	return !slices.ContainsFunc(r.words, func(w word) bool { return !w.date })
}

// findTied finds the value of word i and the words that are tied to it, such as a mail address.
func (r *reader) findTied(i int) {
	w := r.words[i]
	digit, at, j := w.digit, false, i+1
	for ; j < len(r.words) && r.words[j].tied; j++ {
		digit, at = digit || r.words[j].digit, at || r.words[j].at
	}
	end := r.words[j-1].end
	if n := end - w.start; j > i+1 && n <= maxValue && !w.date && ((digit || at) && n >= minValue || n >= minLetter) {
		r.add(w.start, end)
	}
}

// findJoined finds the values of word i and the next ones. In a returned text they are names: words
// that begin with capitals, or digits. In a sent text any words can be a value, with other
// separators.
func (r *reader) findJoined(i int) {
	first := &r.words[i]
	for j := i + 1; j < len(r.words) && j < i+maxWords && !first.date; j++ {
		w := &r.words[j]
		n := w.end - first.start
		if w.date || n > maxValue || !r.sent && !(first.named && w.named && w.spaced) {
			return
		}
		if n >= minValue {
			r.add(first.start, w.end)
		}
	}
}

// findNumbers finds numbers of several digits, also in groups, but no dates and times.
func (r *reader) findNumbers(s string) {
	for i := 0; i < len(s); {
		if !isDigit(s[i]) {
			i++
			continue
		}
		r.digits = r.digits[:0]
		groups, start, end := 0, i, i
		for i < len(s) && isDigit(s[i]) {
			if n := dateLen(s[i:]); n > 0 {
				if groups == 0 {
					i += n
				}
				break
			}
			from, begin := len(r.digits), i
			for ; i < len(s) && isDigit(s[i]); i++ {
				r.digits = append(r.digits, s[i])
			}
			groups++
			end = i
			if n := len(r.digits) - from; n >= minDigits && n <= maxNumber {
				r.addNumber(r.digits[from:], begin, i)
			}
			next := i // where another group may begin
			for next < len(s) && next < i+2 && (s[next] == ' ' || s[next] == '-' || s[next] == '.' || s[next] == '/' || s[next] == '(' || s[next] == ')') {
				next++
			}
			if next < len(s) && isDigit(s[next]) {
				i = next
			}
		}
		if n := len(r.digits); groups > 1 && n >= minJoined && n <= maxNumber {
			r.addNumber(r.digits, start, end)
		}
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// addNumber adds a number that stands in the text from start to end.
func (r *reader) addNumber(b []byte, start, end int) {
	if r.collects {
		r.collect(b, start, end)
	} else {
		r.look(b)
	}
}

// findPassages finds the passages of the text.
func (r *reader) findPassages() {
	if r.collects {
		r.passages = r.passages || len(r.folded) >= passage
	} else if !r.passages {
		return
	}
	for i := range len(r.folded) - passage + 1 {
		r.add(i, i+passage)
	}
}
