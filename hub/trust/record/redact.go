package record

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// cut stands where a secret was.
const cut = "[cut]"

// redact returns v, arguments or a result, without the secrets that it can be told of: what
// stands under the name of one, and what looks like one. Others stay.
func redact(v json.RawMessage) json.RawMessage {
	switch {
	case v == nil:
		return nil
	case rawjson.Valid(v, spec.MaxDepth) != nil:
		return tooLarge(v)
	}
	return appendRedacted(make([]byte, 0, len(v)), rawjson.Compact(nil, v))
}

func appendRedacted(dst, v []byte) []byte {
	switch v[0] {
	case '{':
		dst = append(dst, '{')
		secret := isField(v)
		for name, value := range rawjson.Members(v) {
			dst = rawjson.AppendKey(dst, name)
			if namesSecret(name) || secret && holdsValue(name) || isCode(name, value) {
				dst = rawjson.AppendString(dst, cut)
			} else {
				dst = appendRedacted(dst, value)
			}
		}
		return append(dst, '}')
	case '[':
		if name, ok := pairOfSecret(v); ok {
			return append(rawjson.AppendString(append(rawjson.AppendString(append(dst, '['), name), ','), cut), ']')
		}
		dst = append(dst, '[')
		for value := range rawjson.Elements(v) {
			if dst[len(dst)-1] != '[' {
				dst = append(dst, ',')
			}
			dst = appendRedacted(dst, value)
		}
		return append(dst, ']')
	case '"':
		s, _ := rawjson.String(v)
		return rawjson.AppendString(dst, redactText(s))
	}
	if s := string(v); redactText(s) != s { // the number of a card
		return rawjson.AppendString(dst, cut)
	}
	return append(dst, v...)
}

// isField reports whether an object is a field of a form that is for a secret, such as
// {"name": "password", "value": …}.
func isField(v []byte) bool {
	for _, by := range []string{"name", "key", "field", "id", "label", "type", "selector", "ref", "element", "target", "placeholder", "autocomplete"} {
		if s, ok := rawjson.String(rawjson.Get(v, by)); ok && namesSecret(s) {
			return true
		}
	}
	return false
}

// holdsValue reports whether a member of that name is what such a field holds.
func holdsValue(name string) bool {
	switch strings.ToLower(name) {
	case "value", "text", "content", "input", "answer":
		return true
	}
	return false
}

// pairOfSecret returns the name of a secret if v is a pair of that and the secret.
func pairOfSecret(v []byte) (name string, ok bool) {
	n := 0
	for value := range rawjson.Elements(v) {
		if n++; n == 1 {
			name, ok = rawjson.String(value)
		}
	}
	return name, ok && n == 2 && namesSecret(name)
}

// isCode reports whether a member is a code of digits such as one that is sent to a phone.
func isCode(name string, value []byte) bool {
	s, ok := rawjson.String(value)
	return ok && len(s) >= 4 && len(s) <= 8 && strings.Trim(s, "0123456789") == "" && strings.EqualFold(name, "code")
}

var (
	// secretParts are in names of secrets, whatever is around them.
	secretParts = []string{
		"password", "passwd", "passphrase", "passcode", "secret", "token", "authorization", "cookie", "credential",
		"apikey", "accesskey", "privatekey", "cardnumber", "creditcard", "securitycode", "verificationcode", "onetimecode",
		"sessionid", "recoveryphrase", "seedphrase", "mnemonic",
		"passwort", "kennwort", "motdepasse", "contraseña", "contrasena", "senha", "wachtwoord", "hasło", "haslo", "пароль", "密码", "密碼", "パスワード", "비밀번호",
	}
	// secretWords are words of such names.
	secretWords = map[string]bool{
		"pass": true, "pwd": true, "pin": true, "otp": true, "totp": true, "cvv": true, "cvv2": true, "cvc": true, "cvc2": true, "csc": true, "sid": true,
		"card": true, "jwt": true, "bearer": true, "auth": true, "ssn": true, "pan": true,
	}
)

// namesSecret reports whether what has that name is a secret.
func namesSecret(name string) bool {
	var joined strings.Builder
	for _, word := range words(name) {
		if secretWords[word] {
			return true
		}
		joined.WriteString(word)
	}
	for _, part := range secretParts {
		if strings.Contains(joined.String(), part) {
			return true
		}
	}
	return false
}

// words splits a name such as apiKey, api_key or API-Key, into lower case.
func words(name string) []string {
	var spaced strings.Builder
	lower := false
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) || lower && unicode.IsUpper(r) {
			spaced.WriteByte(' ')
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			spaced.WriteRune(unicode.ToLower(r))
		}
		lower = unicode.IsLower(r)
	}
	return strings.Fields(spaced.String())
}

// patterns are what looks like a secret: of the submatches the last one, if there is one. An
// expression is tried only on texts that hold one of the words, because it takes long.
var patterns = []struct {
	of     []string // in lower case
	re     *regexp.Regexp
	secret func(string) bool
}{
	{[]string{"private key"}, regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`), always},
	{[]string{"cookie:"}, regexp.MustCompile(`(?i)\b(?:set-)?cookie:[ \t]*([^\r\n]+)`), always},
	{
		[]string{"eyj", "gh", "glpat-", "xox", "sk-", "k_live_", "akia", "asia", "aiza", "tba_", "tbh_", "tbr_"},
		regexp.MustCompile(`\beyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*|\b(?:gh[pousr]_|github_pat_|glpat-|xox[a-z]-|sk-|[rs]k_live_|AKIA|ASIA|AIza|tb[ahr]_)[\w-]{12,}`), always,
	},
	{[]string{"bearer", "basic"}, regexp.MustCompile(`(?i)\b(?:bearer|basic)[ \t]+([\w.~+/=-]{8,})`), always},
	{
		[]string{"pass", "secret", "token", "key", "pwd", "pin", "otp", "cvv", "cvc"},
		regexp.MustCompile(`(?i)(?:passw(?:or)?d|passphrase|passcode|secret|token|api[ _-]?key|access[ _-]?key|\bpwd|\bpin|\botp|\bcv[vc])["']?[ \t]*(?:[:=]|\bis\b)[ \t]*["']?([^\s"',;&<>]+)`), always,
	},
	{
		[]string{"pass", "secret", "token", "credential", "key"},
		regexp.MustCompile(`(?i)(?:passw(?:or)?d|passphrase|secret|token|credential|key)\W{1,3}([\w+/=.-]{16,})`), isRandom,
	},
	{[]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, regexp.MustCompile(`\b\d(?:[ .\x{a0}\x{202f}-]?\d){12,18}\b`), isCard},
}

// redactText cuts secrets out of a text.
func redactText(s string) string {
	if len(s) > 1 && (s[0] == '{' || s[0] == '[') && rawjson.Valid([]byte(s), spec.MaxDepth) == nil {
		return string(redact(json.RawMessage(s)))
	}
	lower := strings.ToLower(s)
	for i := range patterns {
		p := &patterns[i]
		if slices.ContainsFunc(p.of, func(word string) bool { return strings.Contains(lower, word) }) {
			s = cutMatches(p.re, s, p.secret)
		}
	}
	return s
}

func always(string) bool { return true }

// cutMatches replaces what re finds, as far as it is a secret.
func cutMatches(re *regexp.Regexp, s string, secret func(string) bool) string {
	var b strings.Builder
	end := 0
	for _, at := range re.FindAllStringSubmatchIndex(s, -1) {
		from, to := at[len(at)-2], at[len(at)-1]
		if secret(s[from:to]) {
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

// isCard reports whether s is the number of a payment card, by its check digit.
func isCard(s string) bool {
	sum, double := 0, false
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] < '0' || s[i] > '9' {
			continue
		}
		d := int(s[i] - '0')
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		double = !double
	}
	return sum%10 == 0 && sum > 0
}
