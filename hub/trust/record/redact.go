package record

import (
	"encoding/json"
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
		forSecret = forSecret || isField(v)
		for name, value := range rawjson.Members(v) {
			dst = rawjson.AppendKey(dst, name)
			if namesSecret(name) || forSecret && holdsValue(name) || isCode(name, value) {
				dst = rawjson.AppendString(dst, cut)
			} else {
				dst = appendRedacted(dst, value, false)
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

// isField reports whether an object is a field of a form that is for a secret, such as
// {"name": "password", "value": …}.
func isField(v []byte) bool {
	for _, by := range []string{"name", "key", "field", "id", "label", "selector", "ref", "element", "target", "placeholder", "autocomplete", "path", "property", "question"} {
		if s, ok := rawjson.String(rawjson.Get(v, by)); ok && isFor(s) {
			return true
		}
	}
	kind, _ := rawjson.String(rawjson.Get(v, "type"))
	return strings.EqualFold(kind, "password")
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
	case "value", "val", "newvalue", "text", "content", "input", "answer", "data", "string", "keys", "digits":
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
	digits := strings.Trim(string(value), `"`)
	if len(digits) < 4 || len(digits) > 8 || strings.Trim(digits, "0123456789") != "" {
		return false
	}
	joined := strings.Join(words(name), "")
	return joined == "code" || joined == "confirmationcode"
}

var (
	// secretParts are in names of secrets, whatever is around them.
	secretParts = []string{
		"password", "passwd", "passwrd", "passphrase", "passcode", "secret", "token", "authorization", "cookie", "credential",
		"apikey", "accesskey", "privatekey", "cardnumber", "creditcard", "securitycode", "verificationcode", "onetimecode",
		"ccnumber", "pincode", "otpcode", "cvvcode", "userpass", "dbpass", "sessionid",
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
