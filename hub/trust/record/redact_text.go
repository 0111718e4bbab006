package record

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// patterns are what looks like a secret in a text: of the submatches the last one that there is, if there is
// one. An expression is tried only on texts that hold one of the words, because it takes long.
var patterns = []struct {
	of     []string // in lower case
	re     *regexp.Regexp
	secret func(string) bool
}{
	{[]string{"private key"}, regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\z)`), always},
	{[]string{"cookie:", "authorization:"}, regexp.MustCompile(`(?i)\b(?:(?:set-)?cookie:|authorization:[ \t]*(?:[a-z]+[ \t])?)[ \t]*([^\r\n]+)`), always},
	{[]string{"://"}, regexp.MustCompile(`://[^\s/:@]*:([^\s/@]+)@`), always},
	{
		[]string{"code=", "sig", "auth=", "session", "sid=", "jwt=", "key=", "ticket=", "otp=", "magic=", "invite=", "nonce="},
		regexp.MustCompile(`(?i)[?&#](?:code|sig|(?:x-amz-)?signature|auth|session(?:_?id)?|sid|jwt|key|ticket|otp|magic|invite|nonce)=([^\s&#"'<>]+)`), always,
	},
	{[]string{"?", "&", "#"}, regexp.MustCompile(`[?&#][a-z]=([\w.~+-]{16,})`), isRandom},
	{
		[]string{"eyj", "gh", "glpat-", "xox", "sk-", "k_live_", "akia", "asia", "aiza", "tba_", "tbh_", "tbr_", "npm_", "pypi-", "hf_"},
		regexp.MustCompile(`\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*|\b(?:gh[pousr]_|github_pat_|glpat-|xox[a-z]-|sk-|[rs]k_live_|AKIA|ASIA|AIza|tb[ahr]_|npm_|pypi-|hf_)[\w-]{12,}`), always,
	},
	{[]string{"bearer"}, regexp.MustCompile(`(?i)\bbearer[ \t]+([\w.~+/=-]{8,})`), always},
	{[]string{"basic"}, regexp.MustCompile(`(?i)\bbasic[ \t]+([\w.~+/=-]{8,})`), isEncoded},
	{
		[]string{"phrase", "mnemonic"},
		regexp.MustCompile(`(?i)(?:(?:pass|seed|recovery) ?phrase|mnemonic)[\\"'*]*\s*(?:[:=]+|\bis\b:?)\s*([^\r\n"<>]*[^\s"<>])`), always,
	},
	{ // to the end of its line: it may be a sentence
		[]string{"passw", "passcode", "kennwort", "contrase"},
		regexp.MustCompile(`(?i)(?:passw(?:or)?[dt]|passcode|kennwort|contraseña)[ \t]*:[ \t]*([^\s"'<>\[][^\r\n<>]*)`), always,
	},
	{[]string{"passw", "passcode", "pin"}, regexp.MustCompile(`(?i)(?:passw(?:or)?[dt]|passcode|\bpin)[ \t]+([^\s"'<>]*[^\s"'<>.,;:!?)])`), hasDigit},
	{
		[]string{"pass", "secret", "token", "key", "pwd", "pin", "otp", "cvv", "cvc", "kennwort", "contrase"},
		regexp.MustCompile(`(?i)(?:passw(?:or)?[dt]|passcode|kennwort|contraseña|secret|token|api[ _-]?key|access[ _-]?key|\bpwd|\bpass|\bpin|\botp|\bcv[vc]2?)[\\"'*]*\s*` +
			`(?:(?:-?[:=>]|%3[ad])+|\bis\b:?|\bist\b:?)\s*(?:\\*"([^"\r\n]+?)\\*"|'([^'\r\n]+)'|([^\s"'<>&]*[^\s"'<>&.,;:!?)\]]))`), always,
	},
	{
		[]string{"pass", "secret", "token", "credential", "key"},
		regexp.MustCompile(`(?i)(?:passw(?:or)?d|passphrase|secret|token|credential|key)\W{1,3}([\w+/=.-]{16,})`), isRandom,
	},
	{[]string{"password"}, regexp.MustCompile(`(?i)\btype=\\*["']?password\b[^<>]*?\bvalue=\\*(?:"([^"\\]+)|'([^'\\]+)|([^\s"'<>\\]+))`), always},
	{[]string{"password"}, regexp.MustCompile(`(?i)\bvalue=\\*(?:"([^"\\]+)|'([^'\\]+)|([^\s"'<>\\]+))[^<>]*\btype=\\*["']?password\b`), always},
	{[]string{"code"}, regexp.MustCompile(`(?i)\b(?:verification|security|log-?in|sign-?in|one-?time|access|sms|authentication|confirmation|2fa|your|ihr|dein)[ -]code\b(?: (?:is|ist|lautet))?[:\s]*(\d{4,8}|\d{3}[ -]\d{3})\b`), always},
	{[]string{"code"}, regexp.MustCompile(`(?i)\b(\d{4,8}|\d{3}[ -]\d{3}) (?:is|ist) (?:your|ihr|dein)\b[^.\r\n]{0,40}\bcode\b`), always},
	{[]string{"-"}, regexp.MustCompile(`\b\d{3}-\d{2}-\d{4}\b`), always}, // a number of the US social security
}

// redactText cuts secrets out of a text.
func redactText(s string) string {
	if t := strings.TrimSpace(s); len(t) > 1 && (t[0] == '{' || t[0] == '[') && rawjson.Valid([]byte(t), spec.MaxDepth) == nil {
		return string(redact("", json.RawMessage(t)))
	}
	lower := strings.ToLower(s)
	for i := range patterns {
		p := &patterns[i]
		if slices.ContainsFunc(p.of, func(word string) bool { return strings.Contains(lower, word) }) {
			s = cutMatches(p.re, s, p.secret)
		}
	}
	return cutCards(s)
}

// redactAddress cuts secrets out of the address of a page.
func redactAddress(url string) string {
	if !strings.ContainsAny(url, "?#@") {
		return url
	}
	return redactText(url)
}

func always(string) bool { return true }

// cutMatches replaces what re finds, as far as it is a secret.
func cutMatches(re *regexp.Regexp, s string, secret func(string) bool) string {
	var b strings.Builder
	end := 0
	for _, at := range re.FindAllStringSubmatchIndex(s, -1) {
		for at[len(at)-2] < 0 {
			at = at[:len(at)-2]
		}
		from, to := at[len(at)-2], at[len(at)-1]
		if secret(s[from:to]) && !strings.HasPrefix(s[from:], cut) {
			b.WriteString(s[end:from])
			b.WriteString(cut)
			end = to
		}
	}
	if end == 0 {
		return s
	}
	b.WriteString(s[end:])
	return b.String()
}

// isRandom reports whether s was drawn, not written: by its entropy, of which words and
// dates have less.
func isRandom(s string) bool {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits >= 3.5 && strings.ContainsAny(s, "0123456789")
}

// hasDigit reports whether s is rather a password than the word that follows one.
func hasDigit(s string) bool { return len(s) >= 4 && strings.ContainsAny(s, "0123456789") }

// isEncoded reports whether s is not a word.
func isEncoded(s string) bool {
	return strings.ContainsAny(s, "0123456789=+/") || strings.ToLower(s[1:]) != s[1:]
}

// digits are at least as many as the number of a card has, in groups or not.
var (
	digits = regexp.MustCompile(`\b\d(?:[ \t._\x{a0}\x{202f}\x{2010}-\x{2015}-]?\d){13,}`)
	group  = regexp.MustCompile(`\d+`)
)

// cutCards replaces the numbers of payment cards.
func cutCards(s string) string {
	if len(s) < 14 || !strings.ContainsAny(s, "23456") {
		return s
	}
	return digits.ReplaceAllStringFunc(s, func(run string) string {
		var b strings.Builder
		end := 0
		groups := group.FindAllStringIndex(run, -1)
		for i := 0; i < len(groups); i++ {
			from, n := groups[i][0], 0
			for j := i; j < len(groups) && n <= 19; j++ { // what follows it may be when it expires
				if n += groups[j][1] - groups[j][0]; n >= 14 && isCard(run[from:groups[j][1]]) {
					b.WriteString(run[end:from])
					b.WriteString(cut)
					i, end = j, groups[j][1]
					break
				}
			}
		}
		return b.String() + run[end:]
	})
}

// holdsCard reports whether a number of JSON is that of a card.
func holdsCard(number string) bool {
	if f, err := strconv.ParseFloat(number, 64); err == nil && strings.ContainsAny(number, ".eE") && f < 1e19 {
		number = strconv.FormatFloat(math.Trunc(f), 'f', 0, 64)
	}
	return isCard(number)
}

// isCard reports whether s is the number of a payment card, by how those begin, their length and their check
// digit.
func isCard(s string) bool {
	number := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
	n := len(number)
	if n < 14 || n > 19 {
		return false
	}
	switch number[:1] {
	case "4":
		if n != 16 && n != 19 {
			return false
		}
	case "2", "5":
		if n != 16 {
			return false
		}
	case "3":
		if american := number[1] == '4' || number[1] == '7'; american != (n == 15) {
			return false
		}
	case "6":
		if n < 16 {
			return false
		}
	default:
		return false
	}
	sum := 0
	for i := range n {
		d := int(number[n-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
