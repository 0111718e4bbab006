package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"tabhub/spec/rawjson"
)

// steering attacks a terminal or its reader: it sets the clipboard, clears the screen in two
// ways, reverses text and contains invisible text.
const steering = "\x1b]52;c;ZXZpbA==\a\x1b[2J\u009b2J\u202e\u2066\U000e0041\x7f"

// steers reports whether text for a terminal holds what must not get there.
func steers(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar)
}

// The commands print texts of untrusted pages: none of it may reach the terminal as a command,
// in text or in JSON.
func TestPagesCannotSteerATerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.serve()
	text, _ := json.Marshal(steering)
	result := fmt.Sprintf(`{"content":[{"type":"text","text":%s},{"type":"image","data":"AAAA","mimeType":%[1]s},{"type":"resource","resource":{"uri":%[1]s,"text":%[1]s}},{"type":"resource_link","uri":%[1]s,"name":"n"},{"type":%[1]s}]}`, text)
	x := p.open(&tab{key: "one", tools: `[{"name":"t"}]`, run: func(tool string, _ json.RawMessage) string {
		switch tool {
		case "rows":
			return fmt.Sprintf(`{"content":[],"structuredContent":{"a":%s}}`, text)
		case "fails":
			return fmt.Sprintf(`{"content":[{"type":"text","text":%s}],"isError":true}`, text)
		}
		return result
	}})
	const none = `"inputSchema":{"type":"object"}`
	a := x.ask(`"q"`, fmt.Sprintf(`{"jsonrpc":"2.0","id":"q","method":"browser/registerTools","params":{"title":%s,"tabUrl":%s,"tools":[{"name":"t","title":%[1]s,"description":%[1]s,%[3]s},{"name":"rows",%[3]s},{"name":"fails",%[3]s},{"name":%[1]s},{"name":"bad","inputSchema":{"type":%[1]s}}]}}`,
		text, rawjson.AppendString(nil, tabOrigin+"/"+steering), none))
	if a.err != nil || strings.Count(string(a.result), `"reason"`) != 2 {
		t.Fatalf("registered %s%s", a.result, a.err)
	}
	x.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"browser/tabState","params":{"url":%s,"title":%s}}`, rawjson.AppendString(nil, tabOrigin+"/"+steering), text))
	const name = "website_tool_shop_localhost_8000_"
	for _, c := range []struct {
		args string
		want string // in the text, as it may be shown
	}{
		{"call " + name + "t", `\x1b]52;c;ZXZpbA==\a\x1b[2J\u009b2J\u202e\u2066\U000e0041\x7f`},
		{"call " + name + "rows", `{"a":"\u001b]52;c;ZXZpbA==\u0007\u001b[2J\u009b2J\u202e\u2066\U000e0041\x7f"}`},
		{"call " + name + "fails", `\x1b[2J`},
		{"call " + steering, ""},
		{"explain " + name + "t", "shop.localhost:8000"},
		{"explain " + steering, ""},
		{"tabs", "shop.localhost:8000"},
		{"tools", name + "t"},
		{"tools --cost", name + "t"},
		{"log", "rows"},
		{"log tool=" + steering, ""},
		{"site", ""},
		{"site " + steering, ""},
		{"site --cache " + steering + " shop.localhost:8000", ""},
		{"status", "running"},
		{"doctor", "port"},
		{steering, ""},
		{"tabs --" + steering, ""},
	} {
		args := strings.Split(c.args, " ")
		if strings.HasPrefix(c.args, "status") {
			c.want = p.url()
		}
		stdout, stderr, _ := p.run(args...)
		if i := strings.IndexFunc(stdout+stderr, steers); i >= 0 {
			t.Errorf("%+q prints %+q", c.args, (stdout + stderr)[i:min(len(stdout+stderr), i+40)])
		}
		if !strings.Contains(stdout, strings.TrimPrefix(c.want, "http://")) || stdout+stderr == "" {
			t.Errorf("%+q prints\n%s%s\nwant something with %s", c.args, stdout, stderr, c.want)
		}
		if strings.Contains(c.args, "--") || c.want == "" {
			continue
		}
		stdout, stderr, _ = p.run(append(args, "--json")...)
		invalid := func(line string) bool { return rawjson.Valid([]byte(line), 100) != nil }
		lines := []string{stdout}
		if args[0] == "log" {
			lines = strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
		}
		if strings.ContainsFunc(stdout+stderr, steers) || slices.ContainsFunc(lines, invalid) {
			t.Errorf("%+q --json prints %+q", c.args, stdout+stderr)
		}
		if c.args == "call "+name+"t" && firstText(stdout) != steering {
			t.Errorf("the JSON of the result means %+q", firstText(stdout))
		}
	}
}

// firstText returns the first text of a result.
func firstText(result string) string {
	for block := range rawjson.Elements(rawjson.Get([]byte(result), "content")) {
		text, _ := rawjson.String(rawjson.Get(block, "text"))
		return text
	}
	return ""
}
