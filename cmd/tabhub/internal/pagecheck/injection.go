package pagecheck

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"tabhub/describe"
	"tabhub/spec/rawjson"
)

// suspicion is a way in which a text may speak to a model instead of describing something.
type suspicion struct {
	is   func() *regexp.Regexp
	what string
}

// lazily compiles a pattern when it is first used: at the start of the program all commands
// would wait for it.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// words is a pattern of which case and kinds of spaces do not matter.
func words(pattern string) func() *regexp.Regexp {
	return lazily(`(?ism)` + strings.ReplaceAll(pattern, " ", `\s+`))
}

// suspicions are about orders to the reader, not about topics: a shop may sell passwords
// managers and a tool may ignore case.
var suspicions = []suspicion{
	{words(`\b(ignore|disregard|forget|override|overrule|bypass)\b[^.\n]{0,30}\b(previous|prior|above|earlier|preceding|existing|system|your|developer|safety)\b[^.\n]{0,20}\b(instructions?|prompts?|rules|guidelines|directives|directions|constraints|training|policy|policies)\b`), "tells the reader to drop its instructions"},
	{words(`\b(ignoriere|vergiss|missachte)\b[^.\n]{0,40}\b(anweisungen|instruktionen|regeln)\b|\b(ignore[zr]?|oublie[zr]?)\b[^.\n]{0,20}\bles? [^.\n]{0,30}(instructions|consignes)\b|\b(ignora|olvida)\b[^.\n]{0,40}\binstrucciones\b`), "tells the reader to drop its instructions"},
	{lazily(`(忽略|无视|忘记)[^。\n]{0,12}(指令|指示|提示|规则)|(以前|これまで|前)の(指示|命令)を(無視|忘れ)`), "tells the reader to drop its instructions"},
	{words(`\b(new|updated|revised|real|actual|hidden|secret|system) (system )?(instructions?|prompts?|directives?)\s*:`), "gives instructions of its own"},
	{words(`<\|?/?(im_start|im_end|system|assistant|endoftext)\|?>|\[/?INST\]|<<SYS>>|</?(important|instructions?|secret|admin|hidden|critical)>|^\s*#{0,3} ?(system|assistant)( prompt)?\s*:`), "has marks that stand for another speaker"},
	{words(`\byou are (now|no longer) [^.\n]{0,30}\b(mode|assistant|agent|admin|administrator|model|dan|root|unrestricted|jailbroken)\b|\b(enter|enable|activate) (developer|debug|god|admin|jailbreak|unrestricted) mode\b[^.\n]{0,30}\b(assistant|model|agent|restrictions?)\b`), "gives the reader another role"},
	{words(`\b(do not|don't|don’t|never|must not|without)\b[^.\n]{0,20}\b(tell|telling|inform|informing|mention|mentioning|reveal|revealing|disclose|disclosing|alert|alerting)\b[^.\n]{0,40}\b(user|human|person)\b([^'’\w]|$)`), "keeps something from the user"},
	{words(`\b(hide|conceal|keep)\b[^.\n]{0,30}\b(secret |hidden )?from the (user|human|person|owner)\b([^'’\w]|$)|\bwithout the (user|human)(['’]s)? (noticing|knowledge|knowing|consent)\b`), "keeps something from the user"},
	{words(`\b(do not|don't|don’t|never|no need to|without)\b[^.\n]{0,12}\bask(ing)?\b[^.\n]{0,20}\b(confirmation|permission|approval|consent)\b|\b(user|owner) (has|have) already (approved|authori[sz]ed|confirmed|consented|agreed|given)\b|\b(bypass|disable|circumvent)\b[^.\n]{0,20}\b(safety|approval|consent|permission|security)\b[^.\n]{0,12}\b(checks?|prompts?|dialogs?|filters?|confirmations?)\b`), "does away with the user's consent"},
	{words(`\b(always|only|must)\b[^.\n]{0,20}\b(use|call|prefer|choose)\b[^.\n]{0,20}\bthis tool\b[^.\n]{0,30}\b(instead of|over|rather than|before)\b[^.\n]{0,15}\b(any|all|every|other)\b|\b(do not|don't|don’t|never)\b[^.\n]{0,8}\b(use|call|invoke)\b[^.\n]{0,8}\b(any )?other (tools?|servers?|sites?)\b`), "keeps the reader from other tools"},
	{words(`\b(send|sends?|forward|post|upload|transmit|exfiltrate|leak|include|append|attach|pass|copy|embed|put|provide|give)\b[^.\n]{0,50}\b(conversation history|chat history|(full|whole|entire) conversation|system prompt|previous messages|(contents? of )?(other|all open) tabs|environment variables|(user|owner)['’]s? (passwords?|credentials|cookies|(session|access|auth) tokens?|secrets|api keys?|private keys?))\b`), "asks for what is not the page's"},
	{words(`~/\.(ssh|aws|config|gnupg)\b|\bid_(rsa|ed25519)\b|/etc/(passwd|shadow)\b|(\s|/)\.env\b[^.\n]{0,30}\b(file|contents?|read|send)\b|\b(read|open|cat|send|upload)\b[^.\n]{0,30}\s\.env\b`), "asks for what is not the page's"},
	{words(`!\[[^\]]*\]\(https?://[^)\s]*[?&=/][^)\s]*[{<$\[]|https?://[^\s"']*[?&]\w+=(\{|<|\$\{?|\[|%7b)\W*(the_?|your_?|full_?)*(conversation|history|chat|secret|password|token|cookie|context|prompt|messages?|summary|credentials?)|<img\b[^>]*\bsrc\s*=\s*["']?https?://|javascript:\s*[\w(]|<script\b[^>]*>\s*\S`), "has an address that carries data away, or a script"},
	{words(`<!--(?:[^-]|-[^-])*?\w+\s+\w+\s+\w+`), "has a comment that a person does not see"},
	{lazily(`(?:^|[^A-Za-z0-9+/=,])[A-Za-z0-9+/]{100,}={0,2}(?:$|[^A-Za-z0-9+/=])`), "has a long block in base64, which a person cannot read"},
}

// orders matches an order to call another tool, whose name is the last group.
var orders = lazily("(?is:\\b(?:must|always|first|before|then|also|immediately|instead|afterwards|once done|after that)\\b[^.\\n]{0,60}?\\b(?:call|invoke|execute|run|use)\\s+(?:the )?(?:tool |function )?[`'\"“]?)([a-z][a-z0-9]*(?:[_-][a-z0-9]+)+|[a-z]+[A-Z][A-Za-z]+)")

// suspect returns what in a text speaks to a model, "" if nothing does. offered are the names
// that the page's texts may speak of.
func suspect(text string, offered []string) (what, part string) {
	for _, s := range suspicions {
		if found := s.is().FindString(text); found != "" {
			if s.what == suspicions[len(suspicions)-1].what && !isMixed(found) {
				continue
			}
			return s.what, found
		}
	}
	for _, m := range orders().FindAllStringSubmatch(text, -1) {
		if !slices.Contains(offered, m[1]) {
			return fmt.Sprintf("tells the reader to call %s, which the page does not offer", m[1]), m[0]
		}
	}
	return "", ""
}

// isMixed tells base64 from a long word or number.
func isMixed(s string) bool {
	return strings.ContainsAny(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ContainsAny(s, "abcdefghijklmnopqrstuvwxyz") && strings.ContainsAny(s, "0123456789")
}

// maxFound is how many texts of one item are reported.
const maxFound = 5

// inspect looks at all texts of an item as its page gave it: of its names, descriptions,
// schemas and their values.
func inspect(r *report, registered json.RawMessage, offered []string) {
	found := 0
	eachText(registered, "", func(path, text string) {
		if found >= maxFound {
			return
		}
		if c, ok := describe.Forbidden(text); ok {
			found++
			r.add(Warning, HiddenCharacters, "remove it: people do not see it, and models read it", "%s holds the character %U, which cannot be seen", path, c)
		}
		if what, part := suspect(text, offered); what != "" {
			found++
			r.add(Warning, Injection, "describe what the tool does; do not speak to the model", "%s %s: %q", path, what, cut(part, 120))
		}
	})
}

// eachText gives the strings of JSON, and the names of its members, with where they are.
func eachText(v json.RawMessage, path string, f func(path, text string)) {
	if len(v) == 0 {
		return
	}
	switch v[0] {
	case '"':
		if s, ok := rawjson.String(v); ok {
			f(path, s)
		}
	case '{':
		for key, v := range rawjson.Members(v) {
			f("a name in "+orItself(path), key)
			eachText(v, below(path, key), f)
		}
	case '[':
		i := 0
		for v := range rawjson.Elements(v) {
			eachText(v, below(path, fmt.Sprint(i)), f)
			i++
		}
	}
}

func below(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func orItself(path string) string {
	if path == "" {
		return "it"
	}
	return path
}

// cut returns a text of at most n characters in one line.
func cut(text string, n int) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}
