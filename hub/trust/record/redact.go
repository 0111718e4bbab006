package record

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"tabhub/spec"
	"tabhub/spec/rawjson"
)

// cut stands where a secret was.
const cut = "[cut]"

// redact returns v, the arguments or the result of a tool, or nil if it is no JSON, without the secrets that it can be told of: what
// stands under the name of one, what a tool that is named for one is given, and what looks like one. Others
// stay, so that the record says what was ordered, for how much and where: an IBAN is none.
func redact(tool string, v json.RawMessage) json.RawMessage {
	if v == nil || rawjson.Valid(v, spec.MaxDepth) != nil {
		return nil
	}
	return appendRedacted(make([]byte, 0, len(v)), rawjson.Compact(nil, v), isFor(tool))
}

// appendRedacted appends v. forSecret reports that v's members hold a secret, such as the field of a form.
func appendRedacted(dst, v []byte, forSecret bool) []byte {
	switch v[0] {
	case '{':
		dst = append(dst, '{')
		located, labelled := isField(v)
		forSecret = forSecret || located || labelled
		heads, at := secretColumns(v)
		for name, value := range rawjson.Members(v) {
			dst = rawjson.AppendKey(dst, name)
			switch {
			case namesSecret(name), forSecret && holdsValue(name), located && !describes(name, value), isCode(name, value), isLogin(name, value):
				dst = rawjson.AppendString(dst, cut)
			case at != nil && value[0] == '[' && name != heads:
				dst = appendColumns(dst, value, at)
			default:
				dst = appendRedacted(dst, value, false)
			}
		}
		return append(dst, '}')
	case '[':
		if name, ok := pairOfSecret(v); ok {
			return append(rawjson.AppendString(append(rawjson.AppendString(append(dst, '['), name), ','), cut), ']')
		}
		if isCard(digitsOf(v)) {
			return rawjson.AppendString(dst, cut)
		}
		dst = append(dst, '[')
		for value := range rawjson.Elements(v) {
			if dst[len(dst)-1] != '[' {
				dst = append(dst, ',')
			}
			dst = appendRedacted(dst, value, false)
		}
		return append(dst, ']')
	case '"':
		s, _ := rawjson.String(v)
		return rawjson.AppendString(dst, redactText(s))
	}
	if holdsCard(string(v)) {
		return rawjson.AppendString(dst, cut)
	}
	return append(dst, v...)
}

// What an object may say about the field of a form that it is for.
var (
	locators = []string{"selector", "locator", "css", "xpath", "ref", "element", "placeholder", "autocomplete", "path", "pointer", "field", "control", "node"}
	labels   = []string{"name", "key", "k", "id", "label", "target", "property", "question"} // and maybe of a product
)

// isField reports whether an object is a field of a form that is for a secret, such as
// {"name": "password", "value": …}: located, if it says so where only fields are named.
func isField(v []byte) (located, labelled bool) {
	for name, value := range rawjson.Members(v) {
		if value[0] == '{' && name == "target" { // an element, by role and name, or label
			of, named := isField(value)
			labelled = labelled || of || named
		}
		if value[0] != '"' {
			continue
		}
		s, _ := rawjson.String(value)
		switch {
		case slices.Contains(locators, name):
			located = located || isFor(s)
		case slices.Contains(labels, name):
			labelled = labelled || isFor(s)
		case name == "type":
			labelled = labelled || strings.EqualFold(s, "password")
		}
	}
	return located, labelled
}

// describes reports whether a member says what is to be done, and in which field, and not what is put there.
func describes(name string, value []byte) bool {
	switch {
	case value[0] == 't', value[0] == 'f', value[0] == 'n':
		return true
	case slices.Contains(locators, name), slices.Contains(labels, name):
		return true
	}
	return slices.Contains([]string{"op", "action", "method", "type", "kind", "role", "tabId", "browserId"}, name)
}

// isFor is namesSecret for what may also be named for a card of another kind, or a coin.
func isFor(name string) bool {
	switch joined := strings.Join(words(name), ""); {
	case strings.Contains(joined, "cardnumber"), strings.Contains(joined, "creditcard"):
		return true
	case strings.HasSuffix(joined, "card"), joined == "token", joined == "pan":
		return false
	}
	return namesSecret(name)
}

// holdsValue reports whether a member of that name is what such a field holds.
func holdsValue(name string) bool {
	switch strings.Join(words(name), "") {
	case "value", "val", "newvalue", "values", "v", "text", "content", "input", "answer", "data", "string", "chars", "keys", "digits", "to", "fill", "typed":
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

// secretColumns returns the member of an object that names columns, and which of these are for secrets, such
// as in {"fields": ["user", "password"], "values": ["ann", …]}. Without one, at is nil.
func secretColumns(v []byte) (heads string, at map[int]bool) {
	for name, value := range rawjson.Members(v) {
		if value[0] != '[' {
			continue
		}
		i := 0
		for head := range rawjson.Elements(value) {
			if s, ok := rawjson.String(head); ok && isFor(s) {
				if at == nil {
					at = map[int]bool{}
				}
				at[i] = true
			}
			i++
		}
		if at != nil {
			return name, at
		}
	}
	return "", nil
}

// appendColumns appends a row, or rows, without some columns.
func appendColumns(dst, row []byte, without map[int]bool) []byte {
	dst = append(dst, '[')
	i := 0
	for value := range rawjson.Elements(row) {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch {
		case value[0] == '[':
			dst = appendColumns(dst, value, without)
		case without[i]:
			dst = rawjson.AppendString(dst, cut)
		default:
			dst = appendRedacted(dst, value, false)
		}
		i++
	}
	return append(dst, ']')
}

// digitsOf returns the digits of a number that is given in an array of them, or of groups of them; "" if an
// array is none.
func digitsOf(v []byte) string {
	var all strings.Builder
	for value := range rawjson.Elements(v) {
		digits := strings.Trim(string(value), `"`)
		if !isDigits(digits) || value[0] != '"' && len(digits) > 1 || all.Len() > 19 {
			return ""
		}
		all.WriteString(digits)
	}
	return all.String()
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isCode reports whether a member is a code such as one that is sent to a phone: of digits, or of digits
// with letters behind them. That of a place, a product or an error is none.
func isCode(name string, value []byte) bool {
	text := strings.Trim(string(value), `"`)
	parts := words(name)
	if len(text) < 4 || len(text) > 8 || len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	if last == "verification" {
		return isDigits(text)
	}
	if last != "code" || len(parts) > 1 && plainCodes[parts[len(parts)-2]] {
		return false
	}
	return isDigits(text) || mixed.MatchString(text)
}

var (
	mixed      = regexp.MustCompile(`^[A-Z0-9]*[0-9][A-Z][A-Z0-9]*$`)
	plainCodes = map[string]bool{
		"postal": true, "post": true, "zip": true, "area": true, "country": true, "product": true, "item": true, "article": true, "promo": true,
		"coupon": true, "discount": true, "bank": true, "sort": true, "branch": true, "error": true, "status": true, "currency": true, "dial": true,
		"color": true, "colour": true, "tax": true, "airport": true, "station": true, "language": true,
	}
)

// isLogin reports whether a member is a name and a password in one.
func isLogin(name string, value []byte) bool {
	switch strings.Join(words(name), "") {
	case "login", "user", "username", "account":
		s, _ := rawjson.String(value)
		user, password, _ := strings.Cut(s, ":")
		return user != "" && len(password) >= 4 && !strings.ContainsAny(s, " /")
	}
	return false
}

var (
	// secretParts are in names of secrets, whatever is around them.
	secretParts = []string{
		"password", "passwd", "passwrd", "passphrase", "passcode", "secret", "token", "authorization", "cookie", "credential",
		"apikey", "accesskey", "privatekey", "cardnumber", "creditcard", "securitycode", "verificationcode", "onetimecode",
		"licensekey", "licencekey", "serialkey", "signingkey", "encryptionkey", "sshkey", "ccnumber", "pincode", "otpcode", "cvvcode", "userpass", "dbpass", "sessionid",
		"smscode", "accesscode", "logincode", "signincode", "backupcode", "recoverycode", "recoverykey", "twofactor", "2fa",
		"recoveryphrase", "seedphrase", "mnemonic", "securityanswer", "maidenname", "memorableword",
		"passwort", "kennwort", "geheimzahl", "prüfziffer", "pruefziffer", "sicherheitscode", "motdepasse", "contraseña", "contrasena",
		"senha", "wachtwoord", "hasło", "haslo", "lösenord", "losenord", "adgangskode", "passord", "salasana", "jelszó", "şifre",
		"пароль", "密码", "密碼", "验证码", "驗證碼", "パスワード", "暗証番号", "認証コード", "비밀번호", "인증번호",
	}
	// secretWords are words of such names.
	secretWords = map[string]bool{
		"pass": true, "pwd": true, "pw": true, "psw": true, "pin": true, "otp": true, "totp": true, "mfa": true, "tan": true,
		"cvv": true, "cvc": true, "csc": true, "sid": true, "clave": true, "heslo": true,
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

// words splits a name such as apiKey, api_key, API-Key, APIKey or key2 into words in lower case.
func words(name string) (all []string) {
	runes := []rune(name)
	start := 0
	end := func(i int) {
		if start < i {
			all = append(all, strings.ToLower(string(runes[start:i])))
		}
		start = i
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			end(i)
			start = i + 1
		case i == 0:
		case unicode.IsDigit(r) != unicode.IsDigit(runes[i-1]),
			unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end(i)
		}
	}
	end(len(runes))
	return all
}
